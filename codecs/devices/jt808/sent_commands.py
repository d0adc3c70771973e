"""Which orders went out, so that a terminal's answers find theirs (docs/protocols/jt808.md)."""

MAX_COMMANDS = 32
"""Remembered at a time; the oldest is forgotten first."""


def command_reference(message_id: int, serial: int) -> int:
    """What an order is known by outside."""
    return message_id << 16 | serial


class SentCommands:
    """The latest orders and whether 0x0001 has come for them.

    Terminals echo wrong serials, answer twice, or leave the serial at zero: the latest order of the right
    kind then takes the answer.
    """

    __slots__ = ("_acknowledged",)

    def __init__(self) -> None:
        self._acknowledged: dict[int, bool] = {}

    def add(self, message_id: int, serial: int) -> int:
        """Remember an order; its reference."""
        reference = command_reference(message_id, serial)
        self._acknowledged.pop(reference, None)
        while len(self._acknowledged) >= MAX_COMMANDS:
            del self._acknowledged[next(iter(self._acknowledged))]
        self._acknowledged[reference] = False
        return reference

    def acknowledge(self, message_id: int, serial: int) -> int | None:
        """The order that this 0x0001 answers; None for a second answer and for what was no command."""
        reference = command_reference(message_id, serial)
        if reference not in self._acknowledged:
            waiting = [
                one for one, done in self._acknowledged.items() if not done and one >> 16 == message_id
            ]
            if not waiting:
                return None
            reference = waiting[-1]
        if self._acknowledged[reference]:
            return None
        self._acknowledged[reference] = True
        return reference

    def take_exact(self, message_id: int, serial: int) -> int | None:
        """The order of this very serial, which has its answer now."""
        reference = command_reference(message_id, serial)
        return None if self._acknowledged.pop(reference, None) is None else reference

    def take(self, serial: int | None, *message_ids: int) -> int | None:
        """The order of one of these kinds, by serial where one fits, else the latest; it is answered now."""
        if serial is not None:
            for message_id in message_ids:
                if (reference := self.take_exact(message_id, serial)) is not None:
                    return reference
        for reference in reversed(self._acknowledged):
            if reference >> 16 in message_ids:
                del self._acknowledged[reference]
                return reference
        return None
