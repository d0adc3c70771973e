"""The order in which timers fall due. Knows no clock: times are numbers that its owner gives it."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import Final

SPARE: Final = 64
"""Dead entries that are tolerated before the heap is swept, however few live ones there are."""


class Timer:
    """Something that will be done, once or again and again. Made by `Timers`."""

    __slots__ = ("_entry_number", "_heap", "due", "interval")

    def __init__(self, interval: float | None = None) -> None:
        self.interval = interval
        """Seconds between calls; None: only once."""
        self.due = inf
        """When it fires, on its heap's clock; infinite while it is not set."""
        self._heap: TimerHeap | None = None
        self._entry_number = 0  # the entry of the heap that is valid for this timer

    def __repr__(self) -> str:
        return f"<Timer due {self.due:g}>"

    def fire(self) -> None:
        """Do it."""
        raise NotImplementedError

    @property
    def armed(self) -> bool:
        """Whether it will still fire."""
        return self._heap is not None

    def cancel(self) -> None:
        """Never fire again. Harmless when it has fired or is cancelled already."""
        if self._heap is not None:
            self._heap.drop(self)


class CallbackTimer(Timer):
    """A timer that calls a function."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], object], interval: float | None = None) -> None:
        super().__init__(interval)
        self._callback: Final = callback

    def __repr__(self) -> str:
        return f"<Timer of {self._callback!r} due {self.due:g}>"

    def fire(self) -> None:
        """Call the function."""
        self._callback()


class TimerHeap:
    """Timers by due time, equal ones in the order they were set.

    Cancelled timers and timers put off leave a dead entry behind. A timer put off is found when its old
    entry comes up, and is filed again; dead entries, which keep their callbacks
    alive, are swept once they are a quarter.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Timer]] = []
        self._stale = 0
        self._entry_number = 0

    def __bool__(self) -> bool:
        return len(self._entries) > self._stale

    def __len__(self) -> int:
        """Entries, dead ones included: what the heap weighs."""
        return len(self._entries)

    @property
    def next_due(self) -> float:
        """No timer falls due before this; infinite when there is none."""
        return self._entries[0][0] if self._entries else inf

    def push(self, timer: Timer, due: float) -> None:
        """Set `timer` to fall due at `due`, wherever it stood."""
        if timer._heap is self and due >= timer.due:
            timer.due = due  # its entry comes up earlier and is filed again then
            return
        if timer._heap is not None:
            timer._heap.drop(timer)
        timer._heap = self
        timer.due = due
        self._push_entry(timer)

    def drop(self, timer: Timer) -> None:
        """Take `timer` out."""
        timer._heap = None
        timer.due = inf
        timer._entry_number = 0
        self._stale += 1
        if self._stale > SPARE and self._stale * 4 > len(self._entries):
            self._entries = [entry for entry in self._entries if entry[2]._entry_number == entry[1]]
            heapify(self._entries)
            self._stale = 0

    def pop_due(self, now: float) -> Timer | None:
        """The first timer due at `now`, taken out; None when there is none."""
        entries = self._entries
        while entries and entries[0][0] <= now:
            due, ticket, timer = heappop(entries)
            if timer._entry_number != ticket:
                self._stale -= 1
            elif timer.due > due:
                self._push_entry(timer)
            else:
                timer._heap = None
                timer._entry_number = 0
                return timer
        return None

    def _push_entry(self, timer: Timer) -> None:
        self._entry_number += 1
        timer._entry_number = self._entry_number
        heappush(self._entries, (timer.due, self._entry_number, timer))
