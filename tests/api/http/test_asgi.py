from typing import Any

import trio
import trio.lowlevel
import trio.testing

from motorpool.api.http.asgi import Application


async def test_an_answer_is_sent_to_its_end_although_the_request_is_told_to_be_over() -> None:
    app = Application(__name__)

    @app.get("/")
    async def hello() -> str:
        return "hello"

    put, take = trio.open_memory_channel[Any](10)
    put.send_nowait({"type": "http.request", "body": b"", "more_body": False})
    ended: list[str] = []

    async def send(event: Any) -> None:
        if event["type"] == "http.response.body" and not event.get("more_body"):
            # What Hypercorn does inside the last send.
            await put.send({"type": "http.disconnect"})
            await trio.testing.wait_all_tasks_blocked()
            ended.append("whole")

    scope: Any = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"x")],
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "extensions": {},
        "asgi": {"version": "3.0", "spec_version": "2.1"},
    }
    with trio.fail_after(120):
        await app(scope, take.receive, send)
    assert ended == ["whole"]
