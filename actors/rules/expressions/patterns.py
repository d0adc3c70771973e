"""Regular expressions from people and devices.

Python's own engine may take years for thirty characters. RE2 takes a time that is proportional to the text,
for patterns that are bounded in length and in the size of their program; what it takes is counted as work.
It has no look-around and no references back into the pattern, and says so.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

import re2  # type: ignore[import-untyped]  # the wheel carries no types; `Pattern` states what is used

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.run import Run
from motorpool.actors.rules.expressions.values import equal, text

__all__ = ["Pattern", "compile_pattern", "matches", "matches_whole", "replace_pattern", "split_pattern"]

LONGEST_PATTERN = 1000
_PROGRAM_BYTES = 1 << 16
_COMPILING = 1000
"""Work: about a millisecond at worst."""
_EACH_CHARACTER = 40
"""Work: a program of the largest size takes up to 20 µs a character."""
_PLAIN = frozenset(" !\"#%&',-/:;<=>@_`~")
"""Signs that stand for themselves in a pattern, beside letters and digits."""


class Match(Protocol):
    """What was found."""

    def start(self) -> int:
        """Where it begins."""

    def end(self) -> int:
        """Where it ends."""

    def group(self, number: int, /) -> str | None:
        """What a group found; IndexError where there is no such group."""


class Pattern(Protocol):
    """A compiled pattern."""

    groups: int

    def fullmatch(self, text: str, /) -> Match | None:
        """Match the whole text."""

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Find one after another."""


_OPTIONS = re2.Options()
_OPTIONS.max_mem = _PROGRAM_BYTES
_OPTIONS.log_errors = False


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern of bounded length."""
    if len(pattern) > LONGEST_PATTERN:
        raise ExpressionError(f"a pattern is longer than {LONGEST_PATTERN} characters")
    try:
        compiled: Pattern = re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ExpressionError(f"the pattern cannot be used: {shown}") from None
    except UnicodeError:
        raise ExpressionError("the pattern cannot be used: half a character") from None
    return compiled


def matches(run: Run, left: object, right: object) -> bool:
    """`=~`: the whole text matches the pattern; or the list or map holds the value."""
    if left is None or right is None:
        return left is right
    if isinstance(right, str):
        return matches_whole(run, text(left), right)
    if isinstance(right, list):
        run.spend(len(right))
        return any(equal(left, item) for item in right)
    if isinstance(right, dict):
        return isinstance(left, str | int | float) and left in right
    return equal(left, right)


def matches_whole(run: Run, subject: str, pattern: str) -> bool:
    """Whether the whole text matches."""
    compiled = _compiled(run, pattern)
    _count(run, len(subject))
    try:
        return compiled.fullmatch(subject) is not None
    except UnicodeError:
        raise ExpressionError("a text holds half a character") from None


def split_pattern(run: Run, subject: str, pattern: str, limit: int) -> list[str]:
    """Split at what matches, into at most `limit` parts where above 0; 0 drops empty ones at the end."""
    parts: list[str] = []
    end = 0
    for start, after in _separators(run, subject, pattern):
        if 0 < limit <= len(parts) + 1:
            break
        if after > 0:
            parts.append(subject[end:start])
            end = after
    if end == 0:
        return [subject]
    parts.append(subject[end:])
    if limit == 0:
        while parts and not parts[-1]:
            parts.pop()
    return parts


def _separators(run: Run, subject: str, pattern: str) -> Iterator[tuple[int, int]]:
    if _is_plain(pattern):
        run.read(subject)
        run.spend(subject.count(pattern))
        start = subject.find(pattern)
        while start >= 0:
            yield start, start + len(pattern)
            start = subject.find(pattern, start + len(pattern))
        return
    for found in _found(run, subject, pattern):
        yield found.start(), found.end()


def replace_pattern(run: Run, subject: str, pattern: str, replacement: str, *, once: bool) -> str:
    r"""Replace what matches, all or the first; `$1` in the replacement is the first group, `\$` a dollar."""
    parts: list[str] = []
    end = length = 0
    for found in _found(run, subject, pattern):
        part = subject[end : found.start()] + _filled(run, found, replacement)
        length += len(part)
        run.will_write(length)
        parts.append(part)
        end = found.end()
        if once:
            break
    run.will_write(length + len(subject) - end)
    return "".join(parts) + subject[end:]


def _filled(run: Run, found: Match, replacement: str) -> str:
    if "$" not in replacement and "\\" not in replacement:
        return replacement
    run.read(replacement)
    parts: list[str] = []
    signs = iter(replacement)
    for sign in signs:
        if sign == "\\":
            parts.append(next(signs, ""))
        elif sign == "$":
            digit = next(signs, "")
            if not digit.isascii() or not digit.isdigit():
                raise ExpressionError("a replacement has a $ without the number of a group")
            try:
                parts.append(found.group(int(digit)) or "")
            except IndexError:
                raise ExpressionError(f"the pattern has no group {digit}") from None
        else:
            parts.append(sign)
    return "".join(parts)


def _found(run: Run, subject: str, pattern: str) -> Iterator[Match]:
    compiled = _compiled(run, pattern)
    # Each search may read to the end before it fails, so each counts what is left.
    _count(run, len(subject))
    try:
        for found in compiled.finditer(subject):
            yield found
            _count(run, len(subject) - found.end())
    except UnicodeError:
        raise ExpressionError("a text holds half a character") from None


def _compiled(run: Run, pattern: str) -> Pattern:
    run.spend(_COMPILING)
    return compile_pattern(pattern)


def _count(run: Run, characters: int) -> None:
    run.spend(1 + characters * _EACH_CHARACTER)


def _is_plain(pattern: str) -> bool:
    return bool(pattern) and all(sign.isalnum() or sign in _PLAIN for sign in pattern)
