"""Labels of alarms, by which the active-safety extension tells which files belong to which alarm.

Jiangsu: terminal id 7 bytes, time BCD[6], sequence BYTE, count of files BYTE, one byte reserved. Guangdong: a
terminal id of 30 bytes, and two reserved. For the sources see `jt808_attachments`.
"""

import hashlib

import msgspec

from motorpool.codecs.devices.jt808.times import BCD

NUMBER_BYTES = 32
LABEL_FORMS = ((7, 16), (30, 40))
"""Bytes of a terminal id and of a whole label."""
_TERMINAL_BYTES = {label: terminal for terminal, label in LABEL_FORMS}


class AlarmLabel(msgspec.Struct, frozen=True, gc=False):
    """What tells one alarm of a terminal from all others: its id, the time and a sequence."""

    content: bytes
    """16 bytes, or 40 in the Guangdong form; sent back as it came."""

    @property
    def files(self) -> int:
        """How many the terminal keeps for it."""
        return self.content[self._terminal_bytes + 7]

    @property
    def key(self) -> bytes:
        """Without the count of files, which may differ from message to message."""
        return self.content[: self._terminal_bytes + 7]

    @property
    def number(self) -> str:
        """Ours for this alarm, which the terminal repeats: of 32 hex digits, always the same for a label.

        So a file that was asked for before a restart of the server is known after it.
        """
        return hashlib.blake2b(self.key, digest_size=NUMBER_BYTES // 2).hexdigest()

    @property
    def _terminal_bytes(self) -> int:
        return _TERMINAL_BYTES[len(self.content)]

    @staticmethod
    def of(content: bytes) -> "AlarmLabel | None":
        """The label in these 16 or 40 bytes; None where other makers keep other things in their place."""
        if len(content) not in _TERMINAL_BYTES:
            return None
        label = AlarmLabel(content)
        start = _TERMINAL_BYTES[len(content)]
        _, month, day, hour, minute, second = (BCD[value] for value in content[start : start + 6])
        is_date = 1 <= (month or 0) <= 12 and 1 <= (day or 0) <= 31
        is_time = all(part is not None and part < 60 for part in (hour, minute, second))
        return label if is_date and is_time else None
