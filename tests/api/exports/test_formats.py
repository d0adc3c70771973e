import csv
import gc
import io
import json
import math
import zipfile
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import fastkml
import gpxpy
import pytest
from fastkml.validator import validate
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from motorpool.actors.words.cells import harmless, is_like_formula
from motorpool.api.exports.csv_table import CsvTable
from motorpool.api.exports.formats import clock_time
from motorpool.api.exports.gpx import Gpx
from motorpool.api.exports.kml import Kml, Kmz
from motorpool.storage.records import Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
ANY_TEXT = st.text(st.characters(), max_size=20)
"""All of Unicode, single surrogates and control characters too."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=5,
)


def position(number=1, **fields):
    known = {
        "latitude": 52.5,
        "longitude": 13.25,
        "altitude": 34.5,
        "speed": 10.0,
        "course": 90.0,
        "valid": True,
    }
    when = NOON + timedelta(minutes=number)
    return Position(
        id=number,
        device_id=7,
        protocol="jt808",
        server_time=when,
        device_time=when,
        fix_time=when,
        **{**known, **fields},
    )


def whole(writer, *parts):
    first = parts[0] if parts else []
    return writer.begin(first) + b"".join(writer.write(part) for part in parts) + writer.end()


def rows(table, *parts):
    return list(csv.reader(io.StringIO(whole(table, *parts).decode(), newline=""), strict=True))


@given(st.lists(st.dictionaries(ANY_TEXT, VALUES, max_size=4), max_size=4), ANY_TEXT)
def test_a_reader_of_csv_gets_every_value_and_no_formula(attributes, address):
    keys = sorted({key for each in attributes for key in each})
    sent = [position(n, attributes=each, address=address) for n, each in enumerate(attributes)]
    header, *read = rows(CsvTable(keys, UTC), sent)
    assert len(header) == 14 + len(keys)
    assert len(read) == len(attributes)
    for row, each in zip(read, attributes, strict=True):
        for cell, key in zip(row[14:], keys, strict=True):
            value = each.get(key)
            if value is None:
                assert cell == ""
            elif isinstance(value, str):
                kept = value.encode(errors="replace").decode()
                assert cell == harmless(kept)
            else:
                assert json.loads(cell) == without_surrogates(value)
                assert type(json.loads(cell)) is type(value)
    for cell in (cell for row in (header, *read) for cell in row if is_like_formula(cell)):
        assert math.isfinite(float(cell))  # a negative number


def without_surrogates(value):
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case list():
            return [without_surrogates(each) for each in value]
        case dict():
            return {without_surrogates(key): without_surrogates(each) for key, each in value.items()}
        case _:
            return value


def test_csv_has_the_fields_in_order_and_times_of_the_zone():
    header, row = rows(
        CsvTable(["ignition", "speed"], BERLIN),
        [position(attributes={"ignition": True, "speed": "fast, very"})],
    )
    assert header == [
        "id",
        "deviceId",
        "protocol",
        "serverTime",
        "deviceTime",
        "fixTime",
        "valid",
        "latitude",
        "longitude",
        "altitude",
        "speed",
        "course",
        "address",
        "accuracy",
        "ignition",
        "attributes.speed",
    ]
    time = "2026-05-01 14:01:00"
    assert row[:6] == ["1", "7", "jt808", time, time, time]
    assert row[6:] == ["true", "52.5", "13.25", "34.5", "10.0", "90.0", "", "0.0", "true", "fast, very"]


def test_csv_shows_what_there_was_when_it_was_begun():
    later = position(2, attributes={"new": 1})
    read = rows(CsvTable(["old"], UTC), [position(1, attributes={"old": 1}), later], [position(3)])
    assert [row[0] for row in read] == ["id", "1", "3"]


@pytest.mark.parametrize("zone", [UTC, BERLIN, ZoneInfo("America/New_York")])
def test_the_ends_of_the_calendar_have_a_time_in_every_zone(zone):
    assert clock_time(datetime.min.replace(tzinfo=UTC), zone).startswith("0001-01-01 0")
    assert clock_time(datetime.max.replace(tzinfo=UTC), zone).startswith("9999-12-31 ")


@given(
    ANY_TEXT, st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.floats(-500, 9000)), max_size=5)
)
def test_gpx_is_read_by_gpxpy(name, places):
    points = [
        position(n, latitude=lat, longitude=lon, altitude=height)
        for n, (lat, lon, height) in enumerate(places)
    ]
    text = whole(Gpx(name), points[:2], points[2:]).decode()
    root = etree.fromstring(text.encode())
    assert root.tag == "{http://www.topografix.com/GPX/1/0}gpx"
    (track,) = gpxpy.parse(text).tracks
    (segment,) = track.segments
    assert len(segment.points) == len(points)
    for read, sent in zip(segment.points, points, strict=True):
        assert read.latitude == pytest.approx(sent.latitude, abs=1e-7)
        assert read.longitude == pytest.approx(sent.longitude, abs=1e-7)
        assert read.elevation == pytest.approx(sent.altitude, abs=0.01)
        assert read.time == sent.fix_time
        assert read.speed == pytest.approx(5.144, abs=1e-3)
        assert read.course == 90


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_kml_fits_its_schema_and_is_read_by_fastkml(count, tmp_path):
    points = [position(n, longitude=13 + n / 1000) for n in range(count)]
    kml = Kml("Lorry <7> & \x00", NOON, NOON + timedelta(hours=25), BERLIN)
    file = tmp_path / "positions.kml"
    file.write_bytes(whole(kml, points[:3], points[3:]))
    assert validate(file_to_validate=file)
    (document,) = fastkml.KML.from_string(file.read_bytes()).features
    assert document.name == "Lorry <7> & \ufffd"
    (placemark,) = document.features
    assert placemark.name == "2026-05-01 14:00 - 2026-05-02 15:00"
    if not count:
        assert placemark.geometry is None
    else:
        assert placemark.geometry.geom_type == ("Point" if count == 1 else "LineString")
        assert placemark.geometry.coords == tuple((13 + n / 1000, 52.5, 34.5) for n in range(count))


def test_kmz_is_an_archive_of_the_kml():
    points = [position(n) for n in range(2000)]
    parts = [points[n : n + 500] for n in range(0, 2000, 500)]
    kmz = whole(Kmz(Kml("Lorry", NOON, NOON, UTC), NOON), *parts)
    with zipfile.ZipFile(io.BytesIO(kmz)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["doc.kml"]
        assert archive.read("doc.kml") == whole(Kml("Lorry", NOON, NOON, UTC), *parts)
    assert len(kmz) < 5000


def test_kmz_that_is_not_finished_leaves_nothing_behind():
    kmz = Kmz(Kml("Lorry", NOON, NOON, UTC), datetime(1970, 1, 1, tzinfo=UTC))
    kmz.begin([position()])
    del kmz
    gc.collect()  # an error in a finalizer fails the test
