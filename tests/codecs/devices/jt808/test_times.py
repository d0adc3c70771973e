from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.times import BCD, NO_TIME, TerminalClock, to_bcd


def test_times_are_read_in_gmt_plus_eight():
    assert TerminalClock().read(bytes.fromhex("240305222231")) == datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)


def test_another_zone_with_its_summer_time():
    clock = TerminalClock(ZoneInfo("Europe/Berlin"))
    assert clock.read(bytes.fromhex("260701120000")) == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert clock.read(bytes.fromhex("260101120000")) == datetime(2026, 1, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "stamp",
    [
        "000000000000",
        "261301000000",
        "260230000000",
        "260501240000",
        "260501006000",
        "260501000060",
        "2605010000fa",
        "ffffffffffff",
    ],
)
def test_what_is_no_time_is_none(stamp):
    clock = TerminalClock()
    clock.read(bytes.fromhex("260501000000"))
    assert clock.read(bytes.fromhex(stamp)) is None
    assert clock.read(bytes.fromhex(stamp)) is None


@given(st.integers(946_857_600, 4_102_272_000), st.integers(-14, 14))
def test_what_is_written_is_read(seconds, hours):
    clock = TerminalClock(timezone(timedelta(hours=hours)))
    moment = datetime.fromtimestamp(seconds, UTC)
    assert clock.read(clock.write(moment)) == moment


def test_memory_of_minutes_is_bounded():
    clock = TerminalClock(UTC)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for minute in range(5000):
        moment = start + timedelta(minutes=minute)
        assert clock.read(clock.write(moment)) == moment
    assert len(clock._minutes) <= 4096


def test_years_that_two_digits_cannot_tell_are_refused():
    with pytest.raises(ValueError, match="2100"):
        to_bcd(datetime(2100, 1, 1, tzinfo=UTC))


def test_bcd_has_only_decimal_digits():
    assert BCD[0x59] == 59
    assert BCD[0x5A] is None
    assert BCD[0xA5] is None
    assert bytes(6) == NO_TIME
