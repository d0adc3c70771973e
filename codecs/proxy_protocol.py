"""The PROXY header, in which a TCP proxy names the client before the first byte of a connection.

Versions 1 (a line of text) and 2 (binary) of the public specification
(https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt, sections 2.1 and 2.2). Extensions of version 2
(TLVs) are skipped, their checksum included.
"""

import ipaddress
from dataclasses import dataclass

from motorpool.codecs.errors import FrameError

MAX_HEADER_BYTES = 4096
"""Longest header that is read. Version 1 has at most 107 bytes; of version 2 the addresses take 216 at most,
the rest are extensions."""
MAX_LINE_BYTES = 107
"""Longest header of version 1, with the end of the line (section 2.1)."""

LINE_START = b"PROXY "
LINE_END = b"\r\n"
SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
FIXED_BYTES = 16
"""Bytes of version 2 before the addresses: signature, version and command, family and transport, length."""
VERSION = 2
LOCAL, PROXY = 0, 1
"""Commands of version 2: a connection of the proxy itself, such as a health check; one of a client."""
ADDRESS_BYTES = {0: 0, 1: 12, 2: 36, 3: 216}
"""Length of the addresses and ports of each family of version 2: none, IPv4, IPv6, Unix sockets."""
STREAM = 1
TRANSPORTS = {0, STREAM, 2}
"""Unspecified, stream, datagram."""


@dataclass(frozen=True, slots=True)
class ProxyHeader:
    """The content of a header, without the ports."""

    size: int
    """Bytes of the header; what follows is the client's."""
    client: str | None = None
    """IP address of the client; None: the header names none, so the connection counts as the proxy's own."""
    server: str | None = None
    """IP address of the proxy that the client connected to; None with `client`."""


def read_proxy_header(data: bytes) -> ProxyHeader | None:
    """Return the header at the start of `data`, or None while it is incomplete.

    Raises:
        FrameError: the data does not begin with a header, or with one that is malformed or too long.
    """
    if data[: len(SIGNATURE)] == SIGNATURE[: len(data)]:
        return _read_binary(data) if len(data) >= FIXED_BYTES else None
    if data[: len(LINE_START)] == LINE_START[: len(data)]:
        return _read_line(data)
    raise FrameError("no PROXY header")


def _read_line(data: bytes) -> ProxyHeader | None:
    line, end, _ = data[:MAX_LINE_BYTES].partition(LINE_END)
    if not end:
        if len(data) < MAX_LINE_BYTES:
            return None
        raise FrameError("a PROXY header of version 1 that is too long")
    size = len(line) + len(LINE_END)
    family, *values = line[len(LINE_START) :].split(b" ")
    if family == b"UNKNOWN":
        return ProxyHeader(size)
    if family not in (b"TCP4", b"TCP6") or len(values) != 4:
        raise FrameError("a malformed PROXY header of version 1")
    client, server, *ports = values
    if not all(map(_is_port, ports)):
        raise FrameError("a PROXY header of version 1 with a malformed port")
    return ProxyHeader(size, _read_address(family, client), _read_address(family, server))


def _is_port(text: bytes) -> bool:
    is_number = text.isdigit() and len(text) <= 5 and (text == b"0" or not text.startswith(b"0"))
    return is_number and int(text) <= 0xFFFF


def _read_address(family: bytes, text: bytes) -> str:
    try:
        if family == b"TCP4":
            return str(ipaddress.IPv4Address(text.decode("ascii")))
        address = ipaddress.IPv6Address(text.decode("ascii"))
    except ValueError:
        raise FrameError("a PROXY header of version 1 with a malformed address") from None
    if address.scope_id is not None:
        raise FrameError("a PROXY header of version 1 with a malformed address")
    return str(address)


def _read_binary(data: bytes) -> ProxyHeader | None:
    version, command = divmod(data[12], 16)
    family, transport = divmod(data[13], 16)
    size = FIXED_BYTES + int.from_bytes(data[14:16], "big")
    if version != VERSION or command not in (LOCAL, PROXY):
        raise FrameError("a PROXY header of an unknown version or command")
    if size > MAX_HEADER_BYTES:
        raise FrameError("a PROXY header of version 2 that is too long")
    if command == PROXY:
        if family not in ADDRESS_BYTES or transport not in TRANSPORTS:
            raise FrameError("a PROXY header of an unknown family or transport")
        if size < FIXED_BYTES + ADDRESS_BYTES[family]:
            raise FrameError("a PROXY header that is too short for its addresses")
    if len(data) < size:
        return None
    if command == PROXY and transport == STREAM:
        addresses = data[FIXED_BYTES:size]
        if family == 1:
            return ProxyHeader(size, *(str(ipaddress.IPv4Address(addresses[at : at + 4])) for at in (0, 4)))
        if family == 2:
            return ProxyHeader(size, *(str(ipaddress.IPv6Address(addresses[at : at + 16])) for at in (0, 16)))
    return ProxyHeader(size)
