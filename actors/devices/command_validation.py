"""Validation of commands before they are sent or queued, by users and by schedules."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.channel_map import CHANNELS
from motorpool.codecs.devices import DeviceCodec

__all__ = ["refusal"]

CHANNEL_COMMANDS = {"videoStart", "videoStop", "videoPlayback", "videoSnapshot"}
LIST_COMMAND = "videoPlaybackList"
"""Also accepts channel 0, for all channels."""
MAX_DIGITS = 9
"""Digits of a channel in a text; int() refuses thousands of them."""


def refusal(
    kind: str, attributes: Mapping[str, Any], *, text_channel: bool, codec: type[DeviceCodec] | None
) -> str:
    """Return why the command cannot be sent, or an empty string; `codec` is None while it is unknown."""
    if text_channel:
        return "no SMS gateway is configured"
    if codec is not None and kind not in codec.commands:
        return f"{codec.name} devices do not know the command {kind}"
    return _channel_refusal(kind, attributes)


def _channel_refusal(kind: str, attributes: Mapping[str, Any]) -> str:
    """Check the channel of a media command (docs/decisions/0023)."""
    channel = attributes.get("channel", attributes.get("index"))
    if channel is None or (kind not in CHANNEL_COMMANDS and kind != LIST_COMMAND):
        return ""
    is_integer = isinstance(channel, int) and not isinstance(channel, bool)
    is_decimal = isinstance(channel, str) and channel.isdecimal() and len(channel) <= MAX_DIGITS
    number = int(channel) if is_integer or is_decimal else -1
    if number in CHANNELS or (number == 0 and kind == LIST_COMMAND):
        return ""
    return "attributes.channel: cameras have the numbers 1 to 31"
