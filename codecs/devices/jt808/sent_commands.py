"""Matches a terminal's answers to the commands that were sent (docs/protocols/jt808.md#general-response)."""

MAX_COMMANDS = 32
"""Commands that are remembered; the oldest is forgotten first."""


def command_reference(message_id: int, serial: int) -> int:
    """Return the reference of a command outside the codec."""
    return message_id << 16 | serial


class SentCommands:
    """The latest commands, and whether each was acknowledged by 0x0001.

    Terminals answer twice, with a wrong serial, or with serial 0; the answer then belongs to the latest
    command of that id.
    """

    __slots__ = ("_acknowledged",)

    def __init__(self) -> None:
        self._acknowledged: dict[int, bool] = {}

    def add(self, message_id: int, serial: int) -> int:
        """Remember a command and return its reference."""
        reference = command_reference(message_id, serial)
        self._acknowledged.pop(reference, None)
        while len(self._acknowledged) >= MAX_COMMANDS:
            del self._acknowledged[next(iter(self._acknowledged))]
        self._acknowledged[reference] = False
        return reference

    def acknowledge(self, message_id: int, serial: int) -> int | None:
        """Return the command that this 0x0001 acknowledges; None for a second one or an unknown command."""
        reference = command_reference(message_id, serial)
        if reference not in self._acknowledged:
            waiting = [
                sent
                for sent, acknowledged in self._acknowledged.items()
                if not acknowledged and sent >> 16 == message_id
            ]
            if not waiting:
                return None
            reference = waiting[-1]
        if self._acknowledged[reference]:
            return None
        self._acknowledged[reference] = True
        return reference

    def take_exact(self, message_id: int, serial: int) -> int | None:
        """Remove and return the command with exactly this serial."""
        reference = command_reference(message_id, serial)
        return None if self._acknowledged.pop(reference, None) is None else reference

    def take(self, serial: int | None, *message_ids: int) -> int | None:
        """Remove and return a command with one of these ids: the one with this serial, else the latest."""
        if serial is not None:
            for message_id in message_ids:
                if (reference := self.take_exact(message_id, serial)) is not None:
                    return reference
        for reference in reversed(self._acknowledged):
            if reference >> 16 in message_ids:
                del self._acknowledged[reference]
                return reference
        return None
