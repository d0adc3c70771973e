"""Whether a device moves."""

import pytest

from motorpool.actors.rules.fold import add_motion
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
    attributes = dict(report.attributes)
    add_motion(report, last, attributes)
    assert attributes["motion"] is motion
