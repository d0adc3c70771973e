import pytest

from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Heartbeat, PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH

TOWER = {"locationAreaCode": 1, "cellId": 2}


def test_a_draft_is_reported_with_all_that_was_read():
    draft = Draft({"sat": 7}, valid=True, altitude=35.0, archived=True, towers=[None, TOWER])
    draft.set_place(52.5, 13.4)
    draft.set_motion(100, 90.0)
    assert draft.report(b"ok") == PositionReport(
        {"sat": 7},
        valid=True,
        latitude=52.5,
        longitude=13.4,
        altitude=35.0,
        speed=100 * KNOTS_PER_KMH,
        course=90.0,
        network={"radioType": "gsm", "considerIp": False, "cellTowers": [TOWER]},
        archived=True,
        receipt=b"ok",
    )
    bare = draft.report_without_place()
    assert not bare.located
    assert (bare.latitude, bare.speed, bare.archived) == (0.0, 0.0, True)


def test_a_place_that_does_not_exist_is_an_error_and_such_a_course_is_none():
    draft = Draft()
    with pytest.raises(CodecError):
        draft.set_place(91.0, 0.0)
    assert not draft.located
    draft.set_motion(1.0, 361.0)
    assert draft.course == 0.0


def test_nothing_read_is_a_heartbeat():
    assert Draft().report_or_heartbeat(b"ok") == Heartbeat(b"ok")
    assert Draft(towers=[None]).report_or_heartbeat(None) == Heartbeat()
    assert isinstance(Draft({"rssi": 1}).report_or_heartbeat(None), PositionReport)
    assert isinstance(Draft(towers=[dict(TOWER)]).report_or_heartbeat(None), PositionReport)


def test_drafts_share_nothing():
    Draft().attributes["a"] = 1
    Draft().towers.append(None)
    assert Draft() == Draft({})
