"""The embedded server in good times and bad: killed, left behind, locked, full, of another version."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from motorpool.storage.database import availability
from motorpool.storage.database.database import open_database
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.errors import AlreadyRunning, DiskFull, NoAnswer, SetupFailed, StorageUnavailable
from motorpool.storage.postgres import orphans
from motorpool.storage.postgres.embedded import EmbeddedServer
from motorpool.storage.records import Position
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def opened(data, on_outage=None, **settings):
    return open_database(DatabaseSettings(data=data, **settings), clock_now=lambda: NOW, on_outage=on_outage)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with a migrated database, not running; tests leave it sound."""
    data = tmp_path_factory.mktemp("made")

    async def make():
        async with opened(data):
            pass

    trio.run(make)
    return data


@pytest.fixture
def own_data(data, tmp_path):
    """A copy of it for a test that does not."""
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    return copy


async def store(database, number):
    """Store position `number` as the writer does: again until it is known to be there."""
    row = position_rows.pack_row(
        Position(id=number, device_id=1, server_time=NOW, device_time=NOW, fix_time=NOW)
    )
    while True:
        try:
            await positions.store(database, [row], [number])
        except StorageUnavailable:
            await trio.sleep(0.01)
        else:
            return


async def until(holds):
    """Wait for something that nobody tells us of."""
    with trio.fail_after(120):
        while not holds():  # noqa: ASYNC110 - what other processes do has no Event
            await trio.sleep(0.001)


async def back(database):
    """Wait until the database answers again."""
    with trio.fail_after(120):
        while True:
            try:
                await database.check()
            except StorageUnavailable:
                await trio.sleep(0.01)
            else:
                return


async def test_a_new_folder_gets_a_durable_server_that_the_next_start_finds_again(tmp_path):
    data = tmp_path / "new" / "data"
    async with opened(data) as database:
        settings = await database.fetch(
            "select name, setting from pg_settings where name in"
            " ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'data_checksums')"
        )
        assert dict(tuple(row.values()) for row in settings) == {
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "listen_addresses": "",
            "data_checksums": "on",
        }
        await database.execute("insert into keys values ('a', 'b')")
        socket_folder = database.server.socket_folder
        assert socket_folder.stat().st_mode & 0o777 == 0o700
    assert orphans.processes(data / "postgres") == []
    assert not socket_folder.exists()
    async with opened(data) as database:
        assert await database.fetch_value("select value from keys") == b"b"


async def test_a_data_path_of_150_characters_works(own_data, tmp_path):
    long = tmp_path / "x" / ("y" * 150)
    long.parent.mkdir()
    own_data.rename(long)
    assert len(str(long)) >= 150
    async with opened(long) as database:
        await database.check()


async def test_letters_of_all_languages_are_known(data):
    async with opened(data) as database:
        assert await database.fetch_value("select lower('ÄÖÇŽ') || upper('é')") == "äöçžÉ"


async def test_all_processes_killed_under_load_and_not_a_row_is_lost_or_doubled(data):
    async with opened(data, pool_size=4) as database:
        done = 0

        async def write(first):
            nonlocal done
            for number in range(first, first + 60):
                await store(database, number)
                done += 1

        with trio.fail_after(90):
            async with trio.open_nursery() as nursery:
                for first in (1, 1001, 2001):
                    nursery.start_soon(write, first)
                for level in (20, 90):
                    await until(lambda level=level: done >= level)
                    for pid in orphans.processes(data / "postgres"):
                        os.kill(pid, signal.SIGKILL)
        ids = [row[0] for row in await database.fetch("select id from positions order by id")]
        assert ids == [first + n for first in (1, 1001, 2001) for n in range(60)]
        assert database.available


async def test_calls_fail_at_once_while_the_server_is_down(data, monkeypatch):
    async with opened(data) as database:
        launch, may_start = EmbeddedServer._launch, trio.Event()

        async def launch_later(server):
            await may_start.wait()
            await launch(server)

        monkeypatch.setattr(EmbeddedServer, "_launch", launch_later)
        os.kill(database.server.pid, signal.SIGKILL)
        await until(lambda: not database.server.up)
        assert not database.available
        # One that waited for the server would wait for ever.
        with trio.fail_after(120), pytest.raises(StorageUnavailable, match="started again"):
            await database.check()
        may_start.set()
        await back(database)
        assert database.available


async def test_a_server_that_stands_still_is_an_outage_until_it_goes_on(data, monkeypatch):
    monkeypatch.setattr(availability, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(availability, "OUTAGE_SECONDS", 0.05)
    monkeypatch.setattr(availability, "PATIENCE_SECONDS", 0.3)
    told = []
    async with opened(data, on_outage=told.append) as database:
        stopped = orphans.processes(data / "postgres")
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            await until(lambda: told)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        assert isinstance(told[0], NoAnswer)
        await until(lambda: told[-1] is None)
        await database.check()


async def test_a_server_that_is_killed_says_why_it_is_away(data):
    told = []
    async with opened(data, on_outage=told.append) as database:
        os.kill(database.server.pid, signal.SIGKILL)
        await until(lambda: not database.server.up)
        with pytest.raises(StorageUnavailable, match="started again: it ended with code -9: "):
            await database.check()
        await until(lambda: told[-1] is None)
        await database.check()


async def test_one_killed_backend_costs_no_more_than_a_moment(data):
    async with opened(data) as database:
        victim = await database.fetch_value("select pg_backend_pid()")
        os.kill(victim, signal.SIGKILL)
        await back(database)


async def test_a_server_that_hangs_at_its_stop_is_ended_all_the_same(data, monkeypatch):
    monkeypatch.setattr("motorpool.storage.postgres.embedded._QUIT_SECONDS", 0.2)
    server = EmbeddedServer(data, stop_seconds=0.2)
    await server.start()
    for pid in orphans.processes(data / "postgres"):
        os.kill(pid, signal.SIGSTOP)
    with trio.fail_after(120):
        await server.stop()
    assert orphans.processes(data / "postgres") == []


async def test_a_second_server_on_the_same_data_is_told_in_one_line(data):
    async with opened(data) as database:
        with pytest.raises(AlreadyRunning) as refused:
            async with opened(data):
                pass
        assert str(refused.value) == f"another server (process {os.getpid()}) works on the data in {data}"
        await database.check()


async def test_what_a_killed_run_left_is_stopped_and_nothing_acknowledged_is_lost(data):
    script = (
        "import sys, os, signal, trio, pathlib, datetime\n"
        "from motorpool.storage.database.database import open_database\n"
        "from motorpool.storage.settings import DatabaseSettings\n"
        "async def main():\n"
        "    now = datetime.datetime(2026, 6, 15, tzinfo=datetime.UTC)\n"
        "    settings = DatabaseSettings(data=pathlib.Path(sys.argv[1]))\n"
        "    async with open_database(settings, clock_now=lambda: now) as database:\n"
        "        await database.execute(\"insert into keys values ('left', 'b')\")\n"
        "        print(database.server.pid, database.server.socket_folder, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "trio.run(main)\n"
    )
    killed = await trio.run_process(
        [sys.executable, "-c", script, str(data)], capture_stdout=True, check=False
    )
    left, socket_folder = killed.stdout.decode().split()
    assert int(left) in orphans.processes(data / "postgres")
    async with opened(data) as database:
        assert int(left) not in orphans.processes(data / "postgres")
        assert await database.fetch_value("select value from keys where name = 'left'") == b"b"
        assert not await trio.Path(socket_folder).exists()


async def test_a_mark_with_the_number_of_another_program_does_not_stop_the_start(data):
    (data / "postgres" / "postmaster.pid").write_text(f"{os.getppid()}\n{data}/postgres\n1\n5432\n/nowhere\n")
    async with opened(data) as database:
        await database.check()


async def test_data_of_another_major_version_names_both_and_the_way(own_data):
    (own_data / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(SetupFailed) as failed:
        async with opened(own_data):
            pass
    text = str(failed.value)
    assert "written by PostgreSQL 17, this release brings 18" in text
    assert "`motorpool backup` with the old release, then `motorpool restore`" in text
    assert "\n" not in text


async def test_a_folder_that_is_no_cluster_is_named(tmp_path):
    (tmp_path / "postgres").mkdir()
    with pytest.raises(SetupFailed, match="postgres is not a PostgreSQL cluster"):
        async with opened(tmp_path):
            pass


async def test_a_start_that_fails_says_why_and_frees_the_folder(own_data):
    (own_data / "postgres" / "global" / "pg_control").unlink()
    for _ in range(2):
        with pytest.raises(SetupFailed, match=r"PostgreSQL terminated during startup: .*pg_control"):
            async with opened(own_data):
                pass


async def test_an_initdb_that_was_cut_short_is_begun_anew(tmp_path):
    (tmp_path / "postgres.new").mkdir()
    (tmp_path / "postgres.new" / "half").write_text("x")
    async with opened(tmp_path) as database:
        await database.check()
    assert not (tmp_path / "postgres.new").exists()


async def test_a_data_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(SetupFailed, match="data cannot be used"):
        async with opened(tmp_path / "data"):
            pass


async def test_a_long_log_of_the_server_is_set_aside(data, monkeypatch):
    monkeypatch.setattr("motorpool.storage.postgres.log_rotation.LOG_BYTES", 11)
    (data / "postgres.log").write_text("y" * 5 + "x" * 11)
    async with opened(data):
        pass
    assert (data / "postgres.log.old").read_text() == "x" * 11
    assert "x" not in (data / "postgres.log").read_text()[:1]


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare to become an ordinary user with")
async def test_an_ordinary_user_starts_it_too():
    # In a name space of its own the process is user 1000; the folder must be ours, but not pytest's.
    folder = Path(tempfile.mkdtemp(prefix="motorpool-test-"))
    script = (
        "import os, sys, trio, pathlib, datetime\n"
        "from motorpool.storage.database.database import open_database\n"
        "from motorpool.storage.settings import DatabaseSettings\n"
        "async def main():\n"
        "    now = datetime.datetime(2026, 6, 15, tzinfo=datetime.UTC)\n"
        "    settings = DatabaseSettings(data=pathlib.Path(sys.argv[1]))\n"
        "    async with open_database(settings, clock_now=lambda: now) as database:\n"
        "        print(os.geteuid(), await database.fetch_value('select 7'))\n"
        "trio.run(main)\n"
    )
    command = [
        "unshare",
        "--user",
        "--map-user=1000",
        "--map-group=1000",
        sys.executable,
        "-c",
        script,
        str(folder),
    ]
    try:
        done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False)
        if b"unshare" in done.stderr:
            pytest.skip("name spaces are not allowed here")
        assert done.stdout.decode().split() == ["1000", "7"], done.stderr.decode()
    finally:
        shutil.rmtree(folder)


def mounted(*words):
    return subprocess.run(["mount", *map(str, words)], check=False, capture_output=True).returncode == 0


def unmount(folder):
    subprocess.run(["umount", str(folder)], check=False)


async def test_a_full_disk_is_survived_and_nothing_acknowledged_is_lost(own_data, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if os.geteuid() != 0 or not mounted("-t", "tmpfs", "-o", "size=110m,mode=0755", "tmpfs", small):
        assert os.environ.get("CI") != "true", "no small disk can be made here"
        pytest.skip("no small disk can be made here")
    try:
        shutil.move(own_data, small / "data")
        async with opened(small / "data", statement_seconds=5) as database:
            kept = []
            refused = None
            with trio.fail_after(120):
                while refused is None:
                    try:
                        number = len(kept)
                        await database.execute(
                            "insert into keys values ($1, $2)", str(number), os.urandom(1_000_000)
                        )
                        kept.append(str(number))
                    except StorageUnavailable as error:
                        refused = error
            assert len(kept) >= 3
            assert isinstance(refused, DiskFull) == ("No space left on device" in str(refused))
            # Somebody makes room.
            assert mounted("-o", "remount,size=400m", small)
            await back(database)
            names = [row[0] for row in await database.fetch("select name from keys")]
            assert set(kept) <= set(names)
            await database.execute("insert into keys values ('more', $1)", os.urandom(1_000_000))
    finally:
        unmount(small)
