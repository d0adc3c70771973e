"""Compiles expressions, which are evaluated for each position."""

from collections.abc import Mapping
from functools import cache

from motorpool.actors.rules.expressions.builder import Builder
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState, work_of
from motorpool.actors.rules.expressions.grammar import Parser, make_parser
from motorpool.actors.rules.expressions.nodes import Node, Returned, Step

MAX_EXPRESSION_LENGTH = 4000
"""Limit of the text, in characters."""
TOO_DEEP = "the values are nested too deep"
"""Why an expression fails that raises RecursionError."""


class Expression:
    """A compiled expression; it has no state."""

    __slots__ = ("names", "step", "text", "work")

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.names = node.names
        """The variables that it may use; `a.b` may be one, or a member of `a`."""
        self.step = _with_return(node.step) if "return" in text else node.step
        """Evaluates it in a state that has counted `work`. May raise RecursionError: values that devices send
        may be nested at any depth."""
        self.work = work_of(text)
        """What it takes at least."""

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
        state.begin(self.work)
        try:
            return self.step(state)
        except RecursionError:
            raise ExpressionError(TOO_DEEP) from None


def _with_return(step: Step) -> Step:
    def returning(state: EvaluationState) -> object:
        try:
            return step(state)
        except Returned as returned:
            return returned.value

    return returning


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
