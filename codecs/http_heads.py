"""The form in which most clients send the head of a request (RFC 9112), read without h11.

h11 takes ten times as long. It reads whatever does not have this form, and accepts what has it.
"""

import re

_HEADER = re.compile(rb"([-!#$%&'*+.^_`|~0-9a-zA-Z]+): ?([!-~](?:[ -~]*[!-~])?)")
_OTHERWISE = frozenset((b"transfer-encoding", b"upgrade", b"expect"))
"""Headers of requests that have a body of unknown length, or ask for more than an answer."""

REQUEST_LINE = re.compile(rb"(GET|POST) (/[!-~]*) HTTP/1\.1\r\n")
"""The method and the target."""
Headers = tuple[tuple[bytes, bytes], ...]


def read_headers(lines: bytes) -> Headers | None:
    """Read header lines of HTTP/1.1, with the empty line behind them and nothing else; names in lower case.

    None where they say more than what most do, or are wrong: h11 is to read the request.
    """
    if not lines.endswith(b"\r\n\r\n"):
        return None
    headers, hosts, lengths = [], 0, 0
    for field in lines[:-4].split(b"\r\n"):
        found = _HEADER.fullmatch(field)
        if found is None:
            return None
        name, value = found[1].lower(), found[2]
        hosts += name == b"host"
        lengths += name == b"content-length"
        if name in _OTHERWISE or (name == b"connection" and value.lower() != b"keep-alive"):
            return None
        headers.append((name, value))
    return tuple(headers) if hosts == 1 and lengths <= 1 else None
