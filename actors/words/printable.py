"""Text from outside: as one line, for mails and log lines, and as a name."""

import re

_CONTROLS = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
_BIDIRECTIONAL = "\\u202a-\\u202e\\u2066-\\u2069"
"""What turns the direction of the text that follows: a name looks like another one. Marks, and joiners of
letters and emoji, do not."""
_NOT_IN_TEXTS = re.compile(f"[{_CONTROLS}{_BIDIRECTIONAL}]")
_NOT_IN_LINES = re.compile(f"[{_CONTROLS}{_BIDIRECTIONAL}\\t\\r\\n\\u2028\\u2029]")


def printable_line(text: str) -> str:
    """Return the text in one line of printable characters; each run of others becomes a space."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def unfit(text: str, *, one_line: bool) -> str:
    """Return the first character that a text that people enter must not hold; empty: there is none.

    These are control characters and those that turn the direction of text. Tabs and line breaks are refused
    in `one_line` alone.
    """
    found = (_NOT_IN_LINES if one_line else _NOT_IN_TEXTS).search(text)
    return "" if found is None else found[0]
