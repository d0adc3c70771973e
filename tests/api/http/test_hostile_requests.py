"""Requests as nobody's client would write them: each costs itself at most, and gets one clear line."""

import base64
import gc
import json
import re
import socket
import threading
from contextlib import suppress

import h11
import pytest
import trio
from tests.api.cases import on_one_server

from motorpool.actors.work.connection_limits import MemoryBudget
from motorpool.api.engine import call
from motorpool.api.json import decode
from motorpool.api.resources import OPERATIONS
from motorpool.api.settings import HttpSettings

SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"


def filled(operation, number=1):
    """A path of an operation, with numbers and names in the braces."""
    return re.sub(
        r"\{(\w+)\}", lambda found: "x" if found[1] in {"path", "file"} else str(number), operation.plain_path
    )


async def test_who_is_refused_before_the_end_of_a_body_may_send_the_next_request_there(starting):
    head, body = b"POST /api/groups HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", b"{}"
    async with starting(listen=True) as served:
        with trio.fail_after(120):
            async with await trio.open_tcp_stream("127.0.0.1", served.port) as stream:
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for pieces in ((head + body,), (head, body), (head[:20], head[20:] + body), (head, body)):
                    for piece in pieces:
                        await stream.send_all(piece)
                        await trio.testing.wait_all_tasks_blocked(0.001)
                    answer = (await stream.receive_some()).lower()
                    assert answer.startswith(b"http/1.1 401")
                    assert b"connection: close" not in answer
                # A body that does not come is not waited for for long.
                await stream.send_all(head)
                answer = (await stream.receive_some()).lower()
                assert answer.startswith(b"http/1.1 401")
                assert b"connection: close" in answer


PROTECTED = [each for each in OPERATIONS if not each.public and each.path != "/server/reboot"]


async def raw(port, request):
    """Bytes as nobody's client would write them; status line and body."""
    with trio.fail_after(120):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await stream.send_all(request)
            answer = b""
            async for piece in stream:
                answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode("latin-1"), body


@pytest.mark.parametrize(
    "path",
    [
        "/../../outside",
        "/..%2f..%2foutside",
        "/%2e%2e/%2e%2e/outside",
        "/a/../../../outside",
        "/..%5c..%5coutside",
        "/%2e%2e%2foutside",
        "/%00",
        "//outside",
        "/%c0%ae%c0%ae/outside",
        "/%252e%252e/%252e%252e/inside",
    ],
)
async def test_no_spelling_of_an_uploads_path_leads_out_of_its_folder(starting, tmp_path, path):
    async with starting(listen=True, data=tmp_path / "a" / "data") as served:
        cookie = served.cookie(served.admin)
        request = (
            f"POST /api/server/file{path} HTTP/1.1\r\nHost: x\r\nCookie: JSESSIONID={cookie}\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
        )
        status, _, _ = await raw(served.port, request.encode())
        kept = [each.relative_to(tmp_path).parts for each in tmp_path.rglob("*side") if each.is_file()]
        if path.endswith("inside"):
            # Encoded twice it is a name like any other.
            assert (status, kept) == (200, [("a", "data", "override", "%2e%2e", "%2e%2e", "inside")])
        else:
            assert status in {400, 404, 405}
            assert kept == []
        for escape in ("/../motorpool.toml", "/..%2f..%2f..%2fetc%2fpasswd", "/console/..%2f..%2fapp.py"):
            status, _, body = await raw(
                served.port, f"GET {escape} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            )
            assert status in {400, 404}
            assert b"root:" not in body


@pytest.mark.parametrize("path", ["http://x/api/groups", "//api/groups", "///api/groups"])
async def test_operations_are_found_by_every_form_of_their_path(starting, path):
    async with starting(listen=True) as served:
        head = f"Host: x\r\nCookie: JSESSIONID={served.cookie(served.admin)}\r\nConnection: close\r\n"
        body = b'{"name":"North"}'
        change = (
            f"POST {path} HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        status, _, _ = await raw(served.port, change.encode() + body)
        assert status == 200
        status, _, found = await raw(served.port, f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
        assert (status, [each["name"] for each in json.loads(found)]) == (200, ["North"])


async def test_a_change_is_made_although_its_client_leaves_behind_the_body(starting):
    async with starting(listen=True) as served:
        head = f"Host: x\r\nCookie: JSESSIONID={served.cookie(served.admin)}\r\n"
        body = b'{"name":"North"}'
        change = (
            f"POST /api/groups HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        with trio.fail_after(120):
            for made in range(20):
                # Who the caller is has been read: the change waits for nothing but its body.
                assert len((await served.admin.get("/groups")).json()) == made
                async with await trio.open_tcp_stream("127.0.0.1", served.port) as stream:
                    await stream.send_all(change + body)
                    await stream.send_eof()
                    answer = b"".join([piece async for piece in stream])
                assert answer.startswith(b"HTTP/1.1 200")


async def test_a_body_past_the_limit_is_413_whether_or_not_its_length_was_said(starting):
    async with starting(listen=True, http=HttpSettings(body_bytes=1000)) as served:
        head = (
            f"POST /api/devices HTTP/1.1\r\nHost: x\r\nCookie: JSESSIONID={served.cookie(served.admin)}\r\n"
            "Content-Type: application/json\r\nConnection: close\r\n"
        )
        said = f"{head}Content-Length: 1001\r\n\r\n".encode() + b" " * 1001
        status, text, _ = await raw(served.port, said)
        assert status == 413
        assert "text/plain" in text
        chunks = b"".join(b"64\r\n" + b" " * 100 + b"\r\n" for _ in range(11)) + b"0\r\n\r\n"
        status, _, _ = await raw(served.port, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks)
        assert status == 413
        assert (await served.admin.get("/devices")).json() == []


def nested(depth):
    return '{"name":"x","uniqueId":"x","attributes":' + '{"a":' * depth + "1" + "}" * depth + "}"


async def test_json_has_a_bottom(served):
    json_type = {"Content-Type": "application/json"}
    for depth in (33, 1000, 100_000):
        answer = await served.admin.post("/devices", data=nested(depth), headers=json_type)
        assert (answer.status, answer.text) == (400, "the JSON body is nested deeper than 32 levels")
    assert (await served.admin.post("/devices", data=nested(30), headers=json_type)).status == 200


HOSTILE = ["\\u0000", "\\ud800", "x\\udfff\\ud800y"]


@pytest.mark.parametrize("text", HOSTILE)
async def test_what_no_database_can_hold_is_400_wherever_it_stands(served, text):
    json_type = {"Content-Type": "application/json"}
    for place, body in (
        ("name", f'{{"name":"{text}","uniqueId":"1"}}'),
        ("uniqueId", f'{{"name":"x","uniqueId":"{text}"}}'),
        ("attributes.a[0]", f'{{"name":"x","uniqueId":"1","attributes":{{"a":["{text}"]}}}}'),
        ("attributes", f'{{"name":"x","uniqueId":"1","attributes":{{"{text}":1}}}}'),
    ):
        answer = await served.admin.post("/devices", data=body, headers=json_type)
        assert answer.status == 400
        assert answer.text.startswith((f"{place}: holds a character that cannot", "the body is not JSON: "))
    assert (await served.admin.get("/devices")).json() == []


@pytest.mark.parametrize("text", ["%00", "%ed%a0%80", "%ff%fe", "%f5%80%80%80", "'%3b--"])
async def test_odd_letters_in_a_query_a_path_or_a_form_never_cost_more_than_the_request(served, text):
    admin = served.admin
    lists = [each for each in OPERATIONS if each.method == "GET" and "{" not in each.path and not each.public]
    for operation in lists:
        names = ("keyword", "uniqueId", "userId", "from", "to", "deviceId", "id", "token")
        query = "&".join(f"{name}={text}" for name in names)
        answer = await admin.get(f"{operation.path}?{query}")
        assert answer.status < 500 or operation.path == "/server/geocode", operation.path
        answer = await admin.get(f"{operation.path}?keyword={text}&uniqueId={text}")
        assert answer.status < 500 or operation.path == "/server/geocode", operation.path
    for path in (f"/media/{text}/{text}", f"/devices/{text}", f"/notifications/test/{text}"):
        assert (await admin.get(path)).status in {400, 404, 405}
    urlencoded = {"Content-Type": "application/x-www-form-urlencoded"}
    form = f"email={text}&password={text}&code={text}"
    assert (await served.client().post("/session", data=form, headers=urlencoded)).status in {400, 401}
    for path in ("/password/reset", "/password/update", "/session/token/revoke", "/session/token"):
        answer = await admin.post(path, data=f"token={text}&expiration={text}&{form}", headers=urlencoded)
        assert answer.status in {200, 400}, path
    word = base64.b64encode(b"a\x00\xff:b\x00").decode()
    assert (await served.client({"Authorization": f"Basic {word}"}).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={text}")).status == (400 if text == "%00" else 404)


@on_one_server("number", [2**63, 2**64, 10**40, -1, -(2**70)])
async def test_ids_that_no_row_has_are_refused_like_any_other(served, number):
    admin = served.admin
    for operation in PROTECTED:
        if operation.method == "GET" and "{" in operation.path:
            answer = await admin.get(filled(operation, number))
            assert answer.status in {400, 404}, operation.path
    for query in ("userId", "deviceId", "groupId", "id"):
        answer = await admin.get(f"/geofences?{query}={number}")
        assert answer.status == (200 if query == "id" else 400)
    assert (await admin.get(f"/positions?id={number}")).status in {400, 404}
    assert (await admin.get(f"/positions?deviceId={number}&{SPAN}")).status in {400, 404}
    assert (
        await admin.post("/devices", json={"name": "x", "uniqueId": "x", "groupId": number})
    ).status == 400
    assert (await admin.post("/permissions", json={"userId": number, "deviceId": number})).status == 400
    assert (await admin.post("/commands/send", json={"deviceId": number, "type": "custom"})).status == 400
    form = {"deviceId": str(number), "expiration": "2026-05-03T00:00:00Z"}
    assert (await admin.post("/share/device", form=form)).status == 400


FORM = "application/x-www-form-urlencoded"


async def test_a_form_is_small_and_has_few_fields(served):
    for body, status, text in (
        ("x" * (64 << 10) + "x", 413, "the body is too large"),
        ("a=1&" * 49 + "a=1", 400, "object missing required field `email`"),
        ("a=1&" * 50 + "a=1", 400, "the form has more than 50 fields"),
        ("&" * 50, 400, "the form has more than 50 fields"),
    ):
        answer = await served.client().post("/session", data=body, headers={"Content-Type": FORM})
        assert (answer.status, answer.text.startswith(text)) == (status, True), answer.text
    part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    for count, text in (
        (50, "object missing required field `email`"),
        (51, "the form has more than 50 fields"),
    ):
        multipart = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = await served.client().post("/session", data=part * count + "--b--\r\n", headers=multipart)
        assert (answer.status, answer.text.startswith(text)) == (400, True), answer.text


async def test_limits_of_json_are_a_mebibyte_and_little_for_strangers(served):
    json_type = {"Content-Type": "application/json"}
    mebibyte = 1 << 20
    for client, path, fits in (
        (served.admin, "/devices", mebibyte),
        (served.client(), "/users", 64 << 10),
    ):
        answer = await client.post(path, data=b" " * fits, headers=json_type)
        assert answer.status == 400, path
        answer = await client.post(path, data=b" " * (fits + 1), headers=json_type)
        assert (answer.status, answer.text) == (413, "the body is too large"), path


async def test_rights_come_before_the_body_in_every_operation(served):
    """What is no JSON is 400 once it is parsed: without a login no operation comes so far."""
    stranger, parsed = served.client(), []
    for operation in PROTECTED:
        for body, form in ((b"{", "application/json"), (b"&" * 60, FORM)):
            path = "/api" + filled(operation)
            answer = await stranger.call(operation.method, path, data=body, headers={"Content-Type": form})
            if answer.status != 401:
                parsed.append((operation.method, operation.path, answer.status))
    assert parsed == []


async def test_of_a_body_that_nobody_takes_hardly_anything_is_read(starting):
    """16 MiB to an operation that needs a login: refused, and most of it never leaves the socket."""
    async with starting(listen=True) as served:
        for path, status in (("/api/devices", 401), ("/api/session", 413), ("/api/server/file/x", 401)):
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\n"
            head += f"Content-Length: {16 << 20}\r\n\r\n"
            # It reads while it sends, as proxies do, which answer 502 if they are reset before.
            stream = await trio.open_tcp_stream("127.0.0.1", served.port)
            sent = 0

            async def send(stream=stream, head=head):
                nonlocal sent
                await stream.send_all(head.encode())
                while sent < 16 << 20:
                    await stream.send_all(bytes(64 << 10))
                    sent += 64 << 10

            with trio.fail_after(120):
                async with trio.open_nursery() as sending:
                    sending.start_soon(send)
                    answer = b""
                    while data := await stream.receive_some():
                        answer += data
                    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
                    # What does not fit into the socket waits.
                    await trio.testing.wait_all_tasks_blocked(0.05)
                    sending.cancel_scope.cancel()
            assert sent < 16 << 20
            await trio.aclose_forcefully(stream)
            # And a client that waits for the answer before it sends gets one.
            stream = await trio.open_tcp_stream("127.0.0.1", served.port)
            await stream.send_all(head.encode() + b"a=1")
            with trio.fail_after(120):
                assert (await stream.receive_some()).startswith(f"HTTP/1.1 {status} ".encode())
            await trio.aclose_forcefully(stream)
        assert served.context.limits.body_memory.held == 0


async def test_a_client_that_sends_a_little_too_much_reads_why_it_was_refused(starting):
    async with starting(listen=True) as served:
        for size in (70_000, 900_000):
            body = b"x" * size
            head = f"POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n"
            status, _, text = await raw(served.port, head.encode() + body)
            assert (status, text) == (413, b"the body is too large")


async def test_a_connection_that_has_ended_holds_nothing_until_garbage_is_collected(starting):
    def connections():
        return [each for each in gc.get_objects() if isinstance(each, h11.Connection)]

    async with starting(listen=True) as served:
        gc.collect()
        gc.disable()
        try:
            with trio.fail_after(120):
                stream = await trio.open_tcp_stream("127.0.0.1", served.port)
                await stream.send_all(
                    b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\nGET /api/server HTTP/1.1\r\nX: "
                    + b"x" * 9000
                )
                while not connections():  # noqa: ASYNC110 - garbage notifies nobody
                    await trio.sleep(0.01)
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
                await trio.aclose_forcefully(stream)
                while connections():  # noqa: ASYNC110 - as above
                    await trio.sleep(0.01)
        finally:
            gc.enable()


async def test_bodies_held_in_memory_are_bounded_for_an_address_and_in_all(starting):
    async with starting(listen=True, http=HttpSettings(trusted_proxies=("127.0.0.0/8",))) as served:
        served.context.limits.body_memory = MemoryBudget(total=2_000_000, per_client=1_200_000)
        cookie = served.cookie(served.admin)
        streams = []

        async def begin(address, size=900_000):
            stream = await trio.open_tcp_stream("127.0.0.1", served.port)
            streams.append(stream)
            before = served.context.limits.body_memory.held
            head = (
                f"POST /api/devices HTTP/1.1\r\nHost: x\r\nCookie: JSESSIONID={cookie}\r\n"
                f"X-Forwarded-For: {address}\r\nContent-Length: {size + 1}\r\n\r\n"
            )
            await stream.send_all(head.encode())
            with suppress(trio.BrokenResourceError):
                await stream.send_all(b" " * size)
            return stream, before + size

        async def held(size):
            with trio.fail_after(120):
                while served.context.limits.body_memory.held != size:  # noqa: ASYNC110 - bytes on their way
                    await trio.sleep(0.001)

        _, expected = await begin("203.0.113.1")
        await held(expected)
        of_the_same, _ = await begin("203.0.113.1")
        with trio.fail_after(120):
            assert (await of_the_same.receive_some()).startswith(b"HTTP/1.1 503 ")
        await held(expected)
        _, expected = await begin("203.0.113.2")
        await held(expected)
        past_all, _ = await begin("203.0.113.3")
        with trio.fail_after(120):
            assert (await past_all.receive_some()).startswith(b"HTTP/1.1 503 ")
        for stream in streams:
            await trio.aclose_forcefully(stream)
        await held(0)


async def test_a_large_body_is_parsed_in_a_thread(served, monkeypatch):
    """Half a million empty lists take longer to parse and check than other tasks may wait."""
    parsed_in = []

    def decode_and_note(body, **chosen):
        parsed_in.append(threading.current_thread())
        return decode(body, **chosen)

    monkeypatch.setattr(call, "decode", decode_and_note)
    json_type = {"Content-Type": "application/json"}
    for body in (b"[[]]", b"[" + b"[]," * 300_000 + b"[]]"):
        answer = await served.admin.post("/devices", data=body, headers=json_type)
        assert answer.status == 400, answer.text
    assert [thread is threading.main_thread() for thread in parsed_in] == [True, False]
