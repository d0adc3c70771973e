"""Which reported span is which true one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

NOTHING = timedelta()


class Span(Protocol):
    """Anything with a beginning and an end."""

    @property
    def start(self) -> datetime:
        """Its beginning."""

    @property
    def end(self) -> datetime:
        """Its end."""


def length(span: Span) -> timedelta:
    """Return how long a span is."""
    return span.end - span.start


def overlap(one: Span, other: Span) -> timedelta:
    """Return the time that two spans have in common; negative: the time between them."""
    return min(one.end, other.end) - max(one.start, other.start)


def matches(true: Sequence[Span], told: Sequence[Span]) -> dict[int, int]:
    """Return the index of the reported span by the index of the true one: each at most once.

    Of all pairs that overlap those with the longest overlap come first, and of equal ones the earlier.
    """
    pairs = sorted(
        (-shared, at, by)
        for at, one in enumerate(true)
        for by, other in enumerate(told)
        if (shared := overlap(one, other)) > NOTHING
    )
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for _, at, by in pairs:
        if at not in matched and by not in taken:
            matched[at] = by
            taken.add(by)
    return matched
