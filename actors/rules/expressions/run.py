"""One evaluation under way: its variables, and what it may still cost."""

from collections.abc import Mapping

from motorpool.actors.rules.expressions.errors import Absent, ExpressionError

__all__ = ["LONGEST_TEXT", "WORK", "Run"]

LONGEST_TEXT = 10_000
"""Characters of a text that an expression makes."""
WORK = 100_000
"""Characters that an evaluation may write, or read sixteen times as many; a tenth of a second at worst."""
_READ_AT_ONCE = 16


class Run:
    """Made anew for each evaluation."""

    __slots__ = ("_left", "variables")

    def __init__(self, variables: Mapping[str, object]) -> None:
        self.variables = variables
        self._left = WORK

    def variable(self, name: str) -> object:
        """Return a variable's value, which may be null; Absent where there is no such variable."""
        try:
            return self.variables[name]
        except KeyError:
            raise Absent(f"undefined variable {name}") from None

    def spend(self, work: int) -> None:
        """Count work before it is done."""
        self._left -= work
        if self._left < 0:
            raise ExpressionError("the expression takes too much work")

    def read(self, *texts: str) -> None:
        """Count texts that are about to be searched."""
        self.spend(1 + sum(map(len, texts)) // _READ_AT_ONCE)

    def will_write(self, length: int) -> None:
        """Count a text of this length that is about to be made."""
        if length > LONGEST_TEXT:
            raise ExpressionError(f"a text grew longer than {LONGEST_TEXT} characters")
        self.spend(1 + length)

    def written(self, text: str) -> str:
        """Count a text that was made."""
        self.will_write(len(text))
        return text
