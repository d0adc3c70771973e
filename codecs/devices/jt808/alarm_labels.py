"""Alarm labels, which identify the alarm that files belong to (docs/protocols/jt808.md#alarm-files).

Terminal id (7 bytes, in the Guangdong variant 30), time BCD[6], sequence BYTE, number of files BYTE, and one
or two reserved bytes.
"""

import hashlib

import msgspec

from motorpool.codecs.devices.jt808.times import BCD

NUMBER_BYTES = 32
"""Length of the platform's alarm number."""
LABEL_FORMS = ((7, 16), (30, 40))
"""Bytes of the terminal id and of the whole label, for each variant."""
_TERMINAL_BYTES = {label: terminal for terminal, label in LABEL_FORMS}


class AlarmLabel(msgspec.Struct, frozen=True, gc=False):
    """Identifies one alarm of a terminal by terminal id, time and sequence."""

    content: bytes
    """16 bytes, in the Guangdong variant 40; returned to the terminal unchanged."""

    @property
    def files(self) -> int:
        """Number of files that the terminal keeps for the alarm."""
        return self.content[self._terminal_bytes + 7]

    @property
    def key(self) -> bytes:
        """The label without the number of files, which may differ between messages."""
        return self.content[: self._terminal_bytes + 7]

    def number(self, server_key: bytes, phone: str) -> str:
        """Return the platform's number of this alarm, which the terminal repeats: 32 hex digits.

        It authenticates the upload: it cannot be computed without `server_key`, and it is valid for this
        alarm of the terminal with this phone number only. Since it is derived from the label, files that were
        requested before a restart of the server are accepted after it.
        """
        content = phone.encode() + b"\0" + self.key
        return hashlib.blake2b(content, key=server_key, digest_size=NUMBER_BYTES // 2).hexdigest()

    @property
    def _terminal_bytes(self) -> int:
        return _TERMINAL_BYTES[len(self.content)]

    @staticmethod
    def parse(content: bytes) -> "AlarmLabel | None":
        """Return the label in these bytes; None without a possible date: another maker's data."""
        if len(content) not in _TERMINAL_BYTES:
            return None
        label = AlarmLabel(content)
        start = _TERMINAL_BYTES[len(content)]
        _, month, day, hour, minute, second = (BCD[value] for value in content[start : start + 6])
        is_date = 1 <= (month or 0) <= 12 and 1 <= (day or 0) <= 31
        is_time = all(part is not None and part < 60 for part in (hour, minute, second))
        return label if is_date and is_time else None
