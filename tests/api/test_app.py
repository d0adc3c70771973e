import errno
import json
from base64 import b64encode

import trio
import trio.testing

from motorpool.actors.messages.conditions import DATABASE, DISK, MEMORY
from motorpool.api.http import server as http_server
from motorpool.api.settings import HttpSettings
from motorpool.storage.errors import (
    DatabaseReadOnly,
    DiskFull,
    NoAnswer,
    Overloaded,
    StorageUnavailable,
    TooManyConnections,
    TooManyFiles,
)

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


async def test_every_answer_has_security_headers_and_refusals_are_one_line(served):
    for answer in (
        await served.admin.get("/devices"),
        await served.client().get("/devices"),
        await served.client().get("/nothing"),
    ):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
        assert answer.headers["Cache-Control"] == "no-store"
        if answer.status != 200:
            assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert answer.text
            assert "\n" not in answer.text


async def test_without_an_origin_everybody_may_read_and_with_one_only_the_listed(starting):
    async with starting(http=HttpSettings(cors_origin="https://app.example, https://two.example")) as served:
        anonymous = served.client()
        assert (await anonymous.get("/server")).headers["Access-Control-Allow-Origin"] == "*"
        listed = await anonymous.get("/server", headers={"Origin": "https://two.example"})
        assert listed.headers["Access-Control-Allow-Origin"] == "https://two.example"
        assert listed.headers["Access-Control-Allow-Credentials"] == "true"
        other = await anonymous.get("/server", headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in other.headers


async def test_options_needs_no_login(served):
    answer = await served.client().call("OPTIONS", "/api/devices", headers={"Origin": "https://x.example"})
    assert answer.status == 200
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]


async def test_a_wrong_method_is_405_and_an_unknown_path_404(served):
    answer = await served.admin.call("PATCH", "/api/devices")
    assert answer.status == 405
    assert "GET" in answer.headers["Allow"]
    assert (await served.admin.get("/devices/")).status == 404
    number = await served.device(served.admin, "1")
    assert (await served.admin.get(f"/devices/{number}")).status == 200
    for script in (0x0660, 0xFF10):
        # Digits of other scripts, which int() reads as well.
        assert (await served.admin.get(f"/devices/{chr(script + number)}")).status == 404
    assert (await served.admin.get("//devices")).status == 404


async def test_a_body_past_the_limit_is_413(starting):
    async with starting(http=HttpSettings(body_bytes=2000)) as served:
        body = json.dumps({"name": "x" * 3000, "uniqueId": "1"})
        answer = await served.admin.post("/devices", data=body)
        assert answer.status == 413
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert (
            await served.admin.post("/session", form={"email": "x" * 3000, "password": "y"})
        ).status == 413


async def test_a_body_that_is_no_record_is_400(served):
    for body in [b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"name":' + b"[" * 5000]:
        assert (await served.admin.post("/devices", data=body)).status == 400


async def test_while_the_database_is_away_calls_are_503_with_retry_after_and_health_is_500(
    served, monkeypatch
):
    async def away(*_: object) -> None:
        raise StorageUnavailable("the server is restarting")

    monkeypatch.setattr(type(served.context.database), "fetch", away)
    monkeypatch.setattr(type(served.context.database), "check", away)
    answer = await served.admin.get("/devices")
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1
    for client in (served.client(), served.admin):
        health = await client.get("/health")
        assert health.status == 500


async def test_who_logged_in_is_not_told_that_nobody_has_while_that_cannot_be_checked(served, monkeypatch):
    async def away(*_: object) -> None:
        raise StorageUnavailable("the server is restarting")

    basic = {"Authorization": f"Basic {b64encode(b'admin@example.org:admin').decode()}"}
    assert (await served.client().get("/session", headers=basic)).status == 200
    monkeypatch.setattr(type(served.context.database), "fetch", away)
    served.context.logins.accounts.clear()
    answer = await served.client().get("/session", headers=basic)
    assert (answer.status, answer.text) == (503, StorageUnavailable.text)
    # A manager's request must not be taken for a stranger's.
    body = {"name": "Ann", "email": "ann@example.org", "password": "ann"}
    assert (await served.client().post("/users", json=body, headers=basic)).status == 503
    assert (await served.client().get("/session")).status == 404


async def test_503_says_why(served, monkeypatch):
    conditions = served.context.system.conditions

    async def answered(error):
        async def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(type(served.context.database), "fetch", fail)
        answer = await served.admin.get("/devices")
        assert answer.status == 503
        return answer.text

    assert await answered(StorageUnavailable("secret host")) == "the database cannot be reached now"
    assert await answered(DiskFull("secret path")) == "the disk of the database is full"
    assert await answered(DatabaseReadOnly("x")) == "the database is read-only now"
    assert await answered(TooManyConnections("x")) == "the database takes no more connections"
    assert await answered(TooManyFiles("x")) == "the server has too many files and connections open"
    assert (
        await answered(OSError(errno.EMFILE, "secret path"))
        == "the server has too many files and connections open"
    )
    assert await answered(NoAnswer("x")) == "the database does not answer in time"
    assert await answered(Overloaded("x")) == "the server is too busy; try again"
    # Who finds the connection closed learns what others have found out.
    conditions.enter(DATABASE, "details", DiskFull.text)
    assert await answered(StorageUnavailable("closed")) == "the disk of the database is full"
    assert await answered(Overloaded("x")) == "the disk of the database is full"
    conditions.leave(DATABASE)
    conditions.enter(DISK, "0 MiB are free")
    assert (
        await answered(StorageUnavailable("closed"))
        == "the database cannot be reached now: the disk of the server is nearly full"
    )


async def test_while_memory_is_short_large_work_is_refused_and_all_else_goes_on(served):
    number = await served.device(served.admin, "1")
    day = {"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}
    refused = (
        ("GET", f"/stream/{number}/1/live.m3u8", {}),
        ("GET", f"/stream/{number}/1/snapshot.jpg", {}),
        ("POST", f"/captures?deviceId={number}&channel=1", {}),
        ("POST", "/commands/send", {"json": {"deviceId": number, "type": "videoStart"}}),
        ("GET", "/reports/trips/xlsx", {"query_string": {"deviceId": number, **day}}),
        ("GET", "/reports/devices", {"headers": {"Accept": WORKBOOK}}),
    )
    served.context.system.conditions.enter(MEMORY, "950 MiB of 1024 MiB are used")
    for method, path, sent in refused:
        answer = await served.admin.call(method, f"/api{path}", **sent)
        assert (answer.status, answer.text) == (503, MEMORY.text), path
        assert answer.headers["Retry-After"] == "30"
    assert (await served.admin.get("/positions")).status == 200
    assert (await served.client().get("/health")).status == 200
    served.context.system.conditions.leave(MEMORY)
    assert (await served.admin.get("/reports/devices")).status == 200


async def test_a_mistake_of_ours_is_500_and_tells_nothing(served, monkeypatch, caplog):
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the server")

    monkeypatch.setattr(type(served.context.database), "check", broken)
    answer = await served.client().get("/health")
    assert (answer.status, answer.text) == (500, "internal error")
    assert "secret of the server" in caplog.text


async def test_an_actor_that_does_not_answer_is_503(served, monkeypatch):
    from motorpool.runtime import AskTimedOut, Ref

    async def slow(self: object, request: object, seconds: float = 5.0) -> None:
        raise AskTimedOut("directory", "GetDeviceStatuses", seconds)

    await served.device(served.admin, "1")
    monkeypatch.setattr(Ref, "ask", slow)
    assert (await served.admin.get("/positions")).status == 503


async def test_the_clients_address_is_the_proxys_word_only_where_the_proxy_is_trusted(starting, database):
    async with starting(http=HttpSettings(trusted_proxies=("10.0.0.0/8",))) as served:
        form = {"email": "admin@example.org", "password": "admin"}
        for peer, forwarded, address in (
            ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
            ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ):
            answer = await served.client().post(
                "/session",
                form=form,
                headers={"X-Forwarded-For": forwarded},
                scope_base={"client": (peer, 1)},
            )
            assert answer.status == 200
            noted = await database.fetch_value("select address from audit order by id desc limit 1")
            assert noted == address


async def test_clients_that_leave_in_the_middle_leave_the_database_usable(starting):
    # Over a real socket: the test client's own nursery does not survive being cancelled.
    async with starting(listen=True) as served:
        credentials = b64encode(b"admin@example.org:admin").decode()
        head = "GET /api/devices?all=true HTTP/1.1\r\nHost: localhost\r\n"
        head += f"Authorization: Basic {credentials}\r\n\r\n"
        for milliseconds in range(5):
            client = await trio.open_tcp_stream("127.0.0.1", served.port)
            await client.send_all(head.encode())
            await trio.sleep(milliseconds / 1000)
            await trio.aclose_forcefully(client)
        assert (await served.admin.get("/devices")).status == 200


async def test_a_change_that_waits_in_the_database_does_not_hold_up_the_stop(starting, database, monkeypatch):
    monkeypatch.setattr(http_server, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(http_server, "CHANGE_SECONDS", 0.05)
    async with database.transaction() as holder:
        async with starting(listen=True) as served:
            number = await served.device(served.admin, "1")
            await holder.execute("select from devices where id = $1 for update", number)
            body = b'{"name": "other", "uniqueId": "1"}'
            head = (
                f"PUT /api/devices/{number} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
                f"Cookie: JSESSIONID={served.cookie(served.admin)}\r\n\r\n"
            )
            client = await trio.open_tcp_stream("127.0.0.1", served.port)
            await client.send_all(head.encode() + body)
            waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            while not await database.fetch_value(waiting):  # noqa: ASYNC110 - another process says so
                await trio.sleep(0.01)
            await client.aclose()
            began = trio.current_time()
        # Well below the time after which the statement itself is given up.
        assert trio.current_time() - began < 20
    assert await database.fetch_value("select name from devices") == "Vehicle 1"


async def test_rights_that_end_while_a_body_is_on_its_way_have_ended(served):
    boss = await served.user("boss", administrator=True)
    body = (await served.admin.get(f"/users/{boss.id}")).json()
    headers = {"Cookie": f"JSESSIONID={served.cookie(boss)}", "Content-Type": "application/json"}
    client = served.app.test_client(use_cookies=False)
    async with client.request(f"/api/users/{boss.id}", method="PUT", headers=headers) as request:
        sent = json.dumps({**body, "name": "Boss"}).encode()
        await request.send(sent[:5])
        # Identified by what is in memory, the request waits for its body.
        await trio.testing.wait_all_tasks_blocked()
        demoted = await served.admin.put(f"/users/{boss.id}", json={**body, "administrator": False})
        assert demoted.status == 200
        await request.send(sent[5:])
        await request.send_complete()
        answer = await request.as_response()
    assert answer.status_code == 400
    assert (await served.admin.get(f"/users/{boss.id}")).json()["administrator"] is False
