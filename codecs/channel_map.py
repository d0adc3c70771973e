"""The map between a device's own channel numbers and the server's.

The server's channels run from 1 to `MAX_CHANNEL`. Some terminals count from 0, others send the sub-stream of
channel 1 as channel 33 (docs/protocols/jt1078.md#channel-numbers).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.codecs.errors import CodecError

CHANNEL_MAP_ATTRIBUTE = "jt1078.channels"
"""The device attribute that holds the map as `number:channel` pairs: `0:1,1:2` for a terminal that counts
from 0, `1:1,33:1` for one whose sub-stream arrives as channel 33.
"""
MAX_CHANNEL = 31
"""The highest channel of the server."""
CHANNELS = range(1, MAX_CHANNEL + 1)
"""All channels of the server."""
_MAX_DEVICE_NUMBER = 255


class ChannelMap(msgspec.Struct, frozen=True):
    """The channels of one device; a number that is not listed is the same on both sides."""

    channel_by_number: Mapping[int, int] = {}
    """The server's channel by the device's number."""
    number_by_channel: Mapping[int, int] = {}
    """The device's number by the server's channel: the first pair that lists the channel."""

    def channel_of(self, number: int) -> int:
        """Return the server's channel for a number that the device sent."""
        return self.channel_by_number.get(number, number)

    def number_of(self, channel: int) -> int:
        """Return the number by which the device knows one of the server's channels."""
        return self.number_by_channel.get(channel, channel)


UNMAPPED = ChannelMap()
"""The device uses the server's numbers."""


def parse_channel_map(attributes: Mapping[str, Any]) -> ChannelMap:
    """Read the map from a device's attributes; `UNMAPPED` where they hold none.

    Raises:
        CodecError: the text is not a list of `number:channel` pairs.
    """
    text = attributes.get(CHANNEL_MAP_ATTRIBUTE)
    if text is None or text == "":
        return UNMAPPED
    channel_by_number: dict[int, int] = {}
    number_by_channel: dict[int, int] = {}
    for pair in str(text).split(","):
        number, _, channel = (part.strip() for part in pair.partition(":"))
        if not (_is_number(number, 0, _MAX_DEVICE_NUMBER) and _is_number(channel, 1, MAX_CHANNEL)):
            raise CodecError(
                f"{CHANNEL_MAP_ATTRIBUTE}: {pair.strip()[:20]!r} is not a pair number:channel"
                f" with a number from 0 to {_MAX_DEVICE_NUMBER} and a channel from 1 to {MAX_CHANNEL}"
            )
        if channel_by_number.setdefault(int(number), int(channel)) != int(channel):
            raise CodecError(f"{CHANNEL_MAP_ATTRIBUTE}: number {number} is mapped to two channels")
        number_by_channel.setdefault(int(channel), int(number))
    return ChannelMap(channel_by_number, number_by_channel)


def _is_number(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and low <= int(text) <= high
