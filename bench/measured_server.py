"""The server that a scenario measures: one that the bench starts, or any that is named by `--server`."""

import math
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from urllib.parse import urlsplit

import httpx

from motorpool.bench import machine
from motorpool.bench.options import BenchError, NotThereError, Options
from motorpool.codecs.devices import CODECS

API_SECONDS = 60.0
LOGIN_SECONDS = 20.0
CONNECT_SECONDS = 10.0
AT_ONCE = 4
"""Requests at a time that create or delete devices: they keep a server busy without a queue."""
SESSION_COOKIE = "JSESSIONID"


class MeasuredServer(ABC):
    """A server with Traccar's API, and where its devices connect.

    What cannot be known of it is NaN, which a Summary tells as "not there".
    """

    url: str
    """Of the pages; the API is at `/api` below."""
    host: str
    """That devices connect to."""
    email: str
    """Of an administrator."""
    password: str
    is_own: bool
    """Whether the bench has started it, so that it registers unknown devices and is gone afterwards."""

    @property
    def http_port(self) -> int:
        """Port of its pages and its API, for the load programs, which speak HTTP without TLS.

        Raises:
            BenchError: the server is addressed over TLS.
        """
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            raise BenchError(f"{self.url}: many clients ask without TLS only; name an http:// address")
        return parts.port or 80

    def phones(self, prefix: str, count: int, first: int = 0) -> tuple[str, ...]:
        """Return the numbers of JT/T 808 terminals, which count from `first`.

        Those of other servers have twelve digits, which are all that fit: they know a terminal by them.
        """
        digits = (11 if self.is_own else 12) - len(prefix)
        return tuple(f"{prefix}{number:0{digits}d}" for number in range(first + 1, first + count + 1))

    @abstractmethod
    def port(self, protocol: str) -> int:
        """Return the port for devices of a protocol."""

    @property
    def jt808_port(self) -> int:
        """Port for JT/T 808 terminals."""
        return self.port("jt808")

    @property
    def osmand_port(self) -> int:
        """Port for OsmAnd requests."""
        return self.port("osmand")

    def client(self) -> httpx.Client:
        """Make an HTTP client that is logged in as the administrator."""
        return httpx.Client(
            base_url=f"{self.url}/api",
            auth=(self.email, self.password),
            headers={"Accept": "application/json"},
            timeout=API_SECONDS,
        )

    def session_cookie(self) -> str:
        """Log in as a browser does; return the header `Cookie`, which WebSockets of any such server take.

        Raises:
            BenchError: the login fails.
        """
        form = {"email": self.email, "password": self.password}
        try:
            # Of the body only its beginning is read, however long it is.
            with httpx.stream("POST", f"{self.url}/api/session", data=form, timeout=LOGIN_SECONDS) as answer:
                value = answer.cookies.get(SESSION_COOKIE)
                if answer.status_code == 200 and value is not None:
                    return f"{SESSION_COOKIE}={value}"
                said = answer.headers.get("Location") or next(answer.iter_text(200), "")
        except httpx.HTTPError as error:
            raise BenchError(f"{self.url}: {str(error)[:200]}") from error
        raise BenchError(f"{self.url}: the login answered {answer.status_code}: {said or 'nothing'}")

    @abstractmethod
    def cpu_seconds(self) -> float:
        """Return the CPU of the server, without its database."""

    @abstractmethod
    def resident_bytes(self) -> float:
        """Return the memory of the server, without its database."""

    @abstractmethod
    def waiting_seconds(self) -> float:
        """Return the time in which the server waited for a core."""

    @abstractmethod
    def database_cpu_seconds(self) -> float:
        """Return the CPU of all running processes of its PostgreSQL."""

    @abstractmethod
    def database_bytes(self) -> float:
        """Return the memory of its PostgreSQL; what processes share counts once."""


class ForeignServer(MeasuredServer):
    """A server that somebody else started.

    Its CPU and memory are known where it runs on this machine; those of its PostgreSQL where the number of
    that process is given as well.
    """

    is_own = False

    def __init__(
        self,
        url: str,
        email: str,
        password: str,
        ports: Mapping[str, int] | None = None,
        database_pid: int | None = None,
    ) -> None:
        """`ports` are by protocol; the others are the usual ones.

        Raises:
            BenchError: the address is none.
        """
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and parts.port != 0
        except ValueError:
            # Of a bracket or a port that is none.
            is_address = False
        if not is_address or parts.hostname is None:
            raise BenchError(f"--server {url} is no address such as http://127.0.0.1:8082")
        self.url = url.rstrip("/")
        self.host = parts.hostname
        self.email, self.password = email, password
        self._ports = dict(ports or {})
        is_local = self.host == "localhost" or self.host.startswith("127.") or self.host == "::1"
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self._pid = machine.listener(port) if is_local else None
        self._database_pid = database_pid

    def port(self, protocol: str) -> int:
        """Return the port for devices of a protocol.

        Raises:
            NotThereError: nothing listens there.
        """
        port = self._ports.get(protocol) or CODECS[protocol].port
        try:
            socket.create_connection((self.host, port), CONNECT_SECONDS).close()
        except OSError as error:
            raise NotThereError(f"{protocol} at port {port}: {error}") from error
        return port

    def cpu_seconds(self) -> float:
        """Return the CPU of the server and its child processes, without its database."""
        return _counted(self._pid, machine.tree_cpu_seconds)

    def resident_bytes(self) -> float:
        """Return the memory of the server, without its database."""
        return _counted(self._pid, machine.resident_bytes)

    def waiting_seconds(self) -> float:
        """Return NaN: a foreign server may have many threads at work."""
        return math.nan

    def database_cpu_seconds(self) -> float:
        """Return the CPU of all running processes of its PostgreSQL."""
        return _counted(self._database_pid, machine.tree_cpu_seconds)

    def database_bytes(self) -> float:
        """Return the memory of its PostgreSQL; what processes share counts once."""
        return _counted(self._database_pid, machine.tree_bytes)


def _counted(pid: int | None, count: Callable[[int], float]) -> float:
    """Return what is counted of a process, NaN of none. Raises BenchError: it has ended."""
    if pid is None:
        return math.nan
    try:
        # A tree of which nothing runs would count as 0.
        machine.cpu_seconds(pid)
        return count(pid)
    except ProcessLookupError as error:
        raise BenchError(f"there is no process {pid}, of the server or its database") from error


def log_in(options: Options, url: str) -> ForeignServer:
    """Return the server at an address, which has accepted the account.

    Raises:
        BenchError: the address is none, the account is missing or wrong, or there is no such database.
    """
    if not options.email or not options.password:
        raise BenchError("--server needs --email and --password")
    foreign = ForeignServer(url, options.email, options.password, options.ports, options.database_pid)
    foreign.session_cookie()
    foreign.database_bytes()
    return foreign


@contextmanager
def open_server(
    options: Options, start: Callable[[], AbstractContextManager[MeasuredServer]]
) -> Iterator[MeasuredServer]:
    """Yield the server that the options name, or one that `start` starts.

    Raises:
        BenchError: it does not start, the address is none, or the account is missing or wrong.
    """
    if options.server is None:
        with start() as server:
            yield server
        return
    yield log_in(options, options.server)


@contextmanager
def known_devices(server: MeasuredServer, unique_ids: Sequence[str]) -> Iterator[None]:
    """Have a foreign server know devices during the block; an own one registers them as they connect.

    Raises:
        NotThereError: the server refuses one.
    """
    if server.is_own:
        yield
        return
    created: list[int] = []
    try:
        with server.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:
            known = device_ids(client)

            def create(unique_id: str) -> int:
                answer = client.post("/devices", json={"name": f"Bench {unique_id}", "uniqueId": unique_id})
                if answer.status_code != 200:
                    raise NotThereError(f"POST /devices answered {answer.status_code}: {answer.text[:200]}")
                return int(answer.json()["id"])

            created += pool.map(create, [each for each in unique_ids if each not in known])
        yield
    finally:
        # By connections of its own: the server may have closed those that idled meanwhile.
        with suppress(httpx.HTTPError), server.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda made: client.delete(f"/devices/{made}"), created))


def device_ids(client: httpx.Client) -> dict[str, int]:
    """Return the ids of all devices by their unique ids.

    Raises:
        httpx.HTTPError: the server does not answer them.
        BenchError: it answers something else.
    """
    answer = client.get("/devices", params={"all": "true"}).raise_for_status()
    try:
        return {device["uniqueId"]: device["id"] for device in answer.json()}
    except (ValueError, TypeError, KeyError) as error:
        raise BenchError(f"GET /devices answered no list of devices: {answer.text[:200]}") from error


def await_devices(client: httpx.Client, unique_ids: Sequence[str], seconds: float = 30.0) -> dict[str, int]:
    """Return the ids of all devices, once these are among them.

    Raises:
        BenchError: they are not within `seconds`.
    """
    until = time.monotonic() + seconds
    while not set(unique_ids) <= (found := device_ids(client)).keys():
        if time.monotonic() > until:
            raise BenchError(f"the server does not list {len(set(unique_ids) - found.keys())} devices")
        time.sleep(0.2)
    return found
