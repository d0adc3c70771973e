import subprocess

import pytest

from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres import dumps


@pytest.fixture
def other_url(postgres):
    """A second database, empty of tables."""
    postgres.run("drop database if exists restored")
    postgres.run("create database restored")
    yield postgres.server.url("restored")
    postgres.run("drop database restored with (force)")


def dumped(url):
    pieces = []
    dumps.dump(url, pieces.append)
    return pieces


def test_a_database_goes_out_and_in_again_with_all_that_is_in_it(database_url, other_url):
    dumps.query(database_url, "insert into keys values ('a', 'b')")
    pieces = dumped(database_url)
    dumps.query(other_url, "create table leftover (x int); create function f() returns int return 1")
    dumps.load(other_url, pieces)
    assert dumps.query(other_url, "select value from keys") == r"\x62"
    same = "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
    assert dumps.query(other_url, same) == dumps.query(database_url, same)
    assert dumps.query(other_url, "select to_regclass('leftover') is null and to_regproc('f') is null") == "t"


@pytest.mark.parametrize("keep", [0, 10, 3000])
def test_a_dump_that_ends_early_changes_nothing(database_url, other_url, keep):
    dump = b"".join(dumped(database_url))[:keep]
    dumps.query(other_url, "create table before (x int)")
    with pytest.raises(SetupFailed, match="the dump cannot be read"):
        dumps.load(other_url, [dump])
    assert dumps.query(other_url, "select to_regclass('before') is not null") == "t"


def test_a_source_that_breaks_changes_nothing(database_url, other_url):
    def broken():
        yield from dumped(database_url)
        raise OSError("the disk is gone")

    dumps.query(other_url, "create table before (x int)")
    with pytest.raises(OSError, match="the disk is gone"):
        dumps.load(other_url, broken())
    assert dumps.query(other_url, "select to_regclass('before') is not null") == "t"


def test_a_database_that_refuses_says_why_and_keeps_what_it_had(database_url, other_url):
    pieces = dumped(database_url)
    dumps.query(other_url, "create table before (x int); create type geometry as enum ('a')")
    dumps.query(other_url, "create view users as select 1 as id")
    with pytest.raises(SetupFailed, match=r'does not take the dump: .*relation "users" already exists'):
        dumps.load(other_url, pieces)
    assert dumps.query(other_url, "select to_regclass('before') is not null") == "t"


def test_a_disk_that_is_full_ends_the_dump(database_url):
    def full(data):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        dumps.dump(database_url, full)


def test_a_database_that_is_not_there_is_one_line(postgres):
    with pytest.raises(
        SetupFailed, match=r'the database does not answer: .*"nowhere" does not exist'
    ) as failed:
        dumps.query(postgres.server.url("nowhere"), "select 1")
    assert "\n" not in str(failed.value)
    with pytest.raises(SetupFailed, match="could not be read"):
        dumps.dump(postgres.server.url("nowhere"), len)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "postgresql://fleet:s%3Acret@db:5432/x?sslmode=require",
            "postgresql://fleet@db:5432/x?sslmode=require",
        ),
        ("postgresql://db/x?user=fleet&password=s%3Acret", "postgresql://db/x?user=fleet"),
    ],
)
def test_a_password_stands_on_no_command_line(url, shown, monkeypatch):
    started = []

    class Refused(Exception):
        pass

    def popen(command, *, env, **more):
        started.append((command, env))
        raise Refused

    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(Refused):
        dumps.query(url, "select 1")
    ((command, environment),) = started
    assert f"--dbname={shown}" in command
    assert "cret" not in " ".join(command)
    assert environment["PGPASSWORD"] == "s:cret"


def test_the_users_variables_do_not_lead_our_own_server_astray(database_url, monkeypatch):
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGOPTIONS", "-c no.such=")
    assert dumps.query(database_url, "select 7") == "7"


def test_versions_are_those_of_the_wheel(database_url):
    assert dumps.server_version(database_url) == dumps.program_version()


def test_an_unused_name_has_a_number_where_it_must(tmp_path):
    first = tmp_path / "a"
    assert dumps.unused_path(first) == first
    first.mkdir()
    (tmp_path / "a-2").mkdir()
    assert dumps.unused_path(first) == tmp_path / "a-3"


async def test_a_cluster_of_this_release_stays_and_an_older_one_is_set_aside(tmp_path):
    assert await dumps.move_incompatible_cluster(tmp_path) is None
    cluster = tmp_path / "postgres"
    cluster.mkdir()
    (cluster / "PG_VERSION").write_text(dumps.program_version().partition(".")[0] + "\n")
    assert await dumps.move_incompatible_cluster(tmp_path) is None
    (cluster / "PG_VERSION").write_text("17\n")
    assert await dumps.move_incompatible_cluster(tmp_path) == tmp_path / "postgres-17"
    assert (tmp_path / "postgres-17" / "PG_VERSION").read_text() == "17\n"
    assert not cluster.exists()


@pytest.mark.parametrize(
    "mark", ["", "1\n/x\n1\n5432\n/run/x\n\n1 2\nstarting\n", "1\n/x\n1\n5432\nhere\n\n1 2\nready   \n"]
)
def test_a_server_that_is_just_starting_is_said_to_be_not_up(tmp_path, mark):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "postmaster.pid").write_text(mark)
    with pytest.raises(SetupFailed, match="its database is not up: try again"):
        dumps.running_url(tmp_path)
