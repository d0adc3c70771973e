"""What servers of the cluster ask each other for live streams that move (actors/video/moving.py)."""

import msgspec
import trio
from quart import Response
from quart import request as current_request
from quart_trio import QuartTrio

from motorpool.actors.messages.live_stream import STREAM, HandedOver, HandOver, LetMove, StreamState
from motorpool.api.cluster.answer_cache import Answer
from motorpool.api.cluster.home_requests import HOME_REQUESTS, HomeRequest
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.node_gate import MOVE_ACTIONS, SHARED_PATH, sender_of
from motorpool.api.http.responses import as_bytes
from motorpool.api.server_context import ServerContext
from motorpool.codecs.media.playlist_window import is_readable
from motorpool.runtime import ActorError, System
from motorpool.storage.cluster.homes import Home

ASK_SECONDS = 10.0
"""For another server to answer. The device's media wait meanwhile."""
HAND_OVER_SECONDS = 8.0
"""For a stream to end."""
MESSAGE_PACK = "application/vnd.msgpack"
LET_MOVE, HAND_OVER = MOVE_ACTIONS


class OtherServers:
    """Asks by HTTP (actors/video/moving.py: OtherServers)."""

    async def let_move(self, system: System, home: Home, stream: tuple[int, int]) -> StreamState | None:
        """Have a server let a stream move; None if it does not answer."""
        content = await _post(system, home, stream, LET_MOVE)
        try:
            return None if content is None else msgspec.msgpack.decode(content, type=StreamState)
        except msgspec.DecodeError:
            return None

    async def hand_over(self, system: System, home: Home, stream: tuple[int, int]) -> HandedOver | None:
        """Have a server end a stream, and return what it had; None if it does not answer."""
        content = await _post(system, home, stream, HAND_OVER)
        try:
            handed = None if content is None else msgspec.msgpack.decode(content, type=HandedOver)
        except msgspec.DecodeError:
            return None
        return handed if handed is not None and is_readable(handed.window) else None


async def _post(system: System, home: Home, stream: tuple[int, int], action: str) -> bytes | None:
    device_id, channel = stream
    path = f"{SHARED_PATH}{device_id}/{channel}/{action}"
    try:
        answer = await system.ref(HOME_REQUESTS).ask(
            HomeRequest(home, device_id, 0, path, "POST"), seconds=ASK_SECONDS
        )
    except ActorError:
        return None
    return answer.body if isinstance(answer, Answer) and answer.status == 200 else None


def add_move_routes(app: QuartTrio, context: ServerContext) -> None:
    """Add what other servers of the cluster ask; nobody else may."""

    async def move(device_id: int, channel: int, action: str) -> Response:
        if sender_of(current_request) is None:
            raise ResourceNotFound("there is no such resource")
        stream, system = (device_id, channel), context.system
        if stream not in system.keys(STREAM):
            raise ResourceNotFound("there is no such stream")
        if action == LET_MOVE:
            if context.home_finder is not None:
                # It is at the server that asks.
                context.home_finder.forget(stream[0])
            state = await system.ref(STREAM, stream).ask(LetMove(), seconds=HAND_OVER_SECONDS)
            content = msgspec.msgpack.encode(state)
        else:
            with trio.CancelScope(shield=True):
                # Begun, it is finished: nobody has the numbers otherwise.
                handed = await system.ref(STREAM, stream).ask(HandOver(), seconds=HAND_OVER_SECONDS)
            content = msgspec.msgpack.encode(handed)
        return as_bytes(content, MESSAGE_PACK, {"Cache-Control": "no-store"})

    for action in MOVE_ACTIONS:
        app.add_url_rule(
            f"{SHARED_PATH}<int:device_id>/<int:channel>/{action}",
            f"stream_{action}",
            move,
            methods=["POST"],
            defaults={"action": action},
        )
