"""Attributes of commands, checked as several protocols need them."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.numbers import whole_number


def integer(
    attributes: Mapping[str, Any],
    name: str,
    default: int | None,
    low: int,
    high: int,
    what: str = "whole number",
) -> int:
    """Return an attribute that is a whole number from `low` to `high`, perhaps written as text.

    Raises:
        UnsupportedCommand: it is not; the message calls it a `what`. Without a default it is required.
    """
    value = whole_number(attributes.get(name, default))
    if value is None or not low <= value <= high:
        raise UnsupportedCommand(f"{name} must be a {what} from {low} to {high}")
    return value


def printable(attributes: Mapping[str, Any], name: str, most: int | None = None) -> str:
    """Return an attribute that is a printable ASCII text, of at most so many characters.

    Raises:
        UnsupportedCommand: it is not, or it is empty.
    """
    text = attributes.get(name)
    if (
        isinstance(text, str)
        and 0 < len(text) <= (most or len(text))
        and text.isascii()
        and text.isprintable()
    ):
        return text
    if most is None:
        raise UnsupportedCommand(f"{name} must be printable ASCII text")
    raise UnsupportedCommand(f"{name} must be a printable ASCII text of 1 to {most} characters")
