"""Messages to the actors that look after tickets, sent after the commit of a change.

Each but `AttachPicture` is a hint: what is to be done stands in the tables, which these actors also look at
by themselves.
"""

from datetime import datetime

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind


class WakeTicketClock(msgspec.Struct, frozen=True, gc=False):
    """A ticket is to be looked at at an instant."""

    at: datetime


TICKET_CLOCK: Kind[None, WakeTicketClock] = Kind("ticket_clock")
TICKET_RECALCULATIONS: Kind[None, ApplyChanges] = Kind("recalculations")


class AttachPicture(msgspec.Struct, frozen=True, gc=False):
    """A rule has opened a ticket: the last picture of its device is to become evidence.

    A ticket whose server ends before has no picture.
    """

    ticket_id: int
    device_id: int


TICKET_PICTURES: Kind[None, AttachPicture] = Kind("ticket_pictures")


class TicketCapturesWaiting(msgspec.Struct, frozen=True, gc=False):
    """Tickets wait for captures that may begin, or that are recording."""


TICKET_CAPTURES: Kind[None, TicketCapturesWaiting] = Kind("ticket_captures")


class TicketCommandAnswered(msgspec.Struct, frozen=True, gc=False):
    """A device has answered a command that was sent for a ticket."""

    id: int
    """Id of its row in `ticket_commands`."""
    ok: bool
    text: str


class TicketCommandsChanged(msgspec.Struct, frozen=True, gc=False):
    """Updates of commands of tickets were stored."""


TICKET_COMMANDS: Kind[None, TicketCommandAnswered | TicketCommandsChanged] = Kind("ticket_commands")


class TicketMessagesWaiting(msgspec.Struct, frozen=True):
    """Messages to the webhooks of companies are waiting."""

    company_ids: frozenset[int] = frozenset()
    """Empty: the companies are not known."""


WEBHOOK_SENDER: Kind[None, TicketMessagesWaiting] = Kind("webhook_sender")
