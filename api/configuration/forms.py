"""Forms of texts in settings."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import ip_network
from pathlib import PurePath
from urllib.parse import urlsplit

from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.devices.protocol_attributes import is_of_a_protocol
from motorpool.api.map_settings import LAYER, NO_TILES, OPENFREEMAP, ORIGIN, TILES
from motorpool.codecs.calendars.time_zones import find_zone
from motorpool.storage.encryption import parse_key
from motorpool.storage.settings import ROLES


def is_url(text: str) -> bool:
    """Whether it is the address of a server that users reach, without query and fragment."""
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not (parts.query or parts.fragment)


def is_node(text: str) -> bool:
    """Whether it is an address at which a server listens for others: not of all interfaces, with a port."""
    parts = urlsplit(text)
    rest = (parts.username, parts.path.strip("/"), parts.query, parts.fragment)
    return (
        parts.scheme == "http"
        and parts.hostname not in {None, "", "0.0.0.0", "::"}  # noqa: S104 - refused
        and parts.port is not None
        and not any(rest)
    )


def is_nats(text: str) -> bool:
    """Whether these are addresses of NATS, with commas between."""
    parts = [urlsplit(each.strip()) for each in text.split(",")]
    return all(
        each.scheme in {"nats", "tls"}
        and bool(each.hostname)
        and each.port != 0
        and each.path in {"", "/"}
        and not (each.query or each.fragment)
        for each in parts
    )


def is_service(text: str) -> bool:
    """Whether it is the address of a service, without a user name."""
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


def is_destination(text: str) -> bool:
    """Whether positions may be forwarded there; the address of a broker has no path."""
    parts = urlsplit(text)
    is_broker = parts.scheme in {"mqtt", "mqtts"} and parts.port != 0
    is_host_alone = bool(parts.hostname) and "@" not in parts.netloc and not (parts.query or parts.fragment)
    return is_service(text) or (is_broker and is_host_alone and parts.path in {"", "/"})


def is_topic(text: str) -> bool:
    """Whether it is a topic of MQTT, with the names that are filled in."""
    rest = re.sub(r"\{(?:uniqueId|deviceId|kind)\}", "", text)
    return len(text) <= 1000 and text.isprintable() and not re.search(r"[+#{}]", rest)


def is_tiles(text: str) -> bool:
    """Whether it says which streets the map shows."""
    return text in {OPENFREEMAP, NO_TILES} or bool(TILES.fullmatch(text))


def is_map_file(text: str) -> bool:
    """Whether it is the path of a map in the data folder: other files there are nobody's to read."""
    path = PurePath(text)
    return path.suffix == ".pmtiles" and not path.is_absolute() and ".." not in path.parts


def is_protocol_attribute(text: str) -> bool:
    """Whether it is an attribute of a protocol with a value."""
    name, mark, _ = text.partition("=")
    return bool(mark) and is_of_a_protocol(name.strip())


def is_address(text: str) -> bool:
    """Whether it is a host and a port."""
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdecimal() and int(port) <= 65535


def is_database(text: str) -> bool:
    """Whether it says which database to use."""
    return text == "embedded" or text.startswith(("postgresql://", "postgres://"))


def is_key(text: str) -> bool:
    """Whether it is a key that encrypts."""
    return parse_key(text) is not None


_TILES_URL = "an address such as https://tiles.example.org/{z}/{x}/{y}.png or https://example.org/style.json"

FORMS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "networks": (partial(ip_network, strict=False), "is no network such as 10.0.0.0/8"),
    "protocolAttributes": (is_protocol_attribute, "is no attribute of a protocol such as h02.ack=true"),
    "url": (is_url, "is no address such as https://fleet.example.org"),
    "nats": (is_nats, "is no address such as nats://10.0.0.21:4222 or tls://10.0.0.21:4222"),
    "node": (is_node, "is no address such as http://10.0.0.5:8083, which other servers can reach"),
    "service": (is_service, "is no address such as https://sms.example.org/send, without a user name"),
    "forward": (
        is_destination,
        "is no address such as https://example.org/positions or mqtts://broker.example.org:8883",
    ),
    "topic": (is_topic, "is no topic such as motorpool/{uniqueId}/{kind}"),
    "tiles": (is_tiles, f"is neither {OPENFREEMAP}, {NO_TILES} nor {_TILES_URL}"),
    "tilesUrl": (TILES.fullmatch, f"is not {_TILES_URL}"),
    "layer": (
        LAYER.fullmatch,
        "is no layer such as Satellite https://tiles.example.org/{z}/{x}/{y}.jpg © Somebody",
    ),
    "origin": (ORIGIN.fullmatch, "is no host such as https://fonts.example.org"),
    "pmtiles": (is_map_file, "is no file in the data folder such as map/region.pmtiles"),
    "mailbox": (Mail.can_reach, "is no mail address"),
    "zone": (find_zone, "is no time zone such as Europe/Lisbon"),
    "address": (is_address, "is no address such as 127.0.0.1:8082"),
    "role": (ROLES.__contains__, f"is none of {', '.join(ROLES)}"),
    "key": (is_key, "is not the base64 of 32 bytes, such as `openssl rand -base64 32` prints"),
    "database": (is_database, "is neither `embedded` nor a postgresql:// URL"),
}
"""By the names of forms: a check of a text, or of each in a list, and what is said of one that fails it. It
fails by a result that counts as false, or by ValueError."""


def problem(form: str, value: str | tuple[str, ...], *, secret: bool = False) -> str:
    """Return what is wrong with a value that must have a form; empty if nothing is.

    Of a `secret` list nothing is repeated.
    """
    check, otherwise = FORMS[form]
    for text in (value,) if isinstance(value, str) else value:
        try:
            if check(text):
                continue
        except ValueError:
            pass
        if isinstance(value, str):
            return otherwise
        return f"has {'an entry that' if secret else f'{text!r}, which'} {otherwise}"
    return ""
