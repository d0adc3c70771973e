"""Tries the installed package in short: `python smoke.py`.

Starts a server with its embedded database, lets a device report, reads its position, the console and what a
WebSocket says, and stops the server in order. Imports nothing but the package and what that depends on. What
fails is an assertion, or an exception.
"""

import base64
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import msgspec
from wsproto import ConnectionType, WSConnection
from wsproto.events import Request, TextMessage

from motorpool.bench.server import EMAIL, Server, ServerProcess, run_server, start_process

DEVICE = {"id": "13912345678", "lat": 52.52, "lon": 13.405, "speed": 12, "timestamp": 1_790_000_000}
SECONDS = 60.0


def try_server(
    settings: Mapping[str, str] | None = None,
    start: Callable[[Path, Mapping[str, str]], ServerProcess] = start_process,
) -> str:
    """Go through all of it; return the log of the server. The arguments are those of `run_server`."""
    with run_server(settings, start) as server:
        httpx.get(f"http://{server.host}:{server.osmand_port}/", params=DEVICE).raise_for_status()
        with server.client() as client:
            [position] = client.get("/positions").raise_for_status().json()
            assert (position["latitude"], position["longitude"]) == (DEVICE["lat"], DEVICE["lon"]), position
            page = client.get(f"{server.url}/").raise_for_status()
            assert '<script type="module"' in page.text, page.text
        told = first_message(server)
        assert [each["id"] for each in told["positions"]] == [position["id"]], told
        server.process.terminate()
        code = server.process.wait(SECONDS)
        assert code == 0, f"the server ended with code {code}"
        assert "Traceback" not in server.log, server.log
        return server.log


def first_message(server: Server) -> dict[str, list[dict[str, object]]]:
    """Return what a WebSocket says at first."""
    login = base64.b64encode(f"{EMAIL}:{server.password}".encode())
    connection = WSConnection(ConnectionType.CLIENT)
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), SECONDS) as stream:
        request = Request(host, "/api/socket", extra_headers=[(b"authorization", b"Basic " + login)])
        stream.sendall(connection.send(request))
        text = ""
        while data := stream.recv(65536):
            connection.receive_data(data)
            for event in connection.events():
                if isinstance(event, TextMessage):
                    text += event.data
                    if event.message_finished:
                        return msgspec.json.decode(text, type=dict[str, list[dict[str, object]]])
    raise AssertionError("the WebSocket was closed before its first message")


if __name__ == "__main__":
    try_server()
