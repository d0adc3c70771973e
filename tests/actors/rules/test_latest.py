"""Which position is a device's latest."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.rules.fold import is_latest
from motorpool.storage.records import Position

NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


def fixed(seconds):
    return Position(server_time=NOON, fix_time=NOON + timedelta(seconds=seconds))


def test_a_position_where_the_device_cannot_be_is_never_the_latest():
    wrong = Position(server_time=NOON, fix_time=NOON, attributes={"implausible": True})
    assert not is_latest(wrong, None)
    assert not is_latest(wrong, fixed(-1))


@pytest.mark.parametrize(
    ("seconds", "last", "latest"),
    [
        (0, None, True),
        (1, 0, True),
        (0, 0, True),
        (-1, 0, False),
        (86_400, 0, True),
        (86_401, 0, False),
        (86_401, None, False),
    ],
)
def test_the_newest_fix_that_is_not_from_the_future(seconds, last, latest):
    assert is_latest(fixed(seconds), None if last is None else fixed(last)) is latest
