"""Whether a device moves."""

from datetime import UTC, datetime

import pytest

from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position


@pytest.mark.parametrize(
    ("report", "last", "motion"),
    [
        (PositionReport({}, speed=0.0), None, False),
        (PositionReport({}, speed=0.01), None, False),
        (PositionReport({}, speed=0.02), None, True),
        (PositionReport({"motion": True}, speed=0.0), None, True),
        (PositionReport({}, located=False), Position(speed=12.0), True),
        (PositionReport({}, located=False), None, False),
    ],
)
def test_motion_goes_by_the_speed_unless_the_device_knows_better(report, last, motion):
    context = FoldContext(7, "jt808", datetime(2026, 6, 15, tzinfo=UTC))
    assert fold(report, FoldState(last), context).position.attributes["motion"] is motion
