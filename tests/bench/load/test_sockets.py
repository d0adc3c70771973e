"""Positions on a WebSocket, with the time of their arrival."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

import httpx

from motorpool.bench.load.sockets import arrivals
from motorpool.bench.load.watching_socket import WatchingSocket
from motorpool.bench.server import Server


def test_a_position_is_kept_with_the_time_when_it_came(
    start_server: Callable[..., AbstractContextManager[Server]],
) -> None:
    with start_server() as server, server.client() as client:
        token = client.post("/session/token").raise_for_status().text
        login = "Authorization", f"Bearer {token}"
        watching = WatchingSocket(server.host, server.http_port, login, "41.123")
        watching.start()
        assert watching.await_acceptance(60), watching.error
        values = {"id": "van1", "lat": 41.123, "lon": -8.6, "timestamp": 1_770_000_000}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200
        came = threading.Event()
        while not watching.received and watching.is_alive():
            came.wait(0.02)
        position = client.get("/positions").raise_for_status().json()[0]
    found = arrivals(watching.received)
    assert [(each.device_id, each.device_time) for each in found] == [(position["deviceId"], 1_770_000_000.0)]
    # In seconds since 1970, as the server's time is.
    assert abs(found[0].instant - datetime.fromisoformat(position["serverTime"]).timestamp()) < 60
    watching.join(60)
    assert not watching.is_alive()
