"""Texts in parentheses, which some locks send to the port of JT/T 808
(docs/protocols/jt808-vendors.md#text-frames).
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    DeviceInformation,
    EncodedCommand,
    Heartbeat,
    ImmediateReply,
    Report,
)

_MAX_TEXT_BYTES = 1000

_SENDER = re.compile(rb"\(([0-9A-Za-z_-]{1,64}),")
_TIME_REQUEST = [b"BASE", b"2"]


def text_sender(content: bytes) -> str:
    """Return the identity with which a text begins; empty if it has none."""
    found = _SENDER.match(content)
    return found[1].decode() if found is not None else ""


def read_text(content: bytes, utc_now: Callable[[], datetime] | None) -> list[Report]:
    """Return the reports of a text: the answer to a request for the time, else the text as `result`."""
    if content[1:-1].split(b",")[3:5] != _TIME_REQUEST:
        return [DeviceInformation({"result": content.decode("gbk", "replace")})]
    if utc_now is None:
        return [Heartbeat()]
    now = utc_now().astimezone(UTC).strftime("%Y%m%d%H%M%S").encode()
    return [Heartbeat(), ImmediateReply(content.replace(b"TIME", now))]


def encode_text(command: DeviceCommand) -> EncodedCommand:
    """Return the text of a `custom` command, which stands in parentheses.

    Raises:
        UnsupportedCommand: another command, or no such text.
    """
    content = str(command.attributes.get("data", "")).encode("gbk", "replace")
    if command.type != "custom" or content[:1] + content[-1:] != b"()" or len(content) > _MAX_TEXT_BYTES:
        raise UnsupportedCommand(
            "this device takes only custom commands, with a text in parentheses of at most 1000 bytes"
        )
    return EncodedCommand(content)
