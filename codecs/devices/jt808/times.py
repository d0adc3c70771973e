"""JT/T 808 times (docs/protocols/jt808.md#times): BCD[6], YYMMDDhhmmss, by default in GMT+8."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

BEIJING = timezone(timedelta(hours=8))
"""The zone that the standard prescribes."""
NO_TIME = bytes(6)
"""No time: an open start or end."""

_CACHED_MINUTES = 4096


def _decimal(value: int) -> int | None:
    high, low = value >> 4, value & 15
    return high * 10 + low if high < 10 and low < 10 else None


BCD: tuple[int | None, ...] = tuple(_decimal(value) for value in range(256))
"""The number in a byte of two decimal digits; None for other bytes."""
_TO_BCD = tuple(number // 10 << 4 | number % 10 for number in range(100))
_SECONDS: tuple[timedelta | None, ...] = tuple(
    timedelta(seconds=number) if number is not None and number < 60 else None for number in BCD
)


def to_bcd(moment: datetime) -> bytes:
    """Return the six bytes of a time in its own zone.

    Raises:
        ValueError: a year outside 2000 to 2099.
    """
    if not 2000 <= moment.year < 2100:
        raise ValueError(f"the year {moment.year} cannot be written with two digits")
    return bytes(
        (
            _TO_BCD[moment.year - 2000],
            _TO_BCD[moment.month],
            _TO_BCD[moment.day],
            _TO_BCD[moment.hour],
            _TO_BCD[moment.minute],
            _TO_BCD[moment.second],
        )
    )


_BEIJING_MINUTES: dict[bytes, datetime] = {}
"""Decoded minutes, shared by all terminals in the standard's zone."""


class TerminalClock:
    """The times of one terminal; decoded minutes are cached, because many reports share them."""

    __slots__ = ("_minutes", "zone")

    def __init__(self, zone: tzinfo = BEIJING) -> None:
        self.zone = zone
        self._minutes = _BEIJING_MINUTES if zone is BEIJING else {}

    def moment(self, minute: bytes, second: int) -> datetime | None:
        """Return the UTC time of five bytes down to the minute and one of the second; None for no time."""
        start = self._minutes.get(minute)
        if start is None:
            start = self._decode_minute(minute)
        seconds = _SECONDS[second]
        return start + seconds if start is not None and seconds is not None else None

    def read(self, stamp: bytes) -> datetime | None:
        """Return the UTC time of six bytes; None for zeros and digits that are no time."""
        return self.moment(stamp[:5], stamp[5])

    def write(self, moment: datetime) -> bytes:
        """Return the six bytes of an aware time.

        Raises:
            ValueError: a year outside 2000 to 2099.
        """
        return to_bcd(moment.astimezone(self.zone))

    def _decode_minute(self, minute: bytes) -> datetime | None:
        year, month, day, hour, minutes = (BCD[value] for value in minute)
        if year is None or month is None or day is None or hour is None or minutes is None:
            return None
        try:
            start = datetime(2000 + year, month, day, hour, minutes, tzinfo=self.zone).astimezone(UTC)
        except ValueError:
            return None
        if len(self._minutes) >= _CACHED_MINUTES:
            self._minutes.clear()
        self._minutes[minute] = start
        return start


BEIJING_CLOCK = TerminalClock()
"""Shared by the terminals in the standard's zone."""
