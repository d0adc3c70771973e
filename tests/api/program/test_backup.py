"""A backup made of a running server and of one at rest, and what comes of it."""

import os
import re
import signal
import subprocess

import httpx
import pytest

from motorpool.api.exports.backup_archive import DUMP, ArchiveWriter, Manifest, VerifiedArchive
from motorpool.api.program.backup import back_up, restore
from motorpool.api.program.errors import StartFailed
from motorpool.api.settings import Settings
from motorpool.bench.free_ports import free_server_port
from motorpool.storage.database import migrations
from motorpool.storage.postgres import dumps
from motorpool.storage.postgres.data_lock import DataLock

BOSS = ("boss@example.org", "secret word")
PATIENCE_SECONDS = 60
OTHER_KEY = "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


def environ(data, **more):
    return {
        **os.environ,
        "MOTORPOOL_DATA": str(data),
        "MOTORPOOL_PROTOCOLS": "",
        "MOTORPOOL_DEVICE_HOST": "127.0.0.1",
        "MOTORPOOL_ADMIN_EMAIL": BOSS[0],
        "MOTORPOOL_ADMIN_PASSWORD": BOSS[1],
        "MOTORPOOL_LOGIN_HASH_MEMORY_KIB": "8192",
        **more,
    }


class Server:
    """A real `motorpool serve` on its embedded PostgreSQL."""

    def __init__(self, forks, data):
        self.data = data
        port = free_server_port()
        self.process = forks.popen(
            ["serve"],
            env=environ(data, MOTORPOOL_BIND=f"127.0.0.1:{port}", MOTORPOOL_PORT_OFFSET=str(port)),
            cwd=data.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        assert line.startswith("Motorpool is running"), self.process.communicate()[1]
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", auth=BOSS, timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE_SECONDS)

    def names(self):
        return [device["name"] for device in self.client.get("/devices").json()]

    def add(self, name):
        self.client.post("/devices", json={"name": name, "uniqueId": name}).raise_for_status()


def run(forks, data, *words, given=None, **more):
    words = list(map(str, words))
    return forks.run(words, given=given, seconds=PATIENCE_SECONDS, env=environ(data, **more), cwd=data.parent)


def last(done):
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_a_server_is_backed_up_as_it_runs_and_at_rest_and_put_back(tmp_path, forks):
    data, file = tmp_path / "data", tmp_path / "fleet.backup"
    media = data / "media" / "1" / "device.jpg"
    with Server(forks, data) as server:
        server.add("Van")
        media.parent.mkdir(parents=True)
        media.write_bytes(b"picture")
        made = run(forks, data, "backup", file)
        assert made.returncode == 0, made.stderr
        assert made.stdout.startswith(f"wrote {file}: schema ")
        assert ", 2 files, " in made.stdout
        assert "; it has the key of its secrets, encryption.key: guard it as" in made.stdout
        assert file.stat().st_mode & 0o777 == 0o600
        ann = run(forks, data, "user", "ann@example.org", "--password", given="ann drives\n")
        assert (ann.returncode, ann.stdout) == (0, "user ann@example.org created\n"), ann.stderr
        assert server.client.get("/session", auth=("ann@example.org", "ann drives")).status_code == 200
        server.add("Too late")
        media.write_bytes(b"another")
        refused = run(forks, data, "restore", file, "--force")
        assert refused.returncode == 1
        assert "another server" in last(refused)
        assert server.names() == ["Too late", "Van"]
    refused = run(forks, data, "restore", file)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert last(refused) == "motorpool: the database is not empty; --force replaces its contents"
    restored = run(forks, data, "restore", file, "--force")
    assert restored.returncode == 0, restored.stderr
    assert restored.stdout.startswith(f"restored from {file}: schema ")
    assert media.read_bytes() == b"picture"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "fleet.backup"]
    # The same of the server at rest, and into a folder that is not there yet.
    made = run(forks, data, "backup", file)
    assert made.returncode == 0, made.stderr
    other = tmp_path / "other"
    restored = run(forks, other, "restore", file)
    assert restored.returncode == 0, restored.stderr
    with Server(forks, other) as server:
        assert server.names() == ["Van"]


def test_without_its_key_a_backup_is_restored_only_to_go_on_without_its_secrets(tmp_path, forks):
    data, file, key = tmp_path / "data", tmp_path / "fleet.backup", tmp_path / "data" / "encryption.key"
    with Server(forks, data) as server:
        assert key.stat().st_mode & 0o777 == 0o600
        me = server.client.get("/session").json()
        me["attributes"] = {"ntfyTopic": "vehicles"}
        server.client.put(f"/users/{me['id']}", json=me).raise_for_status()
        made = run(forks, data, "backup", file, "--without-key")
        assert made.returncode == 0, made.stderr
        assert re.search(r"; the key of its secrets, [0-9a-f]{8}, is not in it: keep that too$", made.stdout)
        # The server has the keys, whatever the command has.
        refused = run(forks, data, "forget-secrets", "--confirm", MOTORPOOL_ENCRYPTION_KEYS=OTHER_KEY)
        assert (refused.returncode, "a server uses the database, so it has the keys" in last(refused)) == (
            1,
            True,
        )
    assert b"vehicles" not in file.read_bytes()

    other = tmp_path / "other"
    refused = run(forks, other, "restore", file)
    assert (refused.returncode, "which is not here: put it into" in last(refused)) == (1, True)
    assert not other.exists()
    # With the key, in the file or as a setting, it is all there.
    text = key.read_text().splitlines()[-1]
    restored = run(forks, other, "restore", file, MOTORPOOL_ENCRYPTION_KEYS=text)
    assert restored.returncode == 0, restored.stderr
    (other / "encryption.key").write_text(text)
    with Server(forks, other) as server:
        assert server.client.get("/session").json()["attributes"] == {"ntfyTopic": "vehicles"}

    third = tmp_path / "third"
    restored = run(forks, third, "restore", file, "--without-key")
    assert restored.returncode == 0, restored.stderr
    refused = run(forks, third, "serve")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(
        r"motorpool: secrets in the database are encrypted with the key [0-9a-f]{8}, which is not here:"
        r" put it into the setting encryption\.keys or the file encryption\.key in the data folder .*",
        last(refused),
    )
    shown = run(forks, third, "forget-secrets")
    assert shown.stdout.startswith("to be forgotten with --confirm: "), shown.stderr
    assert "1 of users.attributes" in shown.stdout
    assert run(forks, third, "serve").returncode == 1
    done = run(forks, third, "forget-secrets", "--confirm")
    assert done.stdout.startswith("forgotten: "), done.stderr
    with Server(forks, third) as server:
        assert server.client.get("/session").json()["attributes"] == {}
        assert (third / "encryption.key").exists()


@pytest.fixture
def other_url(postgres):
    postgres.run("drop database if exists restored")
    postgres.run("create database restored")
    yield postgres.server.url("restored")
    postgres.run("drop database restored with (force)")


@pytest.fixture
def filled(tmp_path, postgres, database_url):
    """Settings of a server with an external database, and something in it."""
    postgres.end_sessions(database_url)
    dumps.query(database_url, "insert into users (email) values ('ann@example.org')")
    media = tmp_path / "data" / "media" / "1"
    media.mkdir(parents=True)
    (media / "a.jpg").write_bytes(b"picture")
    (media / ".b.jpg.part").write_bytes(b"half")
    (media / "link.jpg").symlink_to("/etc/passwd")
    (tmp_path / "data" / "demo").mkdir()
    (tmp_path / "data" / "demo" / "login.json").write_text("of another server")
    return Settings(data=tmp_path / "data", database=database_url)


@pytest.fixture
def empty(tmp_path, other_url):
    return Settings(data=tmp_path / "other", database=other_url)


def emails(settings):
    return dumps.query(settings.database, "select email from users")


async def test_a_database_of_the_users_own_goes_the_same_way(filled, empty, tmp_path):
    file = tmp_path / "x.backup"
    await back_up(filled, file)
    archive = VerifiedArchive(file)
    assert archive.names == ["media/1/a.jpg"]
    assert archive.manifest.schema == len(migrations.load())
    told = await restore(empty, file, force=False)
    assert "kept" not in told
    assert emails(empty) == "ann@example.org"
    assert (empty.data / "media" / "1" / "a.jpg").read_bytes() == b"picture"
    # Now there is something; and what force takes away, it takes from the files too.
    (empty.data / "media" / "1" / "b.jpg").write_bytes(b"later")
    with pytest.raises(StartFailed, match="not empty"):
        await restore(empty, file, force=False)
    await restore(empty, file, force=True)
    assert [path.name for path in (empty.data / "media" / "1").iterdir()] == ["a.jpg"]
    assert sorted(path.name for path in empty.data.iterdir()) == ["media"]


async def test_a_restored_database_goes_on_counting_towards_quotas(filled, empty, tmp_path):
    def used():
        return dumps.query(
            empty.database,
            "select measure, amount from device_quota_use union all"
            " select measure, amount from user_quota_use where measure like '%:links' order by 1",
        ).splitlines()

    one_more = """
        with made as (
            insert into notifications (type, creator_id) select 'alarm', min(id) from users returning id
        ),
        linked as (insert into user_notification (user_id, notification_id)
            select min(users.id), made.id from users, made group by made.id)
        insert into device_notification (device_id, notification_id)
            select devices.id, made.id from devices, made
    """
    dumps.query(filled.database, "insert into devices (name, unique_id) values ('Van', '1')")
    dumps.query(filled.database, one_more)
    await back_up(filled, tmp_path / "x")
    for force in (False, True):
        await restore(empty, tmp_path / "x", force=force)
        assert used() == ["notifications:links|1", "notifications:rows|1"]
        dumps.query(empty.database, one_more)
        assert used() == ["notifications:links|2", "notifications:rows|2"]
        dumps.query(empty.database, "delete from notifications")
        assert used() == ["notifications:links|0", "notifications:rows|0"]


async def test_files_without_a_database_are_kept_aside(filled, empty, tmp_path):
    file = tmp_path / "x.backup"
    await back_up(filled, file)
    (empty.data / "media" / "9").mkdir(parents=True)
    (empty.data / "media" / "9" / "z.jpg").write_bytes(b"old")
    told = await restore(empty, file, force=False)
    assert told.endswith(f"kept in {empty.data}/media.before-restore")
    assert (empty.data / "media.before-restore" / "9" / "z.jpg").read_bytes() == b"old"


async def test_a_backup_takes_the_place_of_an_older_one_only_when_it_is_whole(filled, tmp_path):
    file = tmp_path / "x.backup"
    file.write_text("the older one")
    nowhere = Settings(data=filled.data, database=filled.database.replace("/test_", "/none_"))
    with pytest.raises(StartFailed, match="does not exist"):
        await back_up(nowhere, file)
    assert file.read_text() == "the older one"
    await back_up(filled, file)
    assert VerifiedArchive(file).names == ["media/1/a.jpg"]
    assert not list(tmp_path.glob(".*"))


async def test_a_folder_that_is_not_there_is_named(filled, tmp_path):
    with pytest.raises(StartFailed, match=r"nowhere/\.x\.backup\.part: No such file"):
        await back_up(filled, tmp_path / "nowhere" / "x.backup")
    with pytest.raises(StartFailed, match=r"x\.backup: No such file"):
        await restore(filled, tmp_path / "x.backup", force=True)


async def test_where_nothing_is_there_is_nothing_to_back_up(tmp_path, empty):
    with pytest.raises(StartFailed, match="there is no database in"):
        await back_up(Settings(data=tmp_path / "data"), tmp_path / "x")
    assert not (tmp_path / "data").exists()
    with pytest.raises(StartFailed, match="nothing to back up"):
        await back_up(empty, tmp_path / "x")


async def test_a_database_with_the_tables_of_others_is_left_alone_even_by_force(filled, empty, tmp_path):
    await back_up(filled, tmp_path / "x")
    dumps.query(empty.database, "create table theirs (x int)")
    with pytest.raises(StartFailed, match="tables of another program"):
        await restore(empty, tmp_path / "x", force=True)
    assert dumps.query(empty.database, "select to_regclass('theirs')") == "theirs"


async def test_a_database_that_a_server_works_on_is_left_alone(filled, empty, tmp_path, database):
    await back_up(filled, tmp_path / "x")
    await database.check()
    with pytest.raises(
        StartFailed, match=r"a server is using the database \(\d+ connections\): stop it first"
    ):
        await restore(filled, tmp_path / "x", force=True)


def made(path, **changes):
    what = {"program": "9.9", "schema": 1, "postgres": "18.6", "made": ""} | changes
    with path.open("wb") as file:
        archive = ArchiveWriter(file)
        with archive.member(DUMP) as member:
            member.write(b"PGDMP")
        archive.finish(Manifest(**what))
    return path


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"schema": 9999}, r"has schema 9999, this release knows \d+: restore it with release 9\.9"),
        ({"postgres": "99.1"}, r"comes from PostgreSQL 99\.1, this release has 18"),
        ({}, "the dump cannot be read"),
    ],
)
async def test_what_this_release_cannot_take_changes_nothing(filled, tmp_path, changes, why):
    before = emails(filled)
    with pytest.raises(StartFailed, match=why):
        await restore(filled, made(tmp_path / "x", **changes), force=True)
    assert emails(filled) == before
    assert (filled.data / "media" / "1" / "a.jpg").read_bytes() == b"picture"
    assert not (filled.data / ".restoring").exists()


@pytest.mark.parametrize("program", ["0.0.1", "99.0.0"])
async def test_the_schema_counts_and_not_the_version_of_the_program(
    filled, empty, tmp_path, monkeypatch, program
):
    monkeypatch.setattr("motorpool.api.program.backup.program_version", lambda: program)
    await back_up(filled, tmp_path / "x")
    monkeypatch.undo()
    assert VerifiedArchive(tmp_path / "x").manifest.program == program
    assert f"of release {program}, " in await restore(empty, tmp_path / "x", force=False)
    assert emails(empty) == "ann@example.org"


async def test_a_damaged_archive_changes_nothing(filled, tmp_path):
    file = tmp_path / "x"
    await back_up(filled, file)
    content = bytearray(file.read_bytes())
    content[5000] ^= 1
    file.write_bytes(content)
    with pytest.raises(StartFailed, match=r"is not a backup, or is damaged: database\.dump is not what"):
        await restore(filled, file, force=True)
    assert emails(filled) == "ann@example.org"


async def test_data_of_an_older_postgresql_is_set_aside_for_the_backup_of_it(filled, tmp_path):
    file, data = tmp_path / "x", tmp_path / "upgraded"
    await back_up(filled, file)
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "PG_VERSION").write_text("17\n")
    told = await restore(Settings(data=data), file, force=False)
    assert told.endswith(f"kept in {data}/postgres-17")
    assert (data / "postgres" / "PG_VERSION").read_text() == "18\n"
    await back_up(Settings(data=data), tmp_path / "again")
    assert VerifiedArchive(tmp_path / "again").names == ["media/1/a.jpg"]


async def test_a_server_whose_database_is_not_up_is_said_so(tmp_path):
    (tmp_path / "data" / "postgres").mkdir(parents=True)
    lock = DataLock(tmp_path / "data")
    lock.acquire()
    try:
        with pytest.raises(StartFailed, match="its database is not up: try again"):
            await back_up(Settings(data=tmp_path / "data"), tmp_path / "x")
    finally:
        lock.release()
