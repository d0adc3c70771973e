"""A backup by HTTP: who gets it, what it holds, and what becomes of it when it is cut off."""

import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from motorpool.api.exports import backup_stream
from motorpool.api.exports.backup_archive import VerifiedArchive
from motorpool.api.resources import backup
from motorpool.storage.postgres import dumps

PASSWORD = {"currentPassword": "admin"}


@pytest.fixture
async def backed(starting, database_url):
    """A server whose settings name its database, with files."""
    async with starting(listen=True) as served:
        yield with_files(served, database_url)


async def fetched(backed, ticket, client=None):
    """A backup over a real socket: the test client of Quart takes no answer of many pieces."""
    cookies = {"JSESSIONID": backed.cookie(client or backed.admin)}
    async with httpx.AsyncClient(cookies=cookies, timeout=60) as browser:
        return await browser.get(f"http://127.0.0.1:{backed.port}/api/server/backup?ticket={ticket}")


def with_files(served, database_url):
    settings = served.context.settings
    served.context.live.settings = replace(settings, database=database_url)
    media = settings.data / "media" / "1"
    media.mkdir(parents=True)
    (media / "a.jpg").write_bytes(b"picture" * 100_000)
    (media / ".part").write_bytes(b"not complete")
    (settings.data / "encryption.key").write_text("secret")
    (media / "link.jpg").symlink_to(settings.data / "encryption.key")
    return served


async def ticket(client, **body):
    answer = await client.post("/server/backup", json=PASSWORD | body)
    assert answer.status == 200, answer.text
    return answer.json()


async def audited(served, *kinds):
    listed = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    return [(each["actionType"], each["attributes"]) for each in listed if each["actionType"] in kinds]


async def test_a_backup_holds_database_and_files_but_no_key_and_is_audited(backed, tmp_path, monkeypatch):
    # The dump is in several parts.
    monkeypatch.setattr(backup_stream, "PART_BYTES", 50_000)
    await backed.device(backed.admin, "1", name="Van 7")
    prepared = await ticket(backed.admin)
    assert (prepared["files"], prepared["databaseBytes"] > 1e6) == (2, True)
    answer = await fetched(backed, prepared["ticket"])
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    assert answer.headers["Cache-Control"] == "private, no-store"
    file = tmp_path / "fetched.backup"
    file.write_bytes(answer.content)
    archive = VerifiedArchive(file)
    assert archive.names == ["media/1/a.jpg"]
    assert len([name for name in archive.manifest.files if name.startswith("database.dump.")]) > 1
    dump = tmp_path / "dump"
    dump.write_bytes(b"".join(archive.dump()))
    restore = [str(dumps.binaries() / "pg_restore"), "--data-only", "--table=devices", "--file=-", str(dump)]
    assert b"Van 7" in (await trio.run_process(restore, capture_stdout=True)).stdout
    assert await audited(backed, "backup", "backupEnd") == [
        ("backup", {}),
        ("backupEnd", {"bytes": len(answer.content), "complete": True}),
    ]


async def test_the_password_is_needed_however_new_the_login_is(backed):
    for body, text in (
        ({}, "currentPassword: needed to fetch a backup"),
        ({"currentPassword": "wrong"}, "currentPassword: is wrong"),
    ):
        answer = await backed.admin.post("/server/backup", json=body)
        assert (answer.status, answer.text) == (400, text)
    basic = backed.client({"Authorization": "Basic YWRtaW5AZXhhbXBsZS5vcmc6YWRtaW4="})
    assert (await basic.post("/server/backup", json={})).status == 200


async def test_who_has_no_password_has_just_logged_in(backed, database):
    await database.execute("update users set password_hash = null where id = $1", backed.admin_id)
    backed.context.logins.accounts.clear()
    assert (await backed.admin.post("/server/backup", json={})).status == 200
    backed.clock.move_wall(3600)
    answer = await backed.admin.post("/server/backup", json={})
    assert answer.text == "you have no password here: log in again to fetch a backup, and try once more"


async def test_others_sessions_as_others_and_tokens_get_none(backed):
    ann = await backed.user("ann", administrator=True)
    prepared = (await ticket(backed.admin))["ticket"]
    # Neither with the ticket of somebody else, nor in another session of one's own.
    for client in (ann, await backed.log_in("admin@example.org", "admin")):
        answer = await client.get(f"/server/backup?ticket={prepared}")
        assert (answer.status, answer.text) == (400, "ticket: was given in another session")
    bob = await backed.user("bob")
    assert (await bob.post("/server/backup", json={"currentPassword": "bob"})).status == 400
    assert (await bob.get(f"/server/backup?ticket={prepared}")).status == 400
    token = (await backed.admin.post("/session/token")).text
    bearer = backed.client({"Authorization": f"Bearer {token}"})
    begun = backed.client()
    assert (await begun.get(f"/session?token={token}")).status == 200
    acting = await backed.log_in("admin@example.org", "admin")
    assert (await acting.get(f"/session/{ann.id}")).status == 200
    for client, password in ((bearer, "admin"), (begun, "admin"), (acting, "ann")):
        answer = await client.post("/server/backup", json={"currentPassword": password})
        assert (answer.status, answer.text) == (
            400,
            "log in as yourself, by password or provider, to fetch a backup",
        )
        assert (await client.get(f"/server/backup?ticket={prepared}")).status == 400
    viewing = await backed.log_in("admin@example.org", "admin")
    assert (await viewing.get(f"/session/{ann.id}?viewOnly=true")).status == 200
    assert (await viewing.post("/server/backup", json={"currentPassword": "ann"})).status == 403
    assert await audited(backed, "backup") == []


async def test_a_ticket_is_good_for_a_minute_and_is_no_login(backed):
    prepared = (await ticket(backed.admin))["ticket"]
    assert (await backed.client({"Authorization": f"Bearer {prepared}"}).get("/devices")).status == 401
    assert (await backed.admin.get("/server/backup?ticket=x")).status == 400
    assert (await backed.admin.get("/server/backup")).status == 400
    backed.clock.move_wall(61)
    answer = await backed.admin.get(f"/server/backup?ticket={prepared}")
    assert answer.text == "ticket: the token has expired; ask for the backup once more"


def dumping():
    """Whether a pg_dump of this machine's process runs."""
    mine = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if words[0].endswith(b"pg_dump") and int(parent) == os.getpid():
            mine.append(folder.name)
    return mine


async def until(found):
    with trio.fail_after(60):
        while not found():  # noqa: ASYNC110 - of processes
            await trio.sleep(0.02)


async def test_one_is_made_at_a_time_and_ends_when_its_reader_leaves(backed, database, monkeypatch):
    # More than what sockets hold: the dump waits for its reader. Random, since the dump is compressed.
    await database.execute("create table large (content text)")
    await database.execute(
        "insert into large select string_agg(md5(random()::text), '') from generate_series(1, 400000) as n"
        " group by n % 400"
    )
    monkeypatch.setattr(backup_stream, "PART_BYTES", 100_000)
    base = f"http://127.0.0.1:{backed.port}/api"
    cookies = {"JSESSIONID": backed.cookie(backed.admin)}
    async with httpx.AsyncClient(cookies=cookies, timeout=60) as client:
        first = (await client.post(f"{base}/server/backup", json=PASSWORD)).json()["ticket"]
        second = (await client.post(f"{base}/server/backup", json=PASSWORD)).json()["ticket"]
        async with client.stream("GET", f"{base}/server/backup?ticket={first}") as reading:
            assert reading.status_code == 200
            assert dumping()
            answer = await client.get(f"{base}/server/backup?ticket={second}")
            busy = "another backup is being fetched: one is made at a time"
            assert (answer.status_code, answer.text) == (409, busy)
            assert (await client.post(f"{base}/server/backup", json=PASSWORD)).status_code == 409
        # It left after the first bytes.
        await until(lambda: not dumping())
        await until(lambda: backed.context.limits.backups.available_tokens == 1)
        ends = await audited(backed, "backupEnd")
        assert [each["complete"] for _, each in ends] == [False]
        answer = await client.get(f"{base}/server/backup?ticket={second}")
        assert answer.status_code == 200
    assert backed.context.limits.backups.available_tokens == 1


async def test_who_leaves_within_the_first_piece_is_audited_with_what_they_may_have_had(backed, monkeypatch):
    piece = bytes(64 << 20)

    async def large(*_given):
        yield piece
        await trio.sleep_forever()

    monkeypatch.setattr(backup, "stream_backup", large)
    prepared = (await ticket(backed.admin))["ticket"]
    cookies = {"JSESSIONID": backed.cookie(backed.admin)}
    url = f"http://127.0.0.1:{backed.port}/api/server/backup?ticket={prepared}"
    async with httpx.AsyncClient(cookies=cookies, timeout=60) as client, client.stream("GET", url) as reading:
        assert reading.status_code == 200
    with trio.fail_after(60):
        while not (ends := await audited(backed, "backupEnd")):  # noqa: ASYNC110 - of the server
            await trio.sleep(0.02)
    assert ends == [("backupEnd", {"bytes": len(piece), "complete": False})]


async def test_who_is_no_administrator_any_more_gets_no_more_of_it(backed, monkeypatch):
    monkeypatch.setattr(backup_stream, "PART_BYTES", 20_000)
    ann = await backed.user("ann", administrator=True)
    prepared = (await ticket(ann, currentPassword="ann"))["ticket"]
    pieces = 0
    real = backup.stream_backup

    async def cut(*given):
        nonlocal pieces
        async with aclosing(real(*given)) as found:
            async for piece in found:
                pieces += 1
                if pieces == 3:
                    user = (await backed.admin.get(f"/users/{ann.id}")).json()
                    user["administrator"] = False
                    assert (await backed.admin.put(f"/users/{ann.id}", json=user)).status == 200
                yield piece

    monkeypatch.setattr(backup, "stream_backup", cut)
    with pytest.raises(httpx.RemoteProtocolError):
        await fetched(backed, prepared, ann)
    assert pieces == 3
    assert not dumping()


async def test_why_there_can_be_none_is_said_before_anything_is_sent(backed, monkeypatch):
    prepared = (await ticket(backed.admin))["ticket"]
    with monkeypatch.context() as patch:
        patch.setattr(backup, "major_version", {"18": 18}.get)
        patch.setattr(dumps, "program_version", lambda: "17.2")
        patch.setattr(backup, "major_version", lambda text: int(text.partition(".")[0]))
        for answer in (
            await backed.admin.post("/server/backup", json=PASSWORD),
            await backed.admin.get(f"/server/backup?ticket={prepared}"),
        ):
            assert answer.status == 400
            assert "which pg_dump 17.2 of this release cannot read" in answer.text
    with monkeypatch.context() as patch:
        patch.setattr(backup, "MOST_FILES", 1)
        answer = await backed.admin.post("/server/backup", json=PASSWORD)
        assert answer.text == "there are more than 1 files: use `motorpool backup` on the server"
    # The database cannot be reached by pg_dump.
    settings = backed.context.settings
    backed.context.live.settings = replace(settings, database="postgresql://nobody@127.0.0.1:9/none")
    answer = await backed.admin.get(f"/server/backup?ticket={prepared}")
    assert answer.status == 400
    assert answer.text.startswith("no backup can be made: the database could not be read: pg_dump: error:")
    assert backed.context.limits.backups.available_tokens == 1


async def test_a_slow_reader_and_a_file_that_changes_end_it_without_a_manifest(backed, monkeypatch):
    prepared = (await ticket(backed.admin))["ticket"]
    with monkeypatch.context() as patch:
        patch.setattr(backup, "MOST_SECONDS", -1.0)
        assert (await fetched(backed, prepared)).status_code == 500
    picture = backed.context.settings.data / "media" / "1" / "a.jpg"
    real = backup_stream._read

    async def shortened(file, size):
        picture.write_bytes(b"")
        return await real(file, size)

    monkeypatch.setattr(backup_stream, "_read", shortened)
    with pytest.raises(httpx.RemoteProtocolError):
        await fetched(backed, prepared)
    assert backed.context.limits.backups.available_tokens == 1
