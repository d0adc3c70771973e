"""What the answers of a device that are still to come belong to."""

from typing import NamedTuple

from motorpool.actors.messages.downlink import TransmitOutcome, Transmitted

MAX_EXPECTED = 32
"""The oldest is forgotten first."""


class Expected(NamedTuple):
    """The command that an answer is for."""

    log_id: int = 0
    """Of its row in the log; 0: it has none."""
    ticket_command_id: int = 0
    """Of its row in `ticket_commands`; 0: it is no ticket's."""
    by_reader: bool = False
    """Whether a stream or playback sent it for its readers, who wait for no answer."""


NOBODYS = Expected()
"""For an answer that belongs to nothing that waits for one."""


class ExpectedAnswers:
    """Sent commands whose answers somebody waits for, by what the answers repeat."""

    __slots__ = ("_by_reference",)

    def __init__(self) -> None:
        self._by_reference: dict[int, Expected] | None = None
        """The oldest first; None: there are none, as at most devices."""

    def add(self, outcome: TransmitOutcome, command: Expected) -> bool:
        """Note what was sent; return whether an answer to it can be told from others."""
        if not isinstance(outcome, Transmitted) or outcome.reference is None:
            return False
        known = self._by_reference or {}
        # A protocol begins its numbers again.
        known.pop(outcome.reference, None)
        if command != NOBODYS:
            known[outcome.reference] = command
            if len(known) > MAX_EXPECTED:
                del known[next(iter(known))]
        self._by_reference = known or None
        return True

    def command_of(self, reference: int | None) -> Expected:
        """Return the command that an answer with this reference belongs to."""
        if self._by_reference is None or reference is None:
            return NOBODYS
        return self._by_reference.get(reference, NOBODYS)

    def clear(self) -> tuple[int, ...]:
        """Expect no answer any more; return the rows in the log of the commands that were sent."""
        known, self._by_reference = self._by_reference or {}, None
        return tuple(each.log_id for each in known.values() if each.log_id)
