"""Clients of both servers that note what they asked for, what they were answered, and when."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import msgspec
import trio

from motorpool.bench.checks.server_history import FRESH_SECONDS, Change, Read, Result
from motorpool.bench.cluster.frequent_schedules import text_command
from motorpool.bench.cluster.pair import NAMES, Pair
from motorpool.bench.options import BenchError

COMMAND_SECONDS = 0.2
RIGHTS_SECONDS = 0.5
AFTER_TROUBLE_SECONDS = 5.0
"""How long after a freeze or cut a server may still answer from what it knew before."""
READER = "reader@example.org"


class Troubles:
    """Which servers are frozen, cut from the database or have just been, in this moment and before."""

    def __init__(self) -> None:
        self._present = [0, 0]
        self._until = [0.0, 0.0]

    @contextmanager
    def during(self, *places: int) -> Iterator[None]:
        """Record that servers are in trouble during the body."""
        for place in places:
            self._present[place] += 1
        try:
            yield
        finally:
            for place in places:
                self._present[place] -= 1
                self._until[place] = time.time() + AFTER_TROUBLE_SECONDS

    def is_clear(self, place: int) -> bool:
        """Return whether the server has all it needs."""
        return not self._present[place] and time.time() > self._until[place]


class Requested(msgspec.Struct, frozen=True):
    """A command that was requested at a server."""

    text: str
    """Its own, by which the terminal's receipt is found."""
    place: int
    """Of the server."""
    invoked: float
    """Seconds since 1970."""
    result: Result


class CommandProbe:
    """Sends texts to devices in turn, by either server."""

    def __init__(self, pair: Pair, devices: Sequence[int]) -> None:
        self._pair = pair
        self._devices = devices
        self._chance = random.Random(2)
        self.requested: list[Requested] = []

    async def run(self) -> None:
        """Send until cancelled; each request has a task of its own, as some wait for a frozen server."""
        async with (
            self._pair.client(0) as first,
            self._pair.client(1) as second,
            trio.open_nursery() as nursery,
        ):
            number = 0
            while True:
                place = self._chance.randrange(2)
                number += 1
                nursery.start_soon(self._send, (first, second)[place], place, f"c{number}")
                await trio.sleep(COMMAND_SECONDS)

    async def _send(self, client: httpx.AsyncClient, place: int, text: str) -> None:
        invoked = time.time()
        body = {"deviceId": self._chance.choice(self._devices), **text_command(text)}
        self.requested.append(
            Requested(text, place, invoked, await _result(client, "POST", "/commands/send", body))
        )


class RightsProbe:
    """Gives a user a device and takes it away, by either server, and reads at both what the user sees."""

    def __init__(self, pair: Pair, devices: Sequence[int], troubles: Troubles) -> None:
        self._pair = pair
        self._devices = list(devices)
        self._troubles = troubles
        self._chance = random.Random(3)
        self._reader = 0
        self.changes: list[Change] = []
        self.reads: list[Read] = []

    async def prepare(self) -> None:
        """Create the user. Raises BenchError if the server refuses."""
        async with self._pair.client(0) as client:
            person = {"name": "Reader", "email": READER, "password": self._pair.password}
            answer = await client.post("/users", json=person)
            if answer.status_code != 200:
                raise BenchError(f"POST /users answered {answer.status_code}: {answer.text[:200]}")
            self._reader = answer.json()["id"]

    async def run(self) -> None:
        """Change and read until cancelled."""
        auth = READER, self._pair.password
        async with (
            self._pair.client(0) as first,
            self._pair.client(1) as second,
            self._pair.client(0, auth) as first_reader,
            self._pair.client(1, auth) as second_reader,
        ):
            given: set[int] = set()
            while self._devices:
                device = self._devices[0]
                # Some are left as they are, so that a server that starts has something to read.
                if device in given or len(given) < 5:
                    given ^= {device}
                self._devices.append(self._devices.pop(0))
                changer = (first, second)[self._chance.randrange(2)]
                is_known = await self._change(changer, device, given=device in given)
                if not is_known:
                    # Nobody knows when it will be carried out, if at all.
                    self._devices.remove(device)
                    continue
                await trio.sleep(FRESH_SECONDS)
                async with trio.open_nursery() as nursery:
                    for place, client in enumerate((first_reader, second_reader)):
                        nursery.start_soon(self._read, client, place)
                await trio.sleep(RIGHTS_SECONDS)

    async def _change(self, client: httpx.AsyncClient, device: int, *, given: bool) -> bool:
        """Make a change; return whether it is known to be made, or known not to be."""
        invoked = time.time()
        link: dict[str, object] = {"userId": self._reader, "deviceId": device}
        result = await _result(client, "POST" if given else "DELETE", "/permissions", link)
        value = "given" if given else "taken"
        self.changes.append(Change(f"device {device}", value, invoked, time.time(), result))
        return result == "ok"

    async def _read(self, client: httpx.AsyncClient, place: int) -> None:
        """Read what the user sees, unless the server is in trouble before or after."""
        invoked, was_clear = time.time(), self._troubles.is_clear(place)
        try:
            answer = await client.get("/devices")
        except httpx.HTTPError:
            return
        if answer.status_code != 200 or not (was_clear and self._troubles.is_clear(place)):
            return
        seen = {device["id"] for device in answer.json()}
        answered = time.time()
        for device in {change.key for change in self.changes}:
            value = "given" if int(device.removeprefix("device ")) in seen else "taken"
            self.reads.append(Read(device, value, invoked, answered, NAMES[place]))


async def _result(client: httpx.AsyncClient, method: str, path: str, body: dict[str, object]) -> Result:
    try:
        answer = await client.request(method, path, json=body)
    except httpx.ConnectError:
        return "fail"
    except httpx.HTTPError:
        return "unknown"
    if answer.status_code < 300:
        return "ok"
    return "fail" if answer.status_code < 500 else "unknown"
