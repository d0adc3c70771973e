"""A server of the oldest PostgreSQL of this machine that Motorpool takes, such as Debian's 15."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import trio

from motorpool.storage.postgres import dumps
from motorpool.storage.postgres.requirements import MIN_MAJOR_VERSION, major_version
from motorpool.storage.postgres.unprivileged import choose_identity

INSTALLED = Path("/usr/lib/postgresql")
"""Where Debian installs it, in a folder for each major version."""
ROLE = "fleet"
"""Owns the databases, and may do nothing else."""
GUARDED = "guarded"
UTF8 = "encoding 'UTF8' locale 'C.UTF-8' template template0"


class OlderPostgres:
    """The server, on a Unix socket; roles need no password, but one of the name GUARDED for its database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str, role: str = ROLE) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}"

    def run(self, sql: str) -> str:
        """Run a statement as the superuser; return what psql prints."""
        return dumps.query(self.url("postgres", "boss"), sql)


def oldest() -> int | None:
    """Return the oldest major version that is installed, of those that can be used and are not embedded."""
    ours = major_version(dumps.program_version())
    found = [int(path.parts[-3]) for path in INSTALLED.glob("[0-9]*/bin/postgres")]
    return min((version for version in found if MIN_MAJOR_VERSION <= version < ours), default=None)


@contextmanager
def run_postgres(version: int, folder: Path) -> Iterator[OlderPostgres]:
    """Run a server in an empty folder."""
    folder.chmod(0o755)
    programs = INSTALLED / str(version) / "bin"
    identity, _ = trio.run(choose_identity, programs / "postgres", folder)

    def run(program: str, *words: str) -> None:
        command = [*identity.prefix, str(programs / program), "-D", str(folder / "data"), *words]
        # Its server would keep a pipe open.
        with (folder / "output").open("wb") as output:
            subprocess.run(command, cwd="/", check=True, timeout=120, stdout=output, stderr=output)

    run("initdb", "-U", "boss", "--auth=trust", "--no-sync")
    rules = folder / "data" / "pg_hba.conf"
    text = rules.read_text(encoding="utf-8")
    rules.write_text(f"local {GUARDED} {GUARDED} scram-sha-256\n{text}", encoding="utf-8")
    run("pg_ctl", "start", "-w", "-o", f"-c fsync=off -c listen_addresses= -k {folder}")
    try:
        server = OlderPostgres(folder)
        server.run(f"create role {ROLE} login")
        yield server
    finally:
        run("pg_ctl", "stop", "-w", "-m", "fast")


@pytest.fixture(scope="session")
def older_postgres() -> Iterator[OlderPostgres]:
    version = oldest()
    if version is None:
        assert not os.environ.get("CI"), f"there is no older PostgreSQL in {INSTALLED}"
        pytest.skip(f"there is no older PostgreSQL in {INSTALLED}")
    with tempfile.TemporaryDirectory() as name, run_postgres(version, Path(name)) as server:
        yield server


@pytest.fixture
def make_older(older_postgres: OlderPostgres) -> Iterator[Callable[..., str]]:
    """`make_older(options)`: the URL of a new database there, for its owner."""
    with ExitStack() as stack:
        names = (f"test_{number}" for number in range(100))

        def make(options: str = UTF8) -> str:
            name = next(names)
            older_postgres.run(f"create database {name} owner {ROLE} {options}")
            stack.callback(older_postgres.run, f"drop database {name} with (force)")
            return older_postgres.url(name)

        yield make
