"""Reports as trackers send them, as the server's own codecs read them."""

from itertools import islice

import pytest

from motorpool.bench.load.day_messages import jt808_location, osmand_query
from motorpool.bench.roads import CALM, Report, make_day
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.osmand.query import read_query
from motorpool.codecs.reports import PositionReport


def some_reports() -> list[Report]:
    """From the northern and the southern half, with and without a fix, from a network outage."""
    days = [
        make_day(
            "taxi", seed, ignition=True, odometer=seed % 2 == 0, outages=2.0, garages=0.5, fix_loss="repeat"
        )
        for seed in range(4)
    ]
    found = [report for day in days for report in islice(day.reports, 0, None, 40)]
    assert {report.latitude > 0 for report in found} == {True, False}
    assert {report.valid for report in found} == {report.archived for report in found} == {True, False}
    assert {report.ignition for report in found} == {True, False}
    return found


def test_a_location_says_what_the_report_says() -> None:
    codec, terminal = Jt808(), Terminal("100000000001")
    for report in some_reports():
        *_, position = codec.receive(terminal.location(jt808_location(report)))
        assert isinstance(position, PositionReport)
        check(report, position)
        assert position.attributes["ignition"] is report.ignition
        if report.odometer is not None:
            assert position.attributes["odometer"] == pytest.approx(report.odometer, abs=51)


def test_a_query_says_what_the_report_says() -> None:
    for report in some_reports():
        unique_id, position = read_query(osmand_query("van & truck", report))
        assert unique_id == "van & truck"
        check(report, position)
        assert position.attributes.get("ignition") is report.ignition
        assert position.attributes.get("odometer") == report.odometer
        assert position.attributes.get("archive", False) is report.archived


def check(report: Report, position: PositionReport) -> None:
    assert position.fix_time in (None, report.fix_time)
    assert position.device_time == report.fix_time
    assert position.valid is report.valid
    assert position.latitude == pytest.approx(report.latitude, abs=1e-9)
    assert position.longitude == pytest.approx(report.longitude, abs=1e-9)
    assert position.speed == pytest.approx(report.speed_knots, abs=0.06)
    assert position.course == report.course
    assert position.altitude == report.altitude


def test_what_an_ignition_that_is_not_wired_makes_of_it() -> None:
    report = make_day("courier", 1, **CALM).reports[0]
    assert report.ignition is None
    *_, position = Jt808().receive(Terminal("100000000001").location(jt808_location(report)))
    assert isinstance(position, PositionReport)
    assert position.attributes["ignition"] is False
    assert "ignition" not in read_query(osmand_query("courier", report))[1].attributes
