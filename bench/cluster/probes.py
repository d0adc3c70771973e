"""Clients of all servers that note what they asked for, what they were answered, and when."""

import random
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import msgspec
import trio

from motorpool.bench.checks.server_history import FRESH_SECONDS, Change, Read, Result, Unanswered
from motorpool.bench.cluster.cluster import Cluster
from motorpool.bench.cluster.frequent_schedules import text_command
from motorpool.bench.load.sockets import arrivals
from motorpool.bench.load.watching_socket import WatchingSocket
from motorpool.bench.options import BenchError

COMMAND_SECONDS = 0.2
QUEUED = 202
RIGHTS_SECONDS = 0.5
SOCKET_SECONDS = 2.0
"""Between two looks at WebSockets: one that has ended is opened again."""
AFTER_TROUBLE_SECONDS = 5.0
"""How long after a freeze or cut a server may still answer from what it knew before."""
READER = "reader@example.org"


class Troubles:
    """Which servers are frozen, cut from the database or have just been, in this moment and before."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._present = [0] * len(names)
        self._until = [0.0] * len(names)
        self.unanswered: list[Unanswered] = []
        """Requests to servers that had all they need."""

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

    def note_error(self, place: int, what: str, error: httpx.HTTPError, *, was_clear: bool) -> None:
        """Note a request whose connection was refused or ended without an answer; a late answer is none."""
        if was_clear and self.is_clear(place) and not isinstance(error, httpx.TimeoutException):
            self.unanswered.append(Unanswered(what, self._names[place], type(error).__name__, time.time()))


class Requested(msgspec.Struct, frozen=True):
    """A command that was requested at a server."""

    text: str
    """Its own, by which the terminal's receipt is found."""
    place: int
    """Of the server."""
    device: int
    invoked: float
    """Seconds since 1970."""
    answered: float
    result: Result
    is_queued: bool = False
    """Whether the answer was 202."""


class CommandProbe:
    """Sends texts to devices in turn, by any server."""

    def __init__(self, cluster: Cluster, devices: Sequence[int], troubles: Troubles) -> None:
        self._cluster = cluster
        self._devices = devices
        self._troubles = troubles
        self._chance = random.Random(2)
        self.requested: list[Requested] = []

    async def run(self) -> None:
        """Send until cancelled; each request has a task of its own, as some wait for a frozen server."""
        async with self._cluster.clients() as clients, trio.open_nursery() as nursery:
            number = 0
            while True:
                place = self._chance.randrange(len(clients))
                number += 1
                nursery.start_soon(self._send, clients[place], place, f"c{number}")
                await trio.sleep(COMMAND_SECONDS)

    async def _send(self, client: httpx.AsyncClient, place: int, text: str) -> None:
        invoked = time.time()
        device = self._chance.choice(self._devices)
        body = {"deviceId": device, **text_command(text)}
        result, status = await _result(client, "POST", "/commands/send", body, self._troubles, place)
        self.requested.append(
            Requested(text, place, device, invoked, time.time(), result, is_queued=status == QUEUED)
        )


class RightsProbe:
    """Gives a user a device and takes it away, by any server, and looks at all what the user may then do.

    The user lists devices, sends commands, which go to the server of the device, and has a WebSocket at each.
    """

    def __init__(self, cluster: Cluster, devices: Sequence[int], troubles: Troubles) -> None:
        self._cluster = cluster
        self._devices = list(devices)
        self._troubles = troubles
        self._chance = random.Random(3)
        self._reader = 0
        self._number = 0
        self.changes: list[Change] = []
        self.reads: list[Read] = []
        self.requested: list[Requested] = []
        """Commands of the user."""

    @property
    def _auth(self) -> tuple[str, str]:
        return READER, self._cluster.password

    async def prepare(self) -> None:
        """Create the user. Raises BenchError if the server refuses."""
        async with self._cluster.client(0) as client:
            person = {"name": "Reader", "email": READER, "password": self._cluster.password}
            answer = await client.post("/users", json=person)
            if answer.status_code != 200:
                raise BenchError(f"POST /users answered {answer.status_code}: {answer.text[:200]}")
            self._reader = answer.json()["id"]

    async def run(self) -> None:
        """Change and read until cancelled."""
        async with (
            self._cluster.clients() as clients,
            self._cluster.clients(self._auth) as readers,
            trio.open_nursery() as watching,
        ):
            for place in range(len(readers)):
                watching.start_soon(self._watch, place)
            given: set[int] = set()
            while self._devices:
                device = self._devices[0]
                # Some are left as they are, so that a server that starts has something to read.
                if device in given or len(given) < 5:
                    given ^= {device}
                self._devices.append(self._devices.pop(0))
                place = self._chance.randrange(len(clients))
                is_known = await self._change(clients[place], place, device, given=device in given)
                if not is_known:
                    # Nobody knows when it will be carried out, if at all.
                    self._devices.remove(device)
                    continue
                await trio.sleep(FRESH_SECONDS)
                async with trio.open_nursery() as nursery:
                    for place, client in enumerate(readers):
                        nursery.start_soon(self._read, client, place)
                        nursery.start_soon(self._send, client, place, device)
                await trio.sleep(RIGHTS_SECONDS)

    async def _change(self, client: httpx.AsyncClient, place: int, device: int, *, given: bool) -> bool:
        """Make a change; return whether it is known to be made, or known not to be."""
        invoked = time.time()
        link: dict[str, object] = {"userId": self._reader, "deviceId": device}
        method = "POST" if given else "DELETE"
        result, _ = await _result(client, method, "/permissions", link, self._troubles, place)
        value = "given" if given else "taken"
        self.changes.append(Change(f"device {device}", value, invoked, time.time(), result))
        return result == "ok"

    async def _read(self, client: httpx.AsyncClient, place: int) -> None:
        """Read what the user sees, unless the server is in trouble before or after."""
        invoked, was_clear = time.time(), self._troubles.is_clear(place)
        try:
            answer = await client.get("/devices")
        except httpx.HTTPError as error:
            self._troubles.note_error(place, "GET /devices", error, was_clear=was_clear)
            return
        if answer.status_code != 200 or not (was_clear and self._troubles.is_clear(place)):
            return
        seen = {device["id"] for device in answer.json()}
        answered = time.time()
        for device in {change.key for change in self.changes}:
            value = "given" if int(device.removeprefix("device ")) in seen else "taken"
            self.reads.append(Read(device, value, invoked, answered, self._cluster.names[place]))

    async def _send(self, client: httpx.AsyncClient, place: int, device: int) -> None:
        """Send a command to the device, wherever it is: only one that the user has is taken."""
        self._number += 1
        text = f"r{self._number}"
        invoked, was_clear = time.time(), self._troubles.is_clear(place)
        body = {"deviceId": device, **text_command(text)}
        result, status = await _result(client, "POST", "/commands/send", body, self._troubles, place)
        answered = time.time()
        self.requested.append(
            Requested(text, place, device, invoked, answered, result, is_queued=status == QUEUED)
        )
        # It may be refused for other reasons, such as a connection that ends.
        if result == "ok" and was_clear and self._troubles.is_clear(place):
            name = f"{self._cluster.names[place]}, a command"
            self.reads.append(Read(f"device {device}", "given", invoked, answered, name))

    async def _watch(self, place: int) -> None:
        """Note the positions that come on a WebSocket of the user, as reads of what it may see."""
        server = self._cluster.servers[place]
        port = int(server.url.rpartition(":")[2])
        words = b64encode(":".join(self._auth).encode()).decode()
        socket: WatchingSocket | None = None
        try:
            while True:
                was_clear = self._troubles.is_clear(place)
                if socket is None or not socket.is_alive():
                    socket = await trio.to_thread.run_sync(
                        _open_socket, server.host, port, f"Basic {words}", abandon_on_cancel=True
                    )
                await trio.sleep(SOCKET_SECONDS)
                if socket is None:
                    continue
                came = socket.received[:]
                del socket.received[: len(came)]
                if not (was_clear and self._troubles.is_clear(place)):
                    continue
                name = f"{self._cluster.names[place]}, a WebSocket"
                for each in arrivals(came):
                    # Sent at most so long before; what was on its way already is no violation.
                    sent = each.instant - SOCKET_SECONDS
                    self.reads.append(Read(f"device {each.device_id}", "given", sent, each.instant, name))
        finally:
            if socket is not None:
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(socket.close)


def _open_socket(host: str, port: int, login: str) -> WatchingSocket | None:
    """Open a WebSocket; None where the server does not answer."""
    try:
        opened = WatchingSocket(host, port, ("Authorization", login), '"positions"')
    except OSError:
        return None
    opened.start()
    return opened


async def _result(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    body: dict[str, object],
    troubles: Troubles,
    place: int,
) -> tuple[Result, int]:
    """Return what became of a request, and the status of the answer; 0: none."""
    was_clear = troubles.is_clear(place)
    try:
        answer = await client.request(method, path, json=body)
    except httpx.HTTPError as error:
        troubles.note_error(place, f"{method} {path}", error, was_clear=was_clear)
        return ("fail" if isinstance(error, httpx.ConnectError) else "unknown"), 0
    if answer.status_code < 300:
        return "ok", answer.status_code
    return ("fail" if answer.status_code < 500 else "unknown"), answer.status_code
