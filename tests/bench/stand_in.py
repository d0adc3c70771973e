"""A stand-in for a foreign server: JT/T 808 terminals, and as much of Traccar's API as the bench needs.

`python -m tests.bench.stand_in PORT808 PORTHTTP` serves until it is ended. As Traccar does, it answers no
terminal that nobody has entered. It has no reports and no geofences.
"""

import sys
from contextlib import suppress
from datetime import datetime
from typing import Any

import trio
from hypercorn import Config
from hypercorn.trio import serve
from quart import Response, request
from quart_trio import QuartTrio

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import Login, PositionReport

EMAIL, PASSWORD = "load@example.org", "secret"
SESSION = "a-session"


class StandIn:
    """Devices, positions and WebSockets."""

    def __init__(self) -> None:
        self.devices: dict[int, dict[str, Any]] = {}
        self.positions: dict[int, list[dict[str, Any]]] = {}
        self.watching: set[trio.MemorySendChannel[dict[str, Any]]] = set()
        self.numbers = iter(range(1, 10**9))

    def device_of(self, unique_ids: Any) -> dict[str, Any] | None:
        return next((each for each in self.devices.values() if each["uniqueId"] in unique_ids), None)

    def store(self, device: dict[str, Any], report: PositionReport) -> None:
        instant = report.fix_time or report.device_time
        assert instant is not None
        position = {
            "id": next(self.numbers),
            "deviceId": device["id"],
            "fixTime": instant.isoformat(),
            "deviceTime": instant.isoformat(),
            "latitude": report.latitude,
            "longitude": report.longitude,
        }
        self.positions.setdefault(device["id"], []).append(position)
        for channel in self.watching:
            channel.send_nowait(position)

    async def hear(self, stream: trio.SocketStream) -> None:
        """Serve a terminal."""
        codec, device = Jt808(), None
        with suppress(trio.BrokenResourceError):
            async for content in stream:
                for report in codec.receive(content):
                    if isinstance(report, Login):
                        device = self.device_of(report.unique_ids)
                    elif isinstance(report, PositionReport) and device is not None:
                        self.store(device, report)
                    receipt = getattr(report, "receipt", None)
                    if device is not None and receipt is not None:
                        await stream.send_all(codec.acknowledge([receipt]))


def make_app(server: StandIn) -> QuartTrio:
    """Return the API."""
    app = QuartTrio(__name__)

    def is_known() -> bool:
        login = request.authorization
        return request.cookies.get("JSESSIONID") == SESSION or (
            login is not None and (login.username, login.password) == (EMAIL, PASSWORD)
        )

    @app.before_request
    async def refuse() -> Response | None:
        if request.path in ("/api/session", "/api/server") or is_known():
            return None
        return Response("", 401)

    @app.post("/api/session")
    async def log_in() -> Response:
        form = await request.form
        if (form.get("email"), form.get("password")) != (EMAIL, PASSWORD):
            return Response("", 401)
        answer = Response("{}", content_type="application/json")
        answer.set_cookie("JSESSIONID", SESSION)
        return answer

    @app.get("/api/server")
    async def describe() -> dict[str, Any]:
        return {"id": 1, "version": "stand-in"}

    @app.get("/api/devices")
    async def list_devices() -> list[dict[str, Any]]:
        wanted = request.args.getlist("id")
        return [each for each in server.devices.values() if not wanted or str(each["id"]) in wanted]

    @app.post("/api/devices")
    async def create_device() -> dict[str, Any]:
        body = await request.get_json()
        device = {"id": next(server.numbers), "name": body["name"], "uniqueId": body["uniqueId"]}
        server.devices[device["id"]] = device
        return device

    @app.get("/api/devices/<int:number>")
    async def fetch_device(number: int) -> Any:
        return server.devices.get(number) or Response("", 404)

    @app.delete("/api/devices/<int:number>")
    async def delete_device(number: int) -> Response:
        server.devices.pop(number, None)
        return Response("", 204)

    @app.get("/api/positions")
    async def list_positions() -> list[dict[str, Any]]:
        if "deviceId" not in request.args:
            return [each[-1] for each in server.positions.values()]
        begin, end = (datetime.fromisoformat(request.args[name]) for name in ("from", "to"))
        stored = server.positions.get(int(request.args["deviceId"]), [])
        return [each for each in stored if begin <= datetime.fromisoformat(each["fixTime"]) <= end]

    @app.websocket("/api/socket")
    async def watch() -> None:
        from quart import websocket

        if websocket.cookies.get("JSESSIONID") != SESSION:
            return
        await websocket.accept()
        sender, positions = trio.open_memory_channel[dict[str, Any]](100_000)
        server.watching.add(sender)
        try:
            async for position in positions:
                await websocket.send_json({"positions": [position]})
        finally:
            server.watching.discard(sender)

    return app


async def main(device_port: int, http_port: int) -> None:
    """Serve both ports."""
    server = StandIn()
    config = Config()
    config.bind = [f"127.0.0.1:{http_port}"]
    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_tcp, server.hear, device_port)
        await nursery.start(serve, make_app(server), config)
        print("ready", flush=True)


if __name__ == "__main__":
    trio.run(main, *map(int, sys.argv[1:]))
