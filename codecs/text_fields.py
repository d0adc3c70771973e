"""The fields of a text, taken one after the other."""

from collections.abc import Sequence

from motorpool.codecs.errors import Truncated


class TextFields:
    """Fields, of which one is the next."""

    __slots__ = ("at", "values")

    def __init__(self, values: Sequence[str], at: int = 0) -> None:
        self.values = values
        self.at = at
        """Place of the next."""

    @property
    def remaining(self) -> int:
        """Number of fields not yet taken."""
        return max(0, len(self.values) - self.at)

    def take(self) -> str:
        """Return the next field.

        Raises:
            Truncated: there is none.
        """
        at = self.at
        if at >= len(self.values):
            raise Truncated(f"{len(self.values)} fields are too few")
        self.at = at + 1
        return self.values[at]

    def peek(self, ahead: int = 0) -> str:
        """Return a field without taking it; empty beyond the end."""
        at = self.at + ahead
        return self.values[at] if at < len(self.values) else ""

    def skip(self, count: int = 1) -> None:
        """Leave out the next fields."""
        self.at += count

    def rest(self) -> list[str]:
        """Return all remaining fields and take them."""
        values = list(self.values[self.at :])
        self.at = len(self.values)
        return values
