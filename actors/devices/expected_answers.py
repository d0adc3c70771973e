"""What the answers of a device that are still to come belong to."""

from motorpool.actors.messages.downlink import TransmitOutcome, Transmitted

FOR_READERS = -1
"""Instead of a command of a ticket: sent by a stream or playback for its readers, who wait for no answer."""
MAX_EXPECTED = 32
"""The oldest is forgotten first."""


class ExpectedAnswers:
    """Sent commands that are a ticket's or for readers, by what their answers repeat."""

    __slots__ = ("_by_reference",)

    def __init__(self) -> None:
        self._by_reference: dict[int, int] | None = None
        """The oldest first; None: there are none, as at most devices."""

    def add(self, outcome: TransmitOutcome, command_id: int) -> None:
        """Note what was sent: the command of a ticket by its id, FOR_READERS, or 0 for any other."""
        if not isinstance(outcome, Transmitted) or outcome.reference is None:
            return
        known = self._by_reference or {}
        # A protocol begins its numbers again.
        known.pop(outcome.reference, None)
        if command_id:
            known[outcome.reference] = command_id
            if len(known) > MAX_EXPECTED:
                del known[next(iter(known))]
        self._by_reference = known or None

    def command_of(self, reference: int | None) -> int:
        """Return the command that an answer with this reference belongs to, as in `add`."""
        if self._by_reference is None or reference is None:
            return 0
        return self._by_reference.get(reference, 0)

    def clear(self) -> None:
        """Expect no answer any more."""
        self._by_reference = None
