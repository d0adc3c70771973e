"""Pacing of connections that become ready at the same moment.

Trio runs every task that is ready before it waits for input again. A thousand connections whose clients leave
together, or whose deadlines pass, would stop everything else for a second; here they take turns.
"""

from time import perf_counter

import trio

SLICE_SECONDS = 0.02
"""Work of all connections in one turn of the event loop, about."""
PAUSE_SECONDS = 0.005
"""Work that begins after a pause this long starts a new slice."""


class TimeSlices:
    """Lets connections work for a slice of time, then other tasks run."""

    def __init__(self) -> None:
        self._began = 0.0
        self._worked_at = 0.0
        self._turn = 0

    async def begin(self) -> None:
        """Wait until there is time in the present slice; does not wait, and is no checkpoint, if there is."""
        now = perf_counter()
        if now - self._worked_at > PAUSE_SECONDS:
            self._began = now
            return
        while now - self._began > SLICE_SECONDS:
            turn = self._turn
            await trio.lowlevel.checkpoint()
            now = perf_counter()
            if turn == self._turn:  # the first to go on in this turn of the loop
                self._turn += 1
                self._began = now

    def end(self) -> None:
        """Note the end of a piece of work."""
        self._worked_at = perf_counter()
