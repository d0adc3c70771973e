"""The HTTP/1.1 that load programs need of an answer, so that the client does not limit the measurement."""

from typing import NamedTuple


class Answer(NamedTuple):
    """An answer that has come whole."""

    status: int
    status_line: str
    body_bytes: int
    is_last: bool
    """Whether the server closes the connection after it."""


def authority(host: str, port: int) -> str:
    """Return host and port as in the header `Host`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def held_seconds(timing: str) -> float:
    """Return for how long the server held an answer, by its header `Server-Timing`; 0 where it has none."""
    return float(timing.removeprefix("hold;dur=") or 0) / 1000


def read_answer(received: bytearray) -> Answer | None:
    """Return the answer at the beginning of what was received, None while it is not whole.

    Raises:
        ValueError: it has neither a length nor chunks, or is no HTTP.
    """
    head_end = received.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    head = bytes(received[:head_end]).lower()
    if b"\r\ntransfer-encoding: chunked" in head:
        body = _chunked_bytes(received, head_end + 4)
    else:
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        body = length if len(received) >= head_end + 4 + length else None
    if body is None:
        return None
    line = head.split(b"\r\n", 1)[0].decode("latin-1")
    return Answer(int(line.split(" ", 2)[1]), line, body, b"\r\nconnection: close" in head)


def _chunked_bytes(received: bytearray, start: int) -> int | None:
    """Return the length of a body in chunks, which begins at `start`; None if it is not whole."""
    length = 0
    while True:
        line_end = received.find(b"\r\n", start)
        if line_end < 0:
            return None
        size = int(received[start:line_end].split(b";", 1)[0], 16)
        start = line_end + 2 + size + 2
        if len(received) < start:
            return None
        if size == 0:
            return length
        length += size
