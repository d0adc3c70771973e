"""Compiles expressions, which are evaluated for each position."""

from collections.abc import Mapping
from functools import cache

from motorpool.actors.rules.expressions.builder import Builder
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState, work_of
from motorpool.actors.rules.expressions.grammar import Parser, make_parser
from motorpool.actors.rules.expressions.nodes import Node, Returned

MAX_EXPRESSION_LENGTH = 4000
"""Limit of the text, in characters."""


class Expression:
    """A compiled expression; it has no state."""

    __slots__ = ("_step", "_work", "names", "text")

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.names = node.names
        """The variables that it may use; `a.b` may be one, or a member of `a`."""
        self._step = node.step
        self._work = work_of(text)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def evaluate(self, variables: Mapping[str, object]) -> object:
        """Return the value: None, bool, int, float, str, datetime, list or dict.

        Raises:
            ExpressionError: the evaluation with these variables failed.
        """
        return self.evaluate_in(EvaluationState(variables))

    def evaluate_in(self, state: EvaluationState) -> object:
        """Like `evaluate`, in a state that evaluates several expressions.

        Raises:
            TooMuchHere: they take too much work together.
        """
        left = state.left - self._work
        if left < 0 or state.beyond:
            state.begin(self._work)
        else:
            # As nearly always in a position: all its expressions share what is left.
            state.left = left
        try:
            return self._step(state)
        except Returned as returned:
            return returned.value
        except RecursionError:
            # Values sent by devices may be nested at any depth.
            raise ExpressionError("the values are nested too deep") from None


def compile_expression(text: str) -> Expression:
    """Compile an expression.

    Raises:
        ExpressionError: the text is invalid; the message says why and where.
    """
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_EXPRESSION_LENGTH} characters")
    if not text.strip():
        raise ExpressionError("the expression is empty")
    try:
        return Expression(text, _parser()(text))
    except ExpressionError as error:
        if error.position is None:
            raise
        raise ExpressionError(f"{error.text} at {_place(text, error.position)}", error.position) from None


@cache
def _parser() -> Parser:
    builder = Builder()
    parser = make_parser(builder)
    builder.parse = parser
    return parser


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return f"line {line}, character {column}" if "\n" in text else f"character {column}"
