"""The HTTP server as an actor: Hypercorn's connections on our own listeners (listening_sockets.py)."""

import contextlib
import errno
import logging
import secrets
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Never
from urllib.parse import urlsplit

import trio
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hypercorn.utils import wrap_app
from quart_trio import QuartTrio

from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.gateway.port_guard import HTTP_SHARE, descriptor_share
from motorpool.actors.work.bind_errors import bind_problem
from motorpool.actors.work.networks import Networks
from motorpool.api.http.departure import Departure
from motorpool.api.http.listening_sockets import (
    AbortableStream,
    Admission,
    ConnectionListener,
    bind,
    tls_listener,
)
from motorpool.api.http.node_gate import NodeGate
from motorpool.api.http.tcp_server import ConnectionConfig, HttpConnection
from motorpool.api.settings import HttpSettings
from motorpool.runtime import Actor, System

GRACE_SECONDS = 2.0
"""How long requests in progress may take to end at shutdown before they are aborted."""

NODE_CONNECTIONS = 4_000
"""Most connections from other servers of the cluster, each of which opens a thousand at most."""

CHANGE_SECONDS = 3.0
"""How much longer a request that changes something may take after the grace time before its transaction is
rolled back."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ServedApp:
    """An application, and what ends its requests at shutdown."""

    app: QuartTrio
    closing: trio.Event
    """Set to end WebSockets and other requests without an end of their own."""
    changes: Collection[trio.CancelScope] = ()
    """Shields of requests that change something, which a client that disconnects does not cancel."""


@dataclass(frozen=True, kw_only=True)
class NodeListener:
    """Where other servers of the cluster reach this one."""

    url: str
    """Without a slash at the end."""
    sockets: Sequence[socket.socket]
    key: str
    """What they show."""


def open_node_listener(address: str, inherited: InheritedSockets | None = None) -> NodeListener:
    """Bind at the URL that other servers reach this one at, with a new key. Raises OSError."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    sockets = bind(parts.hostname, parts.port, "[node] address", inherited)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    url = f"http://{host}:{sockets[0].getsockname()[1]}"
    return NodeListener(url=url, sockets=sockets, key=secrets.token_urlsafe(32))


class HttpServer(Actor[Never]):
    """Serves HTTP until stopped; stopping takes at most the grace time whatever clients do."""

    def __init__(
        self,
        app_factory: Callable[[System], ServedApp],
        sockets: Sequence[socket.socket],
        settings: HttpSettings,
        nodes: NodeListener | None = None,
        *,
        load: ServerLoad | None = None,
        departure: Departure | None = None,
    ) -> None:
        """Take bound sockets, none where others serve users, and how other servers reach this one. `load`
        counts the connections of sockets that other servers of the machine accept from, `departure` says when
        they go on alone.
        """
        self._app_factory = app_factory
        self._sockets = sockets
        self._settings = settings
        self._nodes = nodes
        self._load = load
        self._departure = departure or Departure()
        self._stopping = trio.Event()
        self._ended = trio.Event()

    async def start(self) -> None:
        """Create the application and listen; the bound sockets survive a restart of this actor."""
        self._served = self._app_factory(self.context.system)
        for bound in (*self._sockets, *(self._nodes.sockets if self._nodes is not None else ())):
            try:
                bound.listen(self._settings.backlog)
            except OSError as error:
                host, port = bound.getsockname()[:2]
                problem = bind_problem(error, "bind or [node] address")
                raise OSError(error.errno, f"cannot listen on {host}:{port}: {problem}") from None

    async def run(self) -> None:
        """Serve, on duplicates of the bound sockets."""
        admission = Admission(
            total=min(self._settings.connections, descriptor_share(HTTP_SHARE)),
            per_client=self._settings.connections_per_address,
            proxies=Networks(self._settings.trusted_proxies),
            conditions=self.context.system.conditions,
        )
        stall = self._settings.stall_seconds
        public = [
            ConnectionListener(bound.dup(), admission=admission, stall_seconds=stall, load=self._load)
            for bound in self._sockets
        ]
        internal = [] if self._nodes is None else _node_listeners(self._nodes, stall)
        listeners = public + internal
        config = hypercorn_config(self._settings)
        context = WorkerContext(None)
        tls = tls_context(self._settings)
        accepting_from: list[trio.abc.Listener[Any]] = [
            listener if tls is None else tls_listener(listener, tls) for listener in public
        ]

        def serve(served: ASGIFramework) -> Callable[[AbortableStream], Awaitable[None]]:
            app = wrap_app(served, config.wsgi_max_body_size, "asgi")
            return partial(self._serve, partial(HttpConnection, app, config, context))

        try:
            async with trio.open_nursery() as connections:
                try:
                    async with trio.open_nursery() as accepting:
                        accept = partial(trio.serve_listeners, handler_nursery=connections)
                        departure = self._departure
                        departure.in_progress = lambda: (
                            sum(each.connections for each in public) - len(admission.idle)
                        )
                        if accepting_from:
                            accepting.start_soon(
                                self._accept_until_departure,
                                partial(accept, serve(self._served.app), accepting_from),
                                config,
                            )
                        accepting.start_soon(self._close_at_departure)
                        if self._nodes is not None:
                            gate = NodeGate(self._served.app, self._nodes.key)
                            accepting.start_soon(accept, serve(gate), internal)
                        await self._stopping.wait()
                        accepting.cancel_scope.cancel()
                    self._served.closing.set()
                    await context.terminated.set()
                    with trio.move_on_after(GRACE_SECONDS):
                        for listener in listeners:
                            await listener.wait_empty()
                finally:
                    for change in tuple(self._served.changes):
                        change.deadline = trio.current_time() + CHANGE_SECONDS
                    # Hypercorn shields its sends and closes; closing the sockets ends them.
                    for listener in listeners:
                        listener.abort_all()
                    connections.cancel_scope.cancel()
        finally:
            for listener in listeners:
                listener.close()
            admission.spare_files.close()
            self._ended.set()

    async def _accept_until_departure(
        self, accept: Callable[[], Awaitable[Never]], config: ConnectionConfig
    ) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept)
            await self._departure.begun.wait()
            nursery.cancel_scope.cancel()
        # Each answer is the last one of its connection from now on, and says so.
        config.keep_alive_max_requests = 0

    async def _close_at_departure(self) -> None:
        await self._departure.closing.wait()
        self._served.closing.set()

    async def stop(self) -> None:
        """Stop accepting, let requests end, abort the rest."""
        self._stopping.set()
        await self._ended.wait()

    async def _serve(self, make: Callable[..., HttpConnection], stream: AbortableStream) -> None:
        try:
            await make(ConnectionState({}), stream)
        except Exception:
            # The failure of one connection must not end the others.
            _log.exception("an HTTP connection failed")
        finally:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await trio.aclose_forcefully(stream)


def _node_listeners(nodes: NodeListener, stall_seconds: float) -> list[ConnectionListener]:
    admission = Admission(total=NODE_CONNECTIONS, per_client=NODE_CONNECTIONS, proxies=Networks())
    return [
        ConnectionListener(bound.dup(), admission=admission, stall_seconds=stall_seconds)
        for bound in nodes.sockets
    ]


def hypercorn_config(settings: HttpSettings) -> ConnectionConfig:
    """Build Hypercorn's configuration (docs/performance.md#http)."""
    config = ConnectionConfig()
    config.keep_alive_timeout = settings.keep_alive_seconds
    config.head_timeout = settings.head_seconds
    config.keep_alive_max_requests = settings.requests_per_connection
    # Seconds without a byte from the client; the pings below keep idle WebSockets alive.
    config.read_timeout = round(settings.idle_seconds)
    config.websocket_ping_interval = max(10.0, settings.idle_seconds / 5)
    # Clients of /api/socket send nothing that is read.
    config.websocket_max_message_size = 4 * 1024
    # Pieces of a body that may wait; the rest stays in the operating system's buffer. Requests
    # that only read take none (asgi.py), so the ends of the body and of the connection must fit.
    config.max_app_queue_size = 2
    config.h11_max_incomplete_size = 64 * 1024
    config.ssl_handshake_timeout = 10.0
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    # docs/decisions/0132
    config.alpn_protocols = ["http/1.1"]
    if settings.tls_certificate is not None and settings.tls_key is not None:
        config.certfile = str(settings.tls_certificate)
        config.keyfile = str(settings.tls_key)
    return config


def tls_context(settings: HttpSettings) -> ssl.SSLContext | None:
    """Read certificate and key; None if none are set. Raises OSError with a text for the operator."""
    for name, path in (("tls_certificate", settings.tls_certificate), ("tls_key", settings.tls_key)):
        try:
            content = path.read_bytes() if path is not None else b""
        except OSError as error:
            raise OSError(error.errno, f"[http] {name}: {path} cannot be read: {error.strerror}") from None
        if b"ENCRYPTED" in content:
            # OpenSSL would prompt for the password on the terminal.
            raise OSError(errno.EINVAL, f"[http] {name}: {path} is encrypted; the key must be plain")
    try:
        return hypercorn_config(settings).create_ssl_context()
    except ssl.SSLError as error:
        files = f"{settings.tls_certificate} and {settings.tls_key}"
        wrong = (
            "the key is not that of the certificate"
            if error.reason == "KEY_VALUES_MISMATCH"
            else f"they are no certificate and key in PEM ({error.reason or error})"
        )
        raise OSError(errno.EINVAL, f"[http] tls_certificate and tls_key: {files}: {wrong}") from None
