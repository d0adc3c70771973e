"""Values in a row, the oldest of which are dropped as new ones come; successive windows share one list."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, TypeVar, overload

T = TypeVar("T")

_new: Final = object.__new__
"""At hand: `Window.__new__` is looked up in all bases."""
_MOST_DROPPED: Final = 32
"""Most values that a list keeps in front of the window before it is copied."""


class Window(Sequence[T], Generic[T]):
    """An immutable sequence that is continued without copying it.

    It is `points[first:end]` of a list to which others append; who reads many values at once does so there.
    """

    __slots__ = ("end", "first", "points")

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.points: list[T] = list(values)
        """The shared list; what is in it never changes its place."""
        self.first = 0
        self.end = len(self.points)

    def continued(self, value: T, first: int, end: int) -> "Window[T]":
        """Return a window with `points[first:end]`, which are values of this one, and `value`."""
        points = self.points
        if end < len(points) or first > _MOST_DROPPED:
            # Another window has gone on from here, or the list has become long.
            points = points[first:end]
            first, end = 0, end - first
        points.append(value)
        window: Window[T] = _new(Window)
        window.points, window.first, window.end = points, first, end + 1
        return window

    def __len__(self) -> int:
        return self.end - self.first

    def __iter__(self) -> Iterator[T]:
        return iter(self.points[self.first : self.end])

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, int):
            return self.points[range(self.first, self.end)[place]]
        return tuple(self.points[self.first : self.end])[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Window) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Window({list(self)!r})"
