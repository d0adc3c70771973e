from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.osmand.query import parse_time, read_query
from motorpool.codecs.errors import CodecError

MOMENT = datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("1709648551", MOMENT),
        ("1709648551000", MOMENT),
        ("2147483646", datetime(2038, 1, 19, 3, 14, 6, tzinfo=UTC)),
        ("2147483647", datetime(1970, 1, 25, 20, 31, 23, 647000, tzinfo=UTC)),
        (1709648551.5, MOMENT.replace(microsecond=500000)),
        ("2024-03-05T14:22:31Z", MOMENT),
        ("2024-03-05T14:22:31", MOMENT),
        ("2024-03-05T15:22:31+01:00", MOMENT),
        ("2024-03-05T15:22:31 01:00", MOMENT),
        ("2024-03-05T14:22:31.250Z", MOMENT.replace(microsecond=250000)),
        ("2024-03-05 14:22:31", MOMENT),
    ],
)
def test_times_in_every_form(stamp, moment):
    assert parse_time(stamp) == moment


@pytest.mark.parametrize(
    "stamp", ["yesterday", "nan", "inf", "1e300", "-1e300", "2024-13-01 00:00:00", "2024-03-05T", "12:00"]
)
def test_malformed_times_are_errors(stamp):
    with pytest.raises(CodecError, match="is no time"):
        parse_time(stamp)


def report_of(query):
    return read_query("id=1&" + query)[1]


@pytest.mark.parametrize("query", ["", "id=", "id=%20", "lat=1&lon=2"])
def test_a_query_without_id_is_an_error(query):
    with pytest.raises(CodecError, match="no id"):
        read_query(query)


def test_id_goes_before_deviceid():
    assert read_query("deviceid=2&id=1")[0] == "1"
    assert read_query("deviceid=2")[0] == "2"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("lat=x&lon=2", "lat is no number"),
        ("lat=nan&lon=2", "lat is no number"),
        ("lat=\u0663&lon=2", "lat is no number"),
        ("lat=1_0&lon=2", "lat is no number"),
        ("timestamp=\u0663", "is no time"),
        ("lat=91&lon=2", "no such latitude"),
        ("lat=1&lon=-181", "no such latitude"),
        ("location=1,2,3", "lon is no number"),
        ("lat=1&lon=2&speed=fast", "speed is no number"),
        ("timestamp=soon", "is no time"),
        ("&".join(f"a{n}=1" for n in range(300)), "more than 256 parameters"),
    ],
)
def test_wrong_values_are_errors_with_a_sentence(query, error):
    with pytest.raises(CodecError, match=error):
        report_of(query)


def test_half_of_the_coordinates_are_no_location():
    report = report_of("lat=1&timestamp=1709648551")
    assert not report.located
    assert not report.valid
    assert report.device_time == MOMENT


@pytest.mark.parametrize(
    ("word", "valid"),
    [("true", True), ("TRUE", True), ("1", True), ("", True), ("false", False), ("0", False)],
)
def test_a_fix_is_valid_by_default(word, valid):
    assert report_of(f"lat=1&lon=2&valid={word}").valid is valid


def test_numbers_may_have_an_exponent():
    assert report_of("lat=2.25731e1&lon=1.1e2").latitude == 22.5731


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("933", 933.0),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("false", False),
        ("sos", "sos"),
        ("", ""),
        ("nan", "nan"),
        ("1e999", "1e999"),
        ("1_0", "1_0"),
        ("\u0663", "\u0663"),
        ("%E5%AD%97", "字"),
    ],
)
def test_other_parameters_are_attributes_of_their_kind(text, value):
    attribute = report_of(f"x={text}").attributes["x"]
    assert attribute == value
    assert type(attribute) is type(value)


def test_unusable_cells_and_access_points_are_left_out():
    assert report_of("cell=1,2,3&cell=a,b,c,d&cell=1,2,0,4&cell=1,2,3,0").network is None
    assert report_of("cell=262,1,10,\u0663").network is None
    for strength in ("\u0663", "--5", "9" * 5000):
        network = report_of(f"wifi=AA-BB-CC-DD-EE-FF,{strength}").network
        assert network["wifiAccessPoints"] == [{"macAddress": "aa:bb:cc:dd:ee:ff"}]
    network = report_of("cell=262,1,10,20&wifi=AA-BB-CC-DD-EE-FF").network
    assert network["cellTowers"] == [
        {"mobileCountryCode": 262, "mobileNetworkCode": 1, "locationAreaCode": 10, "cellId": 20}
    ]
    assert network["wifiAccessPoints"] == [{"macAddress": "aa:bb:cc:dd:ee:ff"}]


@given(
    st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 100), st.floats(0, 360), st.integers(1, 2**31 - 2)
)
def test_what_a_phone_writes_is_read(latitude, longitude, speed, course, seconds):
    report = report_of(
        urlencode(
            {"lat": latitude, "lon": longitude, "speed": speed, "bearing": course, "timestamp": seconds}
        )
    )
    assert (report.latitude, report.longitude, report.speed, report.course) == (
        latitude,
        longitude,
        speed,
        course,
    )
    assert report.device_time.timestamp() == seconds
    assert report.valid


@given(st.text(max_size=200))
def test_any_text_is_read_or_a_codec_error(text):
    with suppress(CodecError):
        read_query(text)


def test_the_precision_of_the_fix_and_the_charge_of_the_phone():
    attributes = report_of("hdop=1.5&batt=63&charge=1").attributes
    assert attributes == {"hdop": 1.5, "batteryLevel": 63.0, "charge": True}
