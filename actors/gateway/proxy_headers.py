"""The PROXY header, which a trusted proxy sends before the first byte of a device
(docs/servers.md#behind-a-proxy).
"""

import socket

import trio

from motorpool.codecs.errors import CodecError
from motorpool.codecs.proxy_protocol import MAX_HEADER_BYTES, ProxyHeader, read_proxy_header

HEADER_SECONDS = 5.0
"""For the header, which a proxy sends as its first bytes: enough for one that is lost and sent again."""


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
