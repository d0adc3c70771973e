"""`/api/socket`: devices, positions, events and tickets as they change, to those who may see them
(docs/http-api.md#websocket).

A client that reads nothing at all is disconnected by api/http/listening_sockets.py.
"""

import trio
from quart import websocket
from quart_trio import QuartTrio

from motorpool.api.http.addresses import client_address
from motorpool.api.http.errors import Unauthorized
from motorpool.api.logins.authentication import identify_socket_caller
from motorpool.api.server_context import ServerContext
from motorpool.api.sockets.live_updates import LiveUpdates


def add_socket(app: QuartTrio, context: ServerContext) -> None:
    """Serve `/api/socket`."""

    @app.websocket("/api/socket")
    async def live_updates() -> None:
        token = websocket.args.get("token")
        caller = await identify_socket_caller(context, token)
        if caller is None:
            raise Unauthorized("log in first")
        updates = LiveUpdates(context, caller, token)
        address = client_address(websocket, context.trusted_proxies)
        with context.limits.open_sockets.hold(caller.id, address):
            await _serve_socket(updates)


async def _serve_socket(updates: LiveUpdates) -> None:
    """Follow all topics and send, until the socket ends."""
    async with trio.open_nursery() as nursery:
        for follow in updates.followers():
            await nursery.start(follow)
        # All topics are subscribed to: nothing that happens from here on is missed.
        await websocket.accept()
        nursery.start_soon(_take_received, updates)
        await updates.load()
        code = await updates.send_all()
        nursery.cancel_scope.cancel()
    await websocket.close(code)


async def _take_received(updates: LiveUpdates) -> None:
    """Take what the client sends: requests for the traffic of devices, and tests of the line."""
    while True:
        # Quart: None for an empty binary message.
        updates.traffic.receive(await websocket.receive() or "")
