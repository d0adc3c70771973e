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


@pytest.fixture
def other_ending(monkeypatch):
    """`other_ending(sql)`: SQL that a copy ends with, before it is compared."""

    def end(sql):
        compare = dumps._compare
        monkeypatch.setattr(dumps, "_compare", lambda answers: f"{sql};{compare(answers)}")

    return end


def whole(url):
    """A query whose answer differs where a table or a sequence does."""
    lines = dumps.query(url, dumps._FACTS).splitlines()
    return dumps.query(url, "; ".join(lines))


def test_a_database_is_copied_to_an_older_postgresql(database_url, make_older):
    dumps.query(database_url, "insert into keys values ('a', 'b'); select nextval('users_id_seq')")
    target = make_older()
    copied = dumps.copy(database_url, target)
    assert whole(target) == whole(database_url)
    assert dumps.query(target, "select value from keys") == r"\x62"
    assert copied.rows > copied.tables / 2 > 50
    # And a dump goes there as well.
    other = make_older()
    dumps.load(other, dumped(database_url))
    assert whole(other) == whole(database_url)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            "encoding 'LATIN1' locale 'C' template template0",
            "encoding of the database is LATIN1, needed is UTF8",
        ),
        ("encoding 'UTF8' locale 'C' template template0", "does not compare all letters regardless of case"),
    ],
)
def test_a_database_that_reads_letters_otherwise_is_not_copied_to(database_url, make_older, options, why):
    target = make_older(options)
    with pytest.raises(SetupFailed, match=why):
        dumps.copy(database_url, target)
    assert whole(target) == ""


@pytest.mark.parametrize("what", ["create table x (y int)", "create view x as select 1", "create sequence x"])
def test_a_database_that_is_not_empty_is_not_copied_to(database_url, make_older, what):
    target = make_older()
    dumps.query(target, what)
    with pytest.raises(SetupFailed, match="the database is not empty"):
        dumps.copy(database_url, target)


def test_an_extension_of_the_administrator_is_used(database_url, make_older):
    target = make_older()
    dumps.query(target.replace("fleet@", "boss@"), "create extension pg_trgm")
    dumps.copy(database_url, target)
    assert whole(target) == whole(database_url)


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("delete from public.schema_migrations where number = 1", "schema_migrations: \\d+ instead of \\d+"),
        ("select nextval('public.users_id_seq')", r"users_id_seq: .* instead of .*"),
        ("drop table public.keys", 'relation "public.keys" does not exist'),
    ],
)
def test_a_copy_that_differs_leaves_nothing(database_url, make_older, other_ending, ending, why):
    other_ending(ending)
    target = make_older()
    with pytest.raises(SetupFailed, match=f"the database does not take the dump: .*{why}"):
        dumps.copy(database_url, target)
    assert whole(target) == ""


def test_a_role_without_rights_changes_nothing(database_url, make_older, older_postgres):
    target = make_older()
    older_postgres.run("create role guest login")
    with pytest.raises(SetupFailed, match="permission denied"):
        dumps.copy(database_url, target.replace("fleet@", "guest@"))
    older_postgres.run("drop role guest")
    assert whole(target) == ""


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


def test_the_users_variables_are_for_a_server_of_their_own(monkeypatch, make_older):
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=7MB")
    url = make_older()
    assert dumps.query(url, "show work_mem") == "7MB"
    # Also with the name of our role, on a socket of theirs.
    _, environment = dumps._without_password("postgresql://motorpool@/fleet?host=%2Frun%2Fpostgresql")
    assert environment["PGOPTIONS"] == "-c work_mem=7MB"


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
