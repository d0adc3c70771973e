"""The nodes of a compiled expression: each is a function of a `EvaluationState`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from motorpool.actors.rules.expressions.errors import Absent, ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.values import truth

MAX_DEPTH = 100
"""Limit of nesting, because each level takes a few frames of Python's stack."""

Step = Callable[[EvaluationState], object]


@dataclass(frozen=True, slots=True)
class Node:
    """A compiled part of an expression."""

    step: Step
    depth: int = 0
    """Levels of nodes below it."""
    name: str = ""
    """Name of a variable, or a path `a.b` that may be one; else empty."""
    literal: str | None = None
    """The value if it is a string literal."""
    is_constant: bool = False
    """Whether `step` always gives the same value and never fails."""
    is_boolean: bool = False
    """Whether all its values are booleans."""
    is_variable: bool = False
    """Whether it is the variable `name`, and nothing else."""
    names: frozenset[str] = frozenset()
    """Every `name` in it."""


class Returned(Exception):
    """Raised by `return`, with its value."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


def new_node(step: Step, *parts: Node, name: str = "", is_boolean: bool = False) -> Node:
    """Return a node with these parts; raise ExpressionError if it is nested too deep."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise ExpressionError(f"the expression is nested deeper than {MAX_DEPTH} levels")
    own = {name} if name else set()
    names = frozenset(own.union(*(part.names for part in parts)))
    return Node(step, depth, name, is_boolean=is_boolean, names=names)


def constant(value: object) -> Node:
    """Return a node with a constant value."""
    return Node(lambda _: value, literal=value if isinstance(value, str) else None, is_constant=True)


def or_null(node: Node) -> Step:
    """Return a step that gives null instead of raising Absent."""
    if node.is_variable:
        name = node.name
        return lambda state: state.variables.get(name)
    step = node.step

    def lenient(state: EvaluationState) -> object:
        try:
            return step(state)
        except Absent:
            return None

    return lenient


def sequence(parts: Sequence[Node]) -> Node:
    """Return a node that evaluates the parts in order; its value is that of the last."""
    *before, last = parts
    if not before:
        return last

    def step(state: EvaluationState) -> object:
        for part in before:
            part.step(state)
        return last.step(state)

    return new_node(step, *parts)


def condition(node: Node) -> Callable[[EvaluationState], object]:
    """Return a function that evaluates a condition as a boolean; an undefined variable is false."""
    if node.is_boolean:
        return node.step
    given = or_null(node) if node.name else node.step

    def step(state: EvaluationState) -> bool:
        value = given(state)
        return value is True or (value is not False and truth(value))

    return step
