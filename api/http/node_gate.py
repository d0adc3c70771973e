"""What other servers of the cluster may request with the key of this one (docs/decisions/0286)."""

import hmac
from typing import Any, cast

import msgspec
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, Scope
from quart import Request, Websocket

KEY_HEADER = "Motorpool-Key"
"""Holds the key of the server that is asked (storage/database/nodes.py)."""
CALLER_HEADER = "Motorpool-Caller"
"""Holds a `Sender` as JSON."""
CLIENT_HEADER = "Motorpool-Client"
"""Holds the address of the client."""

PATHS = ("/api/stream/", "/api/playbacks", "/api/captures")
"""Beginnings of the paths that are served to other servers."""
SHARED_PATH = "/api/stream/"
"""Reads below this path are also served without a user: the asking server has checked the rights of all who
get the answer."""
MOVE_ACTIONS = ("letmove", "handover")
"""Ends of the paths below SHARED_PATH to which servers post for themselves (api/cluster/stream_moves.py)."""
METRICS_PATH = "/metrics"
"""Served likewise: the asking server gives it to those who may read its own."""
WATCHED_PATHS = (METRICS_PATH, "/api/health")
"""Read without the key, too, as from the port of users: a server may have no other for those who watch it."""
_SCOPE_KEY = "motorpool.sender"


class Sender(msgspec.Struct, frozen=True, rename="camel"):
    """The user for whom another server sends a request."""

    user_id: int = 0
    """0: for the server itself, which shares the answer among those that may see it."""
    impersonator_id: int = 0
    """Who acts as that user; 0 if it is the user."""
    sharer_id: int = 0
    """Who gave this temporary user access by sharing; 0 for other users."""


def sender_of(request: Request | Websocket) -> Sender | None:
    """Return the user for whom another server sent a request; None for a request of a client."""
    return cast("dict[str, Any]", request.scope).get(_SCOPE_KEY)


class NodeGate:
    """An application that passes on what other servers, and who watches this one, may request of `app`."""

    def __init__(self, app: ASGIFramework, key: str) -> None:
        self._app = app
        self._key = key.encode()

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request: with the key, of a path and for a sender that are allowed; 403 otherwise."""
        if scope["type"] not in {"http", "websocket"}:
            return
        headers = dict(scope["headers"])
        shown = headers.get(KEY_HEADER.lower().encode(), b"")
        if not shown and scope["type"] == "http" and scope["path"] in WATCHED_PATHS:
            await self._app(scope, receive, send)
            return
        sender = _read_sender(headers.get(CALLER_HEADER.lower().encode(), b"{}"))
        # A socket is nobody's but its user's.
        is_shared = scope["type"] == "http" and _is_shared(scope["method"], scope["path"])
        if (
            not hmac.compare_digest(shown, self._key)
            or not (scope["path"].startswith(PATHS) or scope["path"] == METRICS_PATH)
            or sender is None
            or not (sender.user_id or is_shared)
        ):
            if scope["type"] == "websocket":
                # Before it is accepted: the answer is 403.
                await send({"type": "websocket.close", "code": 1008, "reason": None})
            else:
                await _refuse(send)
            return
        changed = cast("dict[str, Any]", {**scope, _SCOPE_KEY: sender})
        if client := headers.get(CLIENT_HEADER.lower().encode()):
            changed["client"] = (client.decode("latin-1"), 0)
        await self._app(cast("Scope", changed), receive, send)


def _is_shared(method: str, path: str) -> bool:
    """Whether a server may request this for itself."""
    if method == "POST":
        return path.startswith(SHARED_PATH) and path.endswith(tuple(f"/{each}" for each in MOVE_ACTIONS))
    return method == "GET" and (path.startswith(SHARED_PATH) or path == METRICS_PATH)


def _read_sender(text: bytes) -> Sender | None:
    try:
        return msgspec.json.decode(text, type=Sender)
    except msgspec.DecodeError:
        return None


async def _refuse(send: ASGISendCallable) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"24")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": b"for servers of a cluster", "more_body": False})
