"""Which position is a device's latest."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.rules.fold import is_latest
from motorpool.storage.records import Position

NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


def fixed(seconds):
    return Position(server_time=NOON, fix_time=NOON + timedelta(seconds=seconds))


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
