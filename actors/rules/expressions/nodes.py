"""What expressions are made of: each part is a function of the evaluation under way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from motorpool.actors.rules.expressions.errors import Absent, ExpressionError
from motorpool.actors.rules.expressions.run import Run
from motorpool.actors.rules.expressions.values import truth

__all__ = ["DEEPEST", "Node", "Returned", "Step", "constant", "made", "or_null"]

DEEPEST = 100
"""Parts within parts: each takes at most some calls of Python's stack."""

Step = Callable[[Run], object]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression."""

    step: Step
    depth: int = 0
    name: str = ""
    """Of a variable, or of a path `a.b` that may be the name of one."""
    literal: str | None = None
    """Where it is a text in quotes."""


class Returned(Exception):
    """`return` was met."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


def made(step: Step, *parts: Node, name: str = "") -> Node:
    """Return a part made of others."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > DEEPEST:
        raise ExpressionError(f"the expression is nested deeper than {DEEPEST} levels")
    return Node(step, depth, name)


def constant(value: object) -> Node:
    """Return a part that is always the same."""
    return Node(lambda _: value, literal=value if isinstance(value, str) else None)


def or_null(step: Step) -> Step:
    """Take what is not there for null."""

    def lenient(run: Run) -> object:
        try:
            return step(run)
        except Absent:
            return None

    return lenient


def sequence(parts: Sequence[Node]) -> Node:
    """One after another; the last one's value counts."""
    *before, last = parts
    if not before:
        return last

    def step(run: Run) -> object:
        for part in before:
            part.step(run)
        return last.step(run)

    return made(step, *parts)


def condition(node: Node) -> Callable[[Run], bool]:
    """A condition; a plain variable that is not there is not true."""
    step = or_null(node.step) if node.name else node.step
    return lambda run: truth(step(run))
