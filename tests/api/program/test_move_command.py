"""A server whose embedded database is moved to an external PostgreSQL, and back."""

import httpx
import pytest
from tests.older_postgres import GUARDED, UTF8
from tests.pythons.smoke import DEVICE
from tests.storage.filled.migrating import open_session

from motorpool.api.program.backup import back_up, restore
from motorpool.api.settings import Settings
from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres import dumps

PICTURE = b"\xff\xd8\xff picture"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def run(data, forks, tmp_path):
    """`run(words)`: motorpool with the data folder, as a program."""

    def run_command(*words, **settings):
        environment = {"MOTORPOOL_DATA": str(data), **settings}
        return forks.run([str(word) for word in words], seconds=60, env=environment, cwd=tmp_path)

    return run_command


@pytest.fixture
def start(data, start_server):
    """`with start(database) as server:` on the data folder."""

    def begin(database):
        return start_server({"MOTORPOOL_DATA": str(data), "MOTORPOOL_DATABASE": database})

    return begin


def report(server, minute):
    query = {**DEVICE, "timestamp": DEVICE["timestamp"] + 60 * minute}
    httpx.get(f"http://{server.host}:{server.osmand_port}/", params=query).raise_for_status()


def last_line(done):
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_a_server_goes_on_with_an_older_postgresql_and_comes_back(data, run, start, make_older, tmp_path):
    target = make_older()
    with start("embedded") as server, server.client() as client:
        report(server, 0)
        folder = data / "media" / "13912345678"
        folder.mkdir(parents=True)
        (folder / "front.jpg").write_bytes(PICTURE)
        refused = run("move-database", target)
        assert last_line(refused).startswith("motorpool: another server (process ")
        password = server.password
    moved = run("move-database", target)
    assert moved.returncode == 0, moved.stderr
    first, following, rest = moved.stdout.splitlines()
    assert first.startswith("copied ")
    assert first.endswith(f" to PostgreSQL {dumps.server_version(target)}.")
    assert following.startswith("Next: set `database` in motorpool.toml (or MOTORPOOL_DATABASE) to its URL")
    assert rest.startswith(f"The embedded database stays in {data}/postgres: ")
    again = run("move-database", target)
    assert last_line(again) == "motorpool: the database is not empty: use a new one"
    with start(target) as server:
        server.password = password
        with server.client() as client:
            [device] = client.get("/devices").raise_for_status().json()
            assert device["uniqueId"] == DEVICE["id"]
            assert client.get("/media/13912345678/front.jpg").content == PICTURE
            report(server, 1)
            [position] = client.get("/positions").json()
            history = {"deviceId": device["id"], "from": "2020-01-01T00:00:00Z", "to": "2030-01-01T00:00:00Z"}
            first_one, second_one = client.get("/positions", params=history).json()
            assert first_one["id"] < second_one["id"] == position["id"]
    # The embedded one has stayed; a backup of the other one takes its place.
    made = run("backup", tmp_path / "x.backup", MOTORPOOL_DATABASE=target)
    assert made.returncode == 0, made.stderr
    restored = run("restore", tmp_path / "x.backup", "--force")
    assert restored.returncode == 0, restored.stderr
    with start("embedded") as server:
        server.password = password
        with server.client() as client:
            assert client.get("/positions").json() == [position]
            assert client.get("/media/13912345678/front.jpg").content == PICTURE


async def test_a_backup_of_the_embedded_database_is_restored_to_an_older_one(
    database_url, postgres, make_older, tmp_path
):
    postgres.end_sessions(database_url)
    dumps.query(database_url, "insert into users (email) values ('ann@example.org')")
    await back_up(Settings(data=tmp_path / "data", database=database_url), tmp_path / "x")
    target = make_older()
    await restore(Settings(data=tmp_path / "other", database=target), tmp_path / "x", force=False)
    assert dumps.query(target, "select email from users") == "ann@example.org"


@pytest.mark.parametrize(
    ("database", "target", "code", "why"),
    [
        ("postgresql://a/b", "postgresql://a/c", 2, "the settings name an external database already"),
        ("embedded", "embedded", 2, "must be a postgresql:// URL"),
        ("embedded", "mysql://x", 2, "must be a postgresql:// URL"),
        ("embedded", "postgresql://a/c", 1, "there is no database in "),
    ],
)
def test_what_cannot_be_moved_is_said(run, database, target, code, why):
    done = run("move-database", target, MOTORPOOL_DATABASE=database)
    assert done.returncode == code
    assert why in done.stderr


async def test_a_password_is_read_from_the_file_that_a_url_names(make_older, older_postgres, tmp_path):
    """By the programs of PostgreSQL and by the server; as an argument others would see it."""
    older_postgres.run(f"create role {GUARDED} login password 'secret'")
    older_postgres.run(f"create database {GUARDED} owner {GUARDED} {UTF8}")
    file = tmp_path / "pgpass"
    file.touch(0o600)
    file.write_text(f"*:*:{GUARDED}:{GUARDED}:secret\n")
    url = older_postgres.url(GUARDED, GUARDED)
    try:
        with pytest.raises(SetupFailed, match="no password supplied"):
            dumps.query(url, "select 1")
        assert dumps.query(f"{url}&passfile={file}", "select 1") == "1"
        async with open_session(f"{url}&passfile={file}") as session:
            assert await session.fetch_value("select current_user") == GUARDED
    finally:
        older_postgres.run(f"drop database {GUARDED} with (force)")
        older_postgres.run(f"drop role {GUARDED}")
