"""Timers that send a message to an actor, and end with its current life."""

from typing import TYPE_CHECKING, Any

from motorpool.runtime.message_handling import handle_now
from motorpool.runtime.timer_heap import Timer

if TYPE_CHECKING:
    from motorpool.runtime.cell import Cell


class MessageTimer(Timer):
    """Tells the actor in `cell` a message, through its mailbox."""

    __slots__ = ("_cell", "_message")

    def __init__(self, cell: "Cell[Any]", message: object, interval: float | None) -> None:
        super().__init__(self._tell, interval)
        self._cell = cell
        self._message = message

    def cancel(self) -> None:
        """Never fire again."""
        super().cancel()
        self._remove()

    def _tell(self) -> None:
        cell = self._cell
        once = self.interval is None
        cell.handled_at_check += 1  # messages of its own timers do not keep it from being idle
        if once:
            self._remove()
        if cell.idle:
            handle_now(cell, self._message)
            return
        if once and not cell.mailbox.sealed:
            # Lost, it could stop the actor for good; there is never more than one for each timer it set.
            cell.mailbox.put_unbounded(self._message)
        elif not cell.mailbox.put(self._message):
            return
        if cell.parked is not None:
            cell.wake()

    def _remove(self) -> None:
        if self._cell.life_scope is not None:
            self._cell.life_scope.remove_timer(self)
