"""A process that explains a message: that takes seconds of its processor, which the server has none of.

`actors/gateway/explaining.py` starts it as `python -m motorpool.actors.gateway.explain_worker` for one
message, a `MessageToExplain` as JSON on standard input, and reads the parts as JSON from standard output.
"""

import os
import resource
import sys
from contextlib import suppress
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.explanation import Part, explain

SECONDS = 5.0
"""Processor time after which no further byte is examined."""
CPU_SECONDS = 10
"""Most processor time, in case that nobody is left who ends the process."""
MEMORY_BYTES = 1 << 30
"""Address space."""
NICENESS = 10
"""Devices go first."""


class MessageToExplain(msgspec.Struct, frozen=True):
    """What a device sent, and what affects how it is decoded."""

    protocol: str
    data: bytes
    """One read or datagram."""
    model: str = ""
    attributes: dict[str, Any] = {}
    """As `DeviceCodec.configure` takes them."""
    timezone: str = ""
    """Name of the time zone of the device's clock; empty for the protocol's default."""


def explained(message: MessageToExplain) -> list[Part]:
    """Return the parts of a message."""
    codec = CODECS[message.protocol]()
    codec.keeps_unknown = True
    codec.configure(message.model, message.attributes)
    with suppress(KeyError, ValueError, OSError):  # unknown; malformed; names a directory
        codec.set_timezone(ZoneInfo(message.timezone) if message.timezone else None)
    return explain(codec, message.data, seconds=SECONDS)


def main() -> None:
    """Explain the message of the standard input."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    message = msgspec.json.decode(sys.stdin.buffer.read(), type=MessageToExplain)
    # A part may say what is no JSON, such as a `Secret`, which then is not shown.
    sys.stdout.buffer.write(msgspec.json.encode(explained(message), enc_hook=repr))


if __name__ == "__main__":
    main()
