"""The boundary around an actor's code: failures stop here, cancellation passes."""

from collections.abc import Callable
from types import TracebackType


class CrashGuard:
    """`with CrashGuard(cell.crash, item):` around an actor's code makes its exceptions a crash of the actor.

    Cancelled, KeyboardInterrupt and the like pass. Of a group with both, the failures become the crash and
    the rest passes.
    """

    __slots__ = ("_crash", "_item")

    def __init__(self, crash: Callable[[Exception, object], None], item: object = None) -> None:
        self._crash = crash
        self._item = item

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if isinstance(error, Exception):
            self._crash(error, self._item)
            return True
        if isinstance(error, BaseExceptionGroup):
            failures, rest = error.split(Exception)
            if failures is not None and rest is not None:
                self._crash(failures, self._item)
                raise rest
        return False
