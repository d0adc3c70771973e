"""What became of commands that stand in the log (docs/commands.md#log)."""

from collections.abc import Iterable

import msgspec

from motorpool.actors.messages.uplink import CommandOutcome, CommandRefused, CommandSent
from motorpool.runtime import Kind, System, TopicName
from motorpool.storage.devices.command_log import Answer, Handover, LoggedCommand


class HandedOver(msgspec.Struct, frozen=True, gc=False):
    """A queued command was handed to its device, or not."""

    result: Handover


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A device has answered a command."""

    answer: Answer


class Disconnected(msgspec.Struct, frozen=True, gc=False):
    """The connection has ended on which answers to these commands would have come."""

    ids: tuple[int, ...]


CommandLogMessage = HandedOver | Answered | Disconnected
COMMAND_LOG: Kind[None, CommandLogMessage] = Kind("command_log")


class RowsChanged(msgspec.Struct, frozen=True, gc=False):
    """Rows of the log that were added or changed, after the commit."""

    ids: tuple[int, ...]
    is_remote: bool = False
    """Whether another server has sent them to this one."""


class RowsLost(msgspec.Struct, frozen=True, gc=False):
    """Rows that other servers of the cluster have changed may be missing."""


COMMAND_LOG_ROWS: TopicName[RowsChanged | RowsLost] = TopicName("command log rows")


class CommandsChanged(msgspec.Struct, frozen=True, gc=False):
    """Commands as they stand in the log now, for those who look at it."""

    commands: tuple[LoggedCommand, ...]


class CommandsLost(msgspec.Struct, frozen=True, gc=False):
    """Commands may have changed that are not told one by one."""


COMMANDS: TopicName[CommandsChanged | CommandsLost] = TopicName("commands")
"""What is published is read after the one before: the later is the newer."""


def announce_commands(system: System, ids: Iterable[int]) -> None:
    """Tell of rows of the log that were added or changed, after the commit; ids that are 0 are left out."""
    if found := tuple(filter(None, ids)):
        system.topic(COMMAND_LOG_ROWS).publish(RowsChanged(found))


def handover_of(log_id: int, outcome: CommandOutcome) -> Handover | None:
    """Return what the log says of how a command was handed over; None if it has no row, or is queued."""
    match outcome:
        case CommandSent() if log_id:
            return Handover(log_id, "SENT", answer_node=outcome.answer_node)
        case CommandRefused() if log_id:
            return Handover(log_id, "UNKNOWN" if outcome.uncertain else "REFUSED", outcome.reason)
        case _:
            return None
