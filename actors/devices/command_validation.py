"""What is wrong with a command, seen before anything is sent; the same by hand and by schedule."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.channel_map import CHANNELS
from motorpool.codecs.devices import DeviceCodec

__all__ = ["refusal"]

CHANNELED = {"videoStart", "videoStop", "videoPlayback", "videoSnapshot"}
LISTING = "videoPlaybackList"
LONG_NUMBER = 10
"""Digits of no camera's number; Python refuses to read thousands of them."""


def refusal(
    kind: str, attributes: Mapping[str, Any], *, text_channel: bool, codec: type[DeviceCodec] | None
) -> str:
    """Say why a device of this protocol cannot be sent the command, or nothing; None is not known yet."""
    if text_channel:
        return "no SMS gateway is configured"
    if codec is not None and kind not in codec.commands:
        return f"{codec.name} devices do not know the command {kind}"
    return _wrong_channel(kind, attributes)


def _wrong_channel(kind: str, attributes: Mapping[str, Any]) -> str:
    """Cameras have numbers (docs/decisions/0023)."""
    channel = attributes.get("channel", attributes.get("index"))
    if channel is None or (kind not in CHANNELED and kind != LISTING):
        return ""
    whole = isinstance(channel, int) and not isinstance(channel, bool)
    written = isinstance(channel, str) and channel.isdecimal() and len(channel) < LONG_NUMBER
    number = int(channel) if whole or written else -1
    if number in CHANNELS or (number == 0 and kind == LISTING):
        return ""
    return "attributes.channel: cameras have the numbers 1 to 31"
