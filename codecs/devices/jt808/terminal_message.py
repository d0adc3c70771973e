"""One complete message of a JT/T 808 terminal, as its readers get it."""

import msgspec

from motorpool.codecs.devices.jt808.frames import Identity
from motorpool.codecs.devices.jt808.item_layouts import STANDARD_ITEMS, ItemDecoder
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.location import decode_location
from motorpool.codecs.devices.jt808.responses import make_receipt
from motorpool.codecs.devices.jt808.sent_commands import SentCommands
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.vendors.models import STANDARD, Model
from motorpool.codecs.reports import CommandResult, DeviceInformation, PositionReport, Report


class TerminalMessage(msgspec.Struct, frozen=True):
    """One complete message with what is needed to read it."""

    message_id: int
    serial: int
    """That of the last packet."""
    body: bytes
    identity: Identity
    identity_bits: int
    """As `make_receipt` takes them."""
    subpackaged: bool
    clock: TerminalClock
    sent_commands: SentCommands
    model: Model = STANDARD
    items: ItemDecoder = STANDARD_ITEMS
    answer_wanted: bool = True
    """False for a lock's message that asks for no answer."""

    @property
    def receipt(self) -> int:
        """The receipt of a general response."""
        return make_receipt(self.identity_bits, self.message_id, self.serial)

    def location(self, start: int, end: int | None = None, *, archived: bool = False) -> PositionReport:
        """Return the position in `body[start:end]`, without a receipt.

        Raises:
            Truncated: fewer than 28 bytes are there.
        """
        size = len(self.body)
        stop = size if end is None else min(end, size)
        words = self.model.words_of(self.identity.is_2019)
        return decode_location(self.body, start, stop, self.clock, words, self.items, archived=archived)


def device_information(
    message: TerminalMessage, attributes: Attributes, serial: int | None, *command_ids: int
) -> list[Report]:
    """Return what a terminal reports of itself; if it was queried, also as the command's result."""
    reference = message.sent_commands.take(serial, *command_ids)
    if reference is None:
        return [DeviceInformation(attributes, receipt=message.receipt)]
    text = ", ".join(f"{name}={value}" for name, value in attributes.items())
    return [
        DeviceInformation(attributes, reference),
        CommandResult(reference, ok=True, text=text, receipt=message.receipt),
    ]
