"""How the HTTP server lets go of its clients when other servers of the machine go on."""

from collections.abc import Callable

import trio


class Departure:
    """Asked for by the program, followed by the HTTP server."""

    def __init__(self) -> None:
        self.begun = trio.Event()
        """Set to accept no more connections; those that are open are closed with the next answer."""
        self.closing = trio.Event()
        """Set to end requests without an end of their own, such as WebSockets, as well."""
        self.in_progress: Callable[[], int] = lambda: 0
        """Returns how many connections of clients have a request that is not answered yet."""
