"""Validation of commands before they are sent or queued, and the placeholders in them."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.channel_map import CHANNELS
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.numbers import whole_number

CUSTOM = "custom"
"""The command whose content the user writes; every device takes it."""
UNIQUE_ID = "{uniqueId}"
CHANNEL_COMMANDS = {"videoStart", "videoStop", "videoPlayback", "videoSnapshot"}
LIST_COMMAND = "videoPlaybackList"
"""Also accepts channel 0, for all channels."""


def command_types(codec: type[DeviceCodec] | None) -> frozenset[str]:
    """Return the command types that can be sent to a device of this codec, None if it is unknown."""
    return codec.commands | {CUSTOM} if codec is not None else frozenset({CUSTOM})


def refusal(kind: str, attributes: Mapping[str, Any], *, codec: type[DeviceCodec] | None) -> str:
    """Return why the command cannot be sent, or an empty string.

    `codec` is the codec of the device's connection or latest position, None if it has neither.
    """
    if kind not in command_types(codec):
        if codec is None:
            return f"the protocol of the device is not known yet: only {CUSTOM} commands can be sent to it"
        return f"{codec.name} devices do not know the command {kind}"
    return _channel_refusal(kind, attributes)


def text_refusal(kind: str, attributes: Mapping[str, Any]) -> str:
    """Return why the command cannot be sent as a text message, or an empty string."""
    if kind != CUSTOM:
        return f"only {CUSTOM} commands can be sent as text messages"
    data = attributes.get("data")
    if not isinstance(data, str) or not data.strip():
        return "attributes.data: the text of the message is needed"
    return ""


def fill_placeholders(kind: str, attributes: Mapping[str, Any], unique_id: str) -> Mapping[str, Any]:
    """Return the attributes with `{uniqueId}` replaced in the `data` of a custom command."""
    data = attributes.get("data")
    if kind != CUSTOM or not isinstance(data, str) or UNIQUE_ID not in data:
        return attributes
    return {**attributes, "data": data.replace(UNIQUE_ID, unique_id)}


def _channel_refusal(kind: str, attributes: Mapping[str, Any]) -> str:
    """Check the channel of a media command (docs/decisions/0023)."""
    channel = attributes.get("channel", attributes.get("index"))
    if channel is None or (kind not in CHANNEL_COMMANDS and kind != LIST_COMMAND):
        return ""
    number = None if isinstance(channel, float) else whole_number(channel)
    if number in CHANNELS or (number == 0 and kind == LIST_COMMAND):
        return ""
    return "attributes.channel: cameras have the numbers 1 to 31"
