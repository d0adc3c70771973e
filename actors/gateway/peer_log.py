"""Log lines that an unknown peer can cause: the first few of each address, then counts.

Whoever can connect to a port could otherwise fill the disk with lines about refused messages.
"""

import logging
from collections import OrderedDict
from dataclasses import dataclass

from motorpool.actors.messages.counters import LOG_LINES_SUPPRESSED
from motorpool.actors.work.connection_limits import client_network

WINDOW_SECONDS = 60.0
LINES_OF_CLIENT = 10
"""Lines about one client address within the window."""
LINES_IN_ALL = 200
MAX_CLIENTS = 1000
"""Addresses that are counted apart; further ones are counted together."""
OTHERS = "other addresses"

Log = logging.Logger | logging.LoggerAdapter[logging.Logger]


@dataclass(slots=True)
class _Window:
    began: float
    lines: int = 0
    suppressed: int = 0
    level: int = logging.DEBUG
    """The highest of what was suppressed."""


class PeerLog:
    """Limits lines, and writes how many were left out when the window of an address has passed.

    That line is written with the next one of any peer.
    """

    def __init__(self) -> None:
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._in_all = _Window(float("-inf"))

    def write(self, log: Log, level: int, now: float, peer: str, text: str, *values: object) -> None:
        """Log a line about a peer, unless there were too many; `now` is monotonic, in seconds."""
        self._end_windows(log, now)
        client = client_network(peer)
        if client not in self._windows and len(self._windows) >= MAX_CLIENTS:
            client = OTHERS
        window = self._windows.get(client)
        if window is None:
            window = self._windows[client] = _Window(now)
        if window.lines < LINES_OF_CLIENT and self._in_all.lines < LINES_IN_ALL:
            window.lines += 1
            self._in_all.lines += 1
            log.log(level, text, *values)
        else:
            window.suppressed += 1
            window.level = max(window.level, level)
            LOG_LINES_SUPPRESSED.value += 1

    def _end_windows(self, log: Log, now: float) -> None:
        if now - self._in_all.began >= WINDOW_SECONDS:
            self._in_all = _Window(now)
        while self._windows:
            client, window = next(iter(self._windows.items()))
            if now - window.began < WINDOW_SECONDS:
                return
            del self._windows[client]
            if window.suppressed and self._in_all.lines < LINES_IN_ALL:
                self._in_all.lines += 1
                log.log(window.level, "left out %d more log lines about %s", window.suppressed, client)
