"""Registering simulated devices over HTTP, against a server of a few lines."""

import json
from collections.abc import Callable

import h11
import pytest
import trio

from motorpool.bench import target
from motorpool.bench.target import Account, NewDevice, RegistrationRefused, register

Answer = Callable[[str, bytes], tuple[int, bytes]]


async def serve(answer: Answer, *, task_status: trio.TaskStatus[int]) -> None:
    async def hear(stream: trio.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER)
        line, body = "", b""
        async with stream:
            while content := await stream.receive_some(65536):
                connection.receive_data(content)
                while (event := connection.next_event()) is not h11.NEED_DATA:
                    match event:
                        case h11.Request(method=method, target=path):
                            line, body = f"{method.decode()} {path.decode()}", b""
                        case h11.Data(data=piece):
                            body += piece
                        case h11.EndOfMessage():
                            status, content = answer(line, body)
                            head = h11.Response(
                                status_code=status, headers=[("Content-Length", str(len(content)))]
                            )
                            out = (connection.send(head) or b"") + (connection.send(h11.Data(content)) or b"")
                            await stream.send_all(out + (connection.send(h11.EndOfMessage()) or b""))
                            connection.start_next_cycle()
                        case _:
                            return

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, hear, 0)
        task_status.started(listeners[0].socket.getsockname()[1])


def device(unique_id: str) -> NewDevice:
    return NewDevice(
        name=unique_id, unique_id=unique_id, model="SIM-1", category="van", attributes={"channels": 2}
    )


async def test_only_devices_that_are_missing_are_registered(nursery: trio.Nursery) -> None:
    posted = []

    def answer(line: str, body: bytes) -> tuple[int, bytes]:
        if line.startswith("GET /api/devices"):
            return 200, b'[{"id": 1, "uniqueId": "13800100001"}]'
        posted.append(json.loads(body))
        return 200, b"{}"

    port = await nursery.start(serve, answer)
    account = Account(server=f"http://127.0.0.1:{port}", email="a@example.org", password="p")
    with trio.fail_after(120):
        assert await register(account, [device("13800100001"), device("13800100002")]) == 1
    assert posted == [
        {
            "name": "13800100002",
            "uniqueId": "13800100002",
            "model": "SIM-1",
            "category": "van",
            "attributes": {"channels": 2},
        }
    ]
    nursery.cancel_scope.cancel()


async def test_a_server_that_is_not_ready_is_asked_again(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "FIRST_PAUSE_SECONDS", 0.001)
    answers = iter([(503, b"not yet"), (500, b"not yet"), (200, b"[]")])
    port = await nursery.start(serve, lambda *_: next(answers))
    account = Account(server=f"http://127.0.0.1:{port}", email="a@example.org", password="p")
    with trio.fail_after(120):
        assert await register(account, []) == 0
    nursery.cancel_scope.cancel()


async def test_wrong_credentials_are_reported_at_once_without_the_password(nursery: trio.Nursery) -> None:
    port = await nursery.start(serve, lambda *_: (401, b"Unauthorized"))
    account = Account(server=f"http://127.0.0.1:{port}", email="a@example.org", password="secret")
    with trio.fail_after(120), pytest.raises(RegistrationRefused, match="401 Unauthorized") as refused:
        await register(account, [])
    assert "secret" not in str(refused.value)
    nursery.cancel_scope.cancel()
