"""Connections that a trusted proxy passes on: the PROXY header before the first byte of the device
(docs/servers.md#behind-a-proxy).
"""

import socket
import sys
from typing import Any

import trio

from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.codecs.errors import CodecError
from motorpool.codecs.proxy_protocol import MAX_HEADER_BYTES, ProxyHeader, read_proxy_header

HEADER_SECONDS = 5.0
"""For the header, which a proxy sends as its first bytes: enough for one that is lost and sent again."""


class ProxiedSocket(DeviceSocket):
    """The socket of a device whose address the header named."""

    __slots__ = ("_local_host",)

    def __init__(self, connected: socket.socket, header: ProxyHeader, **arguments: Any) -> None:  # noqa: ANN401
        """Take over `connected`, from which the header was read; `arguments` are those of `DeviceSocket`."""
        super().__init__(connected, **arguments)
        self._local_host = sys.intern(header.server or "")

    @property
    def local_host(self) -> str:
        """The address of the proxy that the device connected to: it reaches the others by it too."""
        return self._local_host or super().local_host


async def receive_proxy_header(accepted: trio.socket.SocketType) -> ProxyHeader | None:
    """Read the header of a new connection and nothing after it; None where the peer closed without a byte,
    as a check of the port does.

    Raises:
        CodecError: the peer sent something else, or closed within the header.
        OSError: the connection failed.
    """
    received = b""
    while True:
        peeked = await accepted.recv(MAX_HEADER_BYTES, socket.MSG_PEEK)
        if not peeked:
            if received:
                raise CodecError("closed within the PROXY header")
            return None
        header = read_proxy_header(received + peeked)
        # What is incomplete belongs to the header as a whole.
        size = len(received) + len(peeked) if header is None else header.size
        while len(received) < size:
            received += await accepted.recv(size - len(received))
        if header is not None:
            return header
