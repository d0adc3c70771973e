"""Which other server a device is connected to, remembered for a moment."""

import math
from collections.abc import Callable

import trio

from motorpool.runtime import Whereabouts
from motorpool.storage.cluster import homes
from motorpool.storage.cluster.homes import Home
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

REMEMBER_SECONDS = 1.0
"""How long a known home is used; then the homes of all devices in use are read with one statement."""

MAX_REMEMBERED = 100_000
"""Devices whose last homes are kept for a time without the database."""


class HomeFinder:
    """Finds homes of devices. Without the database it goes on with what it knows."""

    def __init__(self, database: Database, node: int, monotonic: Callable[[], float]) -> None:
        """`node` is the number of this server."""
        self._database = database
        self.node = node
        self._monotonic = monotonic
        self._known: dict[int, Home | None] = {}
        self._last: dict[int, Home] = {}
        """Those that were at other servers when they were last looked up: all that is known without the
        database. What was known a second ago is not enough: a player asks less often, and would be shown what
        this server has left of a stream that has moved."""
        self._expires = -math.inf
        self._used: set[int] = set()
        """Devices that were asked for since all were read last."""
        self._reading: trio.Event | None = None

    async def find(self, device_id: int) -> Home | None:
        """Return the home of a device if it is another server that lives and has an address.

        None: this server answers for the device.
        """
        home = await self._find(device_id)
        return home if home is not None and home.address else None

    def known(self, device_id: int) -> Whereabouts | None:
        """Return where the device's actor lives, if that is known now (runtime/far.py)."""
        if self._monotonic() >= self._expires or device_id not in self._known:
            return None
        self._used.add(device_id)
        return self._whereabouts(self._known[device_id])

    async def locate(self, device_id: int) -> Whereabouts:
        """Find out where the device's actor lives, with or without an address."""
        return self._whereabouts(await self._find(device_id))

    def _whereabouts(self, home: Home | None) -> Whereabouts:
        return Whereabouts(self.node) if home is None else Whereabouts(home.node, home.epoch, home.responds)

    async def _find(self, device_id: int) -> Home | None:
        self._used.add(device_id)
        while self._monotonic() >= self._expires or device_id not in self._known:
            if self._reading is None:
                self._used.add(device_id)
                await self._read()
            else:
                await self._reading.wait()
        return self._known[device_id]

    async def find_server(self, node: int) -> Home | None:
        """Return the server of this number, if it lives and has an address. Raises StorageError."""
        return await homes.server(self._database, node)

    def forget(self, device_id: int) -> None:
        """Read the home of this device again: it has connected to another server."""
        self._known.pop(device_id, None)
        self._last.pop(device_id, None)

    def forget_all(self) -> None:
        """Read all homes again."""
        self._expires = -math.inf

    async def _read(self) -> None:
        """Read the homes of the devices in use, or of those that are not known yet."""
        self._reading = trio.Event()
        outdated = self._monotonic() >= self._expires
        wanted = frozenset(self._used if outdated else self._used - self._known.keys())
        try:
            found = await homes.find_elsewhere(self._database, self.node, wanted)
        except StorageError:
            found = self._last
        finally:
            # Whoever waits reads if this one was cancelled.
            self._reading.set()
            self._reading = None
        if outdated:
            self._known = {}
            self._used -= wanted
            self._expires = self._monotonic() + REMEMBER_SECONDS
        for number in wanted:
            self._remember(number, found.get(number))

    def _remember(self, device_id: int, home: Home | None) -> None:
        self._known[device_id] = home
        self._last.pop(device_id, None)
        if home is not None:
            self._last[device_id] = home
            if len(self._last) > MAX_REMEMBERED:
                # The one that was looked up the longest ago.
                del self._last[next(iter(self._last))]
