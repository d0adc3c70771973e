"""The state of one evaluation: its variables and its remaining work."""

from collections.abc import Mapping
from math import inf
from typing import Any

from motorpool.actors.rules.expressions.errors import Absent, ExpressionError

MAX_TEXT_LENGTH = 10_000
"""Limit of a text that an expression creates, in characters."""
MAX_WORK = 100_000
"""Limit of the work of an evaluation, a tenth of a second at worst. Writing a character takes one unit."""
WORK_HERE = 1_500
"""Work of all expressions of a position that is done on the event loop: about a millisecond at worst."""
_CHARACTERS_READ = 16
"""Characters read for one unit of work."""
_CHARACTERS_OF_EXPRESSION = 6
"""Characters of an expression for one unit: three additions of digits."""


class TooMuchHere(Exception):
    """The expressions of a position take more work than may be done here; another thread has the time."""


def work_of(text: str) -> int:
    """Return the work that the evaluation of an expression with this text takes at least."""
    return 1 + len(text) // _CHARACTERS_OF_EXPRESSION


class EvaluationState:
    """One evaluation of an expression after the other."""

    __slots__ = ("beyond", "left", "variables")

    def __init__(self, variables: Mapping[str, Any], here: int | None = None) -> None:
        """`here` is the work that all expressions together may take, beyond which they raise TooMuchHere.

        None: each may take MAX_WORK.
        """
        self.variables = variables
        self.left = MAX_WORK if here is None or here > MAX_WORK else here
        """Work that may still be done."""
        self.beyond = inf if here is None else here - self.left
        """Work that may be done besides, by later expressions."""

    def begin(self, work: int) -> None:
        """Begin with an expression, which takes this work at least (`work_of`)."""
        if self.beyond:
            more = min(self.beyond, MAX_WORK - self.left)
            self.left += int(more)
            self.beyond -= more
        self.spend(work)

    def variable(self, name: str) -> object:
        """Return the value of a variable; raise Absent if it is undefined."""
        try:
            return self.variables[name]
        except KeyError:
            raise Absent(f"undefined variable {name}") from None

    def spend(self, work: int) -> None:
        """Count work that is about to be done; raise ExpressionError above the limit, or TooMuchHere."""
        self.left -= work
        if self.left < 0:
            self._refuse()

    def _refuse(self) -> None:
        if self.beyond == 0:
            raise TooMuchHere
        raise ExpressionError("the expression takes too much work")

    def read(self, *texts: str) -> None:
        """Count the work of searching these texts."""
        self.spend(1 + sum(map(len, texts)) // _CHARACTERS_READ)

    def will_write(self, length: int) -> None:
        """Count the work of creating a text of this length; raise ExpressionError if it is too long."""
        if length > MAX_TEXT_LENGTH:
            raise ExpressionError(f"a text grew longer than {MAX_TEXT_LENGTH} characters")
        self.spend(1 + length)

    def written(self, text: str) -> str:
        """Count the work of creating this text, and return it."""
        self.will_write(len(text))
        return text
