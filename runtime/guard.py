"""The boundary around an actor's code: failures stop here, cancellation passes."""

from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from motorpool.runtime.cell import Cell


class CrashGuard:
    """`with CrashGuard(cell, item):` around an actor's own code makes its exceptions a crash of the actor.

    Cancelled, KeyboardInterrupt and the like pass. Of a group with both, the failures become the crash and
    the rest passes.
    """

    __slots__ = ("_cell", "_item")

    def __init__(self, cell: "Cell[Any]", item: object = None) -> None:
        self._cell = cell
        self._item = item

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if isinstance(error, Exception):
            self._cell.crash(error, self._item)
            return True
        if isinstance(error, BaseExceptionGroup):
            failures, rest = error.split(Exception)
            if failures is not None and rest is not None:
                self._cell.crash(failures, self._item)
                raise rest
        return False
