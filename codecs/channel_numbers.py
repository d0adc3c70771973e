"""A device's own numbers of its channels, where they are not ours.

Some terminals count from 0, some send the sub-stream of channel 1 as channel 33 (docs/protocols/jt1078.md,
quirk 9; docs/decisions/0023). Ours go from 1 to 31.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.codecs.errors import CodecError

ATTRIBUTE = "jt1078.channels"
"""Of a device: `0:1,1:2` is a terminal that counts from 0, `1:1,33:1` one whose sub-stream comes as 33."""
MAX_CHANNEL = 31
_MAX_NUMBER = 255


class ChannelNumbers(msgspec.Struct, frozen=True):
    """Which channel of ours each of a device's numbers is; what is not listed has the same number."""

    ours: Mapping[int, int] = {}
    """Our channel by the device's number."""
    theirs: Mapping[int, int] = {}
    """The number that commands carry, by our channel: the first that was listed for it."""

    def channel_of(self, number: int) -> int:
        """Our channel of what the device sends or lists."""
        return self.ours.get(number, number)

    def number_of(self, channel: int) -> int:
        """What to call one of our channels towards the device."""
        return self.theirs.get(channel, channel)


PLAIN = ChannelNumbers()
"""The device's numbers are ours."""


def channel_numbers(attributes: Mapping[str, Any]) -> ChannelNumbers:
    """Read what a device's attributes say.

    Raises:
        CodecError: its text is none of `number:channel` pairs.
    """
    text = attributes.get(ATTRIBUTE)
    if text is None or text == "":
        return PLAIN
    ours: dict[int, int] = {}
    theirs: dict[int, int] = {}
    for pair in str(text).split(","):
        number, _, channel = (part.strip() for part in pair.partition(":"))
        if not (_is_number(number, 0, _MAX_NUMBER) and _is_number(channel, 1, MAX_CHANNEL)):
            raise CodecError(
                f"{ATTRIBUTE}: {pair.strip()[:20]!r} is no pair number:channel"
                f" with a number from 0 to {_MAX_NUMBER} and a channel from 1 to {MAX_CHANNEL}"
            )
        if ours.setdefault(int(number), int(channel)) != int(channel):
            raise CodecError(f"{ATTRIBUTE}: number {number} stands for two channels")
        theirs.setdefault(int(channel), int(number))
    return ChannelNumbers(ours, theirs)


def _is_number(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and low <= int(text) <= high
