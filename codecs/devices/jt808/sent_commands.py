"""Matches a terminal's answers to the commands that were sent (docs/protocols/jt808.md#general-response)."""

MAX_COMMANDS = 32
"""Commands that are remembered; the oldest is forgotten first."""
TEXT_ANSWER_SECONDS = 120.0
"""How long the answer to a text is waited for: until then texts are answered in their order."""
_NO_COMMANDS: dict[int, bool] = {}
_NO_TEXTS: dict[int, float | None] = {}
"""Shared by the connections on which none was sent, which most are; never changed."""


def command_reference(message_id: int, serial: int) -> int:
    """Return the reference of a command outside the codec."""
    return message_id << 16 | serial


class SentCommands:
    """The latest commands, and whether each was acknowledged by 0x0001.

    Terminals answer twice, with a wrong serial, or with serial 0; the answer then belongs to the latest
    command of that id.
    """

    __slots__ = ("_acknowledged", "_texts")

    def __init__(self) -> None:
        self._acknowledged = _NO_COMMANDS
        self._texts = _NO_TEXTS
        """Texts without an answer, with the first tick after they were sent."""

    def add(self, message_id: int, serial: int, *, is_text: bool = False) -> int:
        """Remember a command and return its reference; a text is answered by another text."""
        reference = command_reference(message_id, serial)
        if self._acknowledged is _NO_COMMANDS:
            self._acknowledged = {}
        self._acknowledged.pop(reference, None)
        self._texts.pop(reference, None)
        while len(self._acknowledged) >= MAX_COMMANDS:
            oldest = next(iter(self._acknowledged))
            del self._acknowledged[oldest]
            self._texts.pop(oldest, None)
        self._acknowledged[reference] = False
        if is_text:
            if self._texts is _NO_TEXTS:
                self._texts = {}
            self._texts[reference] = None
        return reference

    @property
    def has_text(self) -> bool:
        """Whether a text waits for its answer."""
        return bool(self._texts)

    def take_text(self) -> int | None:
        """Remove and return the oldest text without an answer; None without any."""
        reference = next(iter(self._texts), None)
        if reference is not None:
            del self._texts[reference]
            self._acknowledged.pop(reference, None)
        return reference

    def forget_texts(self, now: float) -> None:
        """Forget texts that got no answer for `TEXT_ANSWER_SECONDS`; `now` is the monotonic time, s."""
        for reference, since in tuple(self._texts.items()):
            if since is None:
                self._texts[reference] = now
            elif now - since >= TEXT_ANSWER_SECONDS:
                del self._texts[reference]

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
