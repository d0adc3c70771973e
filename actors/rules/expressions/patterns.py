"""Regular expressions of users, applied to values of devices.

The engine is RE2, whose time is proportional to the text, while that of `re` may be exponential. Patterns are
limited in length and in the size of their program, and matching is counted as work. RE2 rejects look-around
and back-references.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Self

import re2  # type: ignore[import-untyped]  # the wheel carries no types

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.values import equal, text

MAX_PATTERN_LENGTH = 1000
"""Characters."""
_PROGRAM_BYTES = 1 << 16
_COMPILE_WORK = 1000
"""Work of compiling a pattern, which takes about a millisecond at worst."""
_INSTRUCTIONS = 40
"""Instructions of a program for one unit of work with each character; one of 1,500 takes up to 20 µs."""
_LITERAL = frozenset(" !\"#%&',-/:;<=>@_`~")
"""Characters that are literal in a pattern, besides letters and digits."""


Match = re.Match[str]
Pattern = re.Pattern[str]
"""Those of RE2 have the methods of those of `re`, and `programsize`."""

_OPTIONS = re2.Options()
_OPTIONS.max_mem = _PROGRAM_BYTES
_OPTIONS.log_errors = False


class CompiledPattern(NamedTuple):
    """A pattern that is ready to be matched."""

    pattern: Pattern
    character_work: int
    """Work of matching one character."""


class LiteralPattern(str):
    """A pattern that is written in the expression itself: it is compiled with that."""

    __slots__ = ("compiled",)
    compiled: CompiledPattern

    def __new__(cls, text: str) -> Self:
        """Compile the pattern; raise ExpressionError if it is invalid or too long."""
        found = super().__new__(cls, text)
        found.compiled = compile_pattern(text)
        return found


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> CompiledPattern:
    """Compile a pattern; raise ExpressionError if it is invalid or too long."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise ExpressionError(f"a pattern is longer than {MAX_PATTERN_LENGTH} characters")
    try:
        compiled = re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ExpressionError(f"the pattern cannot be used: {shown}") from None
    except UnicodeError:
        raise ExpressionError("the pattern cannot be used: half a character") from None
    return CompiledPattern(compiled, 1 + compiled.programsize // _INSTRUCTIONS)


def matches(state: EvaluationState, left: object, right: object) -> bool:
    """`=~`: whether the whole text matches the pattern, or the list or map contains the value."""
    if left is None or right is None:
        return left is right
    if isinstance(right, str):
        return matches_whole(state, text(left), right)
    if isinstance(right, list):
        state.spend(len(right))
        return any(equal(left, item) for item in right)
    if isinstance(right, dict):
        return isinstance(left, str | int | float) and left in right
    return equal(left, right)


def matches_whole(state: EvaluationState, subject: str, pattern: str) -> bool:
    """Whether the whole text matches the pattern."""
    compiled = _compiled(state, pattern)
    _spend(state, compiled, len(subject))
    try:
        return compiled.pattern.fullmatch(subject) is not None
    except UnicodeError:
        raise ExpressionError("a text holds half a character") from None


def split_pattern(state: EvaluationState, subject: str, pattern: str, limit: int) -> list[str]:
    """Split at each match, into at most `limit` parts if positive; 0 drops empty parts at the end."""
    parts: list[str] = []
    end = 0
    for start, after in _separators(state, subject, pattern):
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


def _separators(state: EvaluationState, subject: str, pattern: str) -> Iterator[tuple[int, int]]:
    if _is_literal(pattern):
        state.read(subject)
        state.spend(subject.count(pattern))
        start = subject.find(pattern)
        while start >= 0:
            yield start, start + len(pattern)
            start = subject.find(pattern, start + len(pattern))
        return
    for found in _matches(state, subject, pattern):
        yield found.start(), found.end()


def replace_pattern(
    state: EvaluationState, subject: str, pattern: str, replacement: str, *, once: bool
) -> str:
    r"""Replace all matches or the first; in the replacement `$1` is the first group and `\$` a dollar."""
    parts: list[str] = []
    end = length = 0
    for found in _matches(state, subject, pattern):
        part = subject[end : found.start()] + _expanded(state, found, replacement)
        length += len(part)
        state.will_write(length)
        parts.append(part)
        end = found.end()
        if once:
            break
    state.will_write(length + len(subject) - end)
    return "".join(parts) + subject[end:]


def _expanded(state: EvaluationState, found: Match, replacement: str) -> str:
    if "$" not in replacement and "\\" not in replacement:
        return replacement
    state.read(replacement)
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


def _matches(state: EvaluationState, subject: str, pattern: str) -> Iterator[Match]:
    compiled = _compiled(state, pattern)
    # Each search may read the rest of the text, so each counts it.
    _spend(state, compiled, len(subject))
    try:
        for found in compiled.pattern.finditer(subject):
            yield found
            _spend(state, compiled, len(subject) - found.end())
    except UnicodeError:
        raise ExpressionError("a text holds half a character") from None


def _compiled(state: EvaluationState, pattern: str) -> CompiledPattern:
    if isinstance(pattern, LiteralPattern):
        return pattern.compiled
    state.spend(_COMPILE_WORK)
    return compile_pattern(pattern)


def _spend(state: EvaluationState, compiled: CompiledPattern, characters: int) -> None:
    state.spend(1 + characters * compiled.character_work)


def _is_literal(pattern: str) -> bool:
    return bool(pattern) and all(sign.isalnum() or sign in _LITERAL for sign in pattern)
