"""The commands that pages show, to be run by tests."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
_PARTS = re.compile(
    r"^(?:#{2,} (?P<heading>[^\n]+)|```(?P<language>\w+)\n(?P<text>.*?)```)$", re.MULTILINE | re.DOTALL
)
_CONTINUED = re.compile(r"\\\n\s*")


class Block(NamedTuple):
    """A block of code of a page."""

    heading: str
    """The last one above it."""
    language: str
    text: str


def read_blocks(path: Path, language: str) -> list[Block]:
    """Return the blocks in this language, in their order."""
    heading, found = "", []
    for part in _PARTS.finditer(path.read_text(encoding="utf-8")):
        if part["heading"] is not None:
            heading = part["heading"]
        elif part["language"] == language:
            found.append(Block(heading, language, part["text"]))
    return found


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a shell script that has no more than lists and pipes of them.

    Comments and here-documents are left out; what defines a function is yielded too.
    """
    text = re.sub(r"<<'(\w+)'\n.*?^\1$", "", _CONTINUED.sub(" ", script), flags=re.MULTILINE | re.DOTALL)
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;"):
                if words:
                    yield words
                words = []
            else:
                words.append(word)


def strip_sudo(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a command is given, and the words of the program that it runs in the end."""
    variables, left = {}, list(words)
    while left and (left[0] == "sudo" or re.match(r"\w+=", left[0])):
        word = left.pop(0)
        if word == "sudo":
            left = left[2:] if left[:1] == ["-u"] else left
        else:
            name, _, value = word.partition("=")
            variables[name] = value
    return variables, left
