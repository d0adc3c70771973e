"""Forms of addresses in settings."""

import re
from urllib.parse import urlsplit

TILES = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/[!-~]*(\{[zxy]\}[!-~]*|\.json(\?[!-~]*)?)")
"""The host becomes part of a Content-Security-Policy; a query may hold a key."""


def is_url(text: str) -> bool:
    """Whether it is the address of a server that users reach, without query and fragment."""
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in {"http", "https"} and bool(parts.hostname) and not (parts.query or parts.fragment)
        )
    except ValueError:
        return False


def is_node(text: str) -> bool:
    """Whether it is an address at which a server listens for others: not of all interfaces, with a port."""
    try:
        parts = urlsplit(text)
        rest = (parts.username, parts.path.strip("/"), parts.query, parts.fragment)
        return (
            parts.scheme == "http"
            and parts.hostname not in {None, "", "0.0.0.0", "::"}  # noqa: S104 - refused
            and parts.port is not None
            and not any(rest)
        )
    except ValueError:
        return False


def is_service(text: str) -> bool:
    """Whether it is the address of a service, without a user name."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def is_destination(text: str) -> bool:
    """Whether positions may be forwarded there; the address of a broker has no path."""
    try:
        parts = urlsplit(text)
        is_broker = parts.scheme in {"mqtt", "mqtts"} and parts.port != 0
        is_host_alone = (
            bool(parts.hostname) and "@" not in parts.netloc and not (parts.query or parts.fragment)
        )
    except ValueError:
        return False
    return is_service(text) or (is_broker and is_host_alone and parts.path in {"", "/"})


def is_topic(text: str) -> bool:
    """Whether it is a topic of MQTT, with the names that are filled in."""
    rest = re.sub(r"\{(?:uniqueId|deviceId|kind)\}", "", text)
    return len(text) <= 1000 and text.isprintable() and not re.search(r"[+#{}]", rest)


def is_tiles(text: str) -> bool:
    """Whether it is the address of tiles or of a style of MapLibre."""
    return bool(TILES.fullmatch(text))
