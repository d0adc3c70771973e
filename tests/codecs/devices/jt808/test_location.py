from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.codecs.devices.jt808.item_layouts import STANDARD_ITEMS
from motorpool.codecs.devices.jt808.location import decode_location
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.vendors.models import STANDARD
from motorpool.codecs.errors import Truncated

WHEN = datetime(2026, 5, 1, 10, 20, 30, tzinfo=UTC)
CLOCK = TerminalClock()


def located(body, *, is_2019=False, archived=False):
    words = STANDARD.words_of(is_2019)
    return decode_location(body, 0, len(body), CLOCK, words, STANDARD_ITEMS, 7, archived)


def test_each_field_has_its_unit():
    report = located(encode_location(22.5731, 113.9213, WHEN, altitude=35, speed_kmh=47, course=92))
    assert report.device_time == WHEN
    assert report.fix_time is None
    assert (report.latitude, report.longitude, report.altitude, report.course) == (
        22.5731,
        113.9213,
        35.0,
        92.0,
    )
    assert report.speed == pytest.approx(25.37797, abs=1e-5)  # 47 / 1.852
    assert report.valid
    assert report.located
    assert not report.archived
    assert report.receipt == 7
    assert report.attributes == {"status": 3, "ignition": True, "blocked": False}


@pytest.mark.parametrize(
    ("latitude", "longitude"), [(-33.4, -70.6), (-33.4, 151.2), (51.5, -0.1), (1.0, 2.0)]
)
def test_signs_come_from_the_status(latitude, longitude):
    report = located(encode_location(latitude, longitude, WHEN))
    assert (report.latitude, report.longitude) == (latitude, longitude)


def test_altitude_may_lie_below_the_sea():
    assert located(encode_location(31.5, 35.5, WHEN, altitude=-430)).altitude == -430.0


def test_zeros_without_a_fix_are_no_location():
    report = located(encode_location(0, 0, None, valid=False, ignition=False))
    assert not report.located
    assert not report.valid
    assert report.device_time is None
    assert report.attributes["ignition"] is False


def test_zeros_with_a_fix_are_a_location():
    assert located(encode_location(0, 0, WHEN)).located


@pytest.mark.parametrize(("latitude", "longitude"), [(91.0, 10.0), (10.0, 181.0)])
def test_coordinates_out_of_range_are_no_location(latitude, longitude):
    assert not located(encode_location(latitude, longitude, WHEN)).located


def test_a_course_that_is_none_is_north():
    body = bytearray(encode_location(1, 2, WHEN))
    body[20:22] = (5000).to_bytes(2, "big")
    assert located(bytes(body)).course == 0.0


@pytest.mark.parametrize(
    ("bits", "is_2019", "attributes"),
    [
        (1 << 10, False, {"blocked": True}),
        (1 << 11, False, {"blocked": True}),
        (1 << 12, False, {"blocked": False, "lock": True}),
        (1 << 13, False, {"blocked": False, "door": True}),
        (1 << 17, True, {"blocked": False, "door": True}),
        (3 << 8, False, {"blocked": False, "load": 3}),
        (1 << 22, True, {"blocked": False, "motion": True}),
        (1 << 22, False, {"blocked": False}),
    ],
)
def test_status_bits(bits, is_2019, attributes):
    body = encode_location(1, 2, WHEN, ignition=False, status=bits)
    assert located(body, is_2019=is_2019).attributes == {"status": bits | 2, "ignition": False, **attributes}


@pytest.mark.parametrize(
    ("bits", "is_2019", "alarm"),
    [
        (0x1, False, "sos"),
        (0x2 | 1 << 13, False, "overspeed"),
        (0x5, False, "sos,fatigueDriving"),
        (1 << 5, False, "gpsAntennaCut"),
        (1 << 7 | 1 << 8, False, "lowPower,powerCut"),
        (1 << 15, False, "vibration"),
        (1 << 16, False, "tampering"),
        (1 << 15 | 1 << 16, True, "general"),
        (1 << 20, True, "geofence"),
        (1 << 28, False, "movement"),
        (1 << 29 | 1 << 30, False, "accident"),
        (1 << 31, False, "door"),
    ],
)
def test_alarm_bits_by_the_year(bits, is_2019, alarm):
    assert located(encode_location(1, 2, WHEN, alarm=bits), is_2019=is_2019).attributes["alarm"] == alarm


def test_alarm_bits_say_what_the_standard_says():
    """Table 24 of JT/T 808-2013 and table 25 of JT/T 808-2019."""
    standard = {
        3: "dangerWarning",
        4: "gnssFault",
        6: "gnssAntennaShort",
        9: "displayFault",
        10: "speechFault",
        11: "cameraFault",
        12: "cardReaderFault",
        13: "overspeedWarning",
        14: "fatigueWarning",
        15: "drivingViolation",
        16: "tireWarning",
        17: "blindSpotWarning",
        18: "drivingTimeExceeded",
        19: "parkedTooLong",
        20: "areaCrossed",
        21: "routeCrossed",
        22: "routeTime",
        23: "routeLeft",
        24: "speedSensorFault",
        25: "fuelAbnormal",
        26: "vehicleStolen",
        27: "unauthorizedIgnition",
        28: "unauthorizedMovement",
        29: "collisionWarning",
        30: "rolloverWarning",
        31: "unauthorizedDoor",
    }
    for bit in range(32):
        body = encode_location(1, 2, WHEN, alarm=1 << bit)
        assert located(body, is_2019=True).attributes.get("alarmDetail") == standard.get(bit), bit
        expected = None if bit in (15, 16, 17) else standard.get(bit)
        assert located(body, is_2019=False).attributes.get("alarmDetail") == expected, bit
    several = located(encode_location(1, 2, WHEN, alarm=1 << 4 | 1 << 11 | 1), is_2019=True).attributes
    assert (several["alarm"], several["alarmDetail"]) == ("sos,fault", "gnssFault,cameraFault")


def test_every_alarm_bit_has_a_standard_name():
    standard = {
        "general",
        "sos",
        "vibration",
        "movement",
        "overspeed",
        "lowPower",
        "fault",
        "powerOn",
        "door",
        "geofence",
        "geofenceExit",
        "gpsAntennaCut",
        "accident",
        "tow",
        "fatigueDriving",
        "powerCut",
        "parking",
        "fuelLeak",
        "tampering",
    }
    for is_2019 in (False, True):
        for bit in range(32):
            assert (
                located(encode_location(1, 2, WHEN, alarm=1 << bit), is_2019=is_2019).attributes["alarm"]
                in standard
            )


def test_alarms_of_bits_and_items_are_joined_once_each():
    body = encode_location(1, 2, WHEN, alarm=0b11, items=bytes.fromhex("110100140400000003"))
    assert located(body).attributes["alarm"] == "sos,overspeed,fault,tampering"


def test_old_reports_are_marked():
    report = located(encode_location(1, 2, WHEN), archived=True)
    assert report.archived
    assert report.attributes["archive"] is True


def test_reports_do_not_share_their_attributes():
    first, second = (located(encode_location(1, 2, WHEN)) for _ in range(2))
    first.attributes["note"] = 1
    assert "note" not in second.attributes


def test_memory_of_status_and_alarm_words_is_bounded():
    for word in range(5000):
        located(encode_location(1, 2, WHEN, alarm=word << 1, status=word << 10))
    assert len(STANDARD.words_2013.statuses) <= 1024
    assert len(STANDARD.words_2013.alarms) <= 1024


def test_fewer_than_28_bytes_are_no_location():
    with pytest.raises(Truncated, match="27 bytes"):
        located(encode_location(1, 2, WHEN)[:27])
