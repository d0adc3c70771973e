import csv
import io
import zipfile
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import fastkml
import gpxpy
import pytest

from motorpool.actors.upkeep.settings import PositionSettings
from motorpool.storage.devices import positions

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = "from=2026-05-01T00:00:00Z&to=2026-05-01T23:59:59Z"
FORMATS = {
    "kml": "application/vnd.google-earth.kml+xml",
    "kmz": "application/vnd.google-earth.kmz",
    "csv": "text/csv; charset=utf-8",
    "gpx": "application/gpx+xml",
}


def export(name, device_id, span=DAY):
    return f"/positions/{name}?deviceId={device_id}&{span}"


async def drive(served, device_id, count=5):
    return await served.report(
        *(
            served.position(device_id, NOON + timedelta(seconds=10 * n), longitude=13 + n / 10_000)
            for n in range(count)
        )
    )


def read_csv(answer):
    assert answer.status == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline=""), strict=True))


def read_gpx(answer):
    assert answer.status == 200, answer.text
    return gpxpy.parse(answer.text).tracks[0].segments[0].points


def read_kml(content):
    return fastkml.KML.from_string(content).features[0].features[0]


async def test_each_format_has_all_positions_of_the_span_in_order(served):
    device_id = await served.device(served.admin, "1")
    stored = await drive(served, device_id, 1203)
    answers = {name: await served.admin.get(export(name, device_id)) for name in FORMATS}
    for name, answer in answers.items():
        assert answer.status == 200, answer.text
        assert answer.headers["Content-Type"] == FORMATS[name]
        expected = f'attachment; filename="positions_Vehicle-1_2026-05-01_2026-05-01.{name}"'
        assert answer.headers["Content-Disposition"] == expected
    assert [int(row["id"]) for row in read_csv(answers["csv"])] == [each.id for each in stored]
    assert [point.time for point in read_gpx(answers["gpx"])] == [each.fix_time for each in stored]
    assert len(read_kml(answers["kml"].body).geometry.coords) == 1203
    with zipfile.ZipFile(io.BytesIO(answers["kmz"].body)) as archive:
        assert archive.read("doc.kml") == answers["kml"].body


async def test_a_span_has_both_ends_and_may_be_empty(served):
    device_id = await served.device(served.admin, "1")
    stored = await drive(served, device_id)
    path = f"deviceId={device_id}&from=2026-05-01T12:00:10Z&to=2026-05-01T12:00:30Z"
    found = read_csv(await served.admin.get(f"/positions/csv?{path}"))
    assert [int(row["id"]) for row in found] == [each.id for each in stored[1:4]]
    empty = f"deviceId={device_id}&from=2025-05-01T12:00:10Z&to=2025-05-01T12:00:30Z"
    assert read_csv(await served.admin.get(f"/positions/csv?{empty}")) == []
    assert read_gpx(await served.admin.get(f"/positions/gpx?{empty}")) == []
    assert read_kml((await served.admin.get(f"/positions/kml?{empty}")).body).geometry is None


async def test_times_are_those_of_the_users_zone_and_names_those_of_the_device(served):
    device_id = await served.device(served.admin, "1", name='<A> & "B"')
    await served.report(served.position(device_id, attributes={"note": "=1+1", "ignition": True}))
    ann = await served.user("ann", attributes={"timezone": "Asia/Kolkata"})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    (row,) = read_csv(await ann.get(export("csv", device_id)))
    assert row["fixTime"] == "2026-05-01 17:30:00"
    assert (row["note"], row["ignition"], row["protocol"]) == ("'=1+1", "true", "jt808")
    kml = await ann.get(export("kml", device_id))
    assert read_kml(kml.body).name == "2026-05-01 05:30 - 2026-05-02 05:29"
    assert fastkml.KML.from_string(kml.body).features[0].name == '<A> & "B"'
    (track,) = gpxpy.parse((await ann.get(export("gpx", device_id))).text).tracks
    assert track.name == '<A> & "B"'


@pytest.mark.parametrize("name", FORMATS)
async def test_who_has_no_access_or_no_reports_gets_no_export(served, name):
    device_id = await served.device(served.admin, "1")
    path = export(name, device_id)
    ann, norep = await served.user("ann"), await served.user("norep", disableReports=True)
    await served.admin.post("/permissions", json={"userId": norep.id, "deviceId": device_id})
    assert (await served.client().get(path)).status == 401
    assert (await ann.get(path)).status == 404
    assert (await norep.get(path)).status == 400
    assert (await served.admin.get(f"/positions/{name}?deviceId={device_id}")).status == 400
    assert (await served.admin.get(f"/positions/{name}?{DAY}")).status == 400


async def test_a_cap_by_setting_refuses_and_cuts_nothing(starting):
    async with starting(positions=PositionSettings(most=3)) as served:
        device_id = await served.device(served.admin, "1")
        await drive(served, device_id, 4)
        path = f"/positions/gpx?deviceId={device_id}&from=2026-05-01T12:00:00Z&to=2026-05-01T12:00:"
        assert len(read_gpx(await served.admin.get(path + "20Z"))) == 3
        refused = await served.admin.get(path + "30Z")
        assert (refused.status, refused.text) == (
            400,
            "the span holds more than 3 positions; ask for a shorter one",
        )


async def test_columns_come_from_the_whole_span_and_are_bounded(served, monkeypatch):
    monkeypatch.setattr("motorpool.api.resources.exports.MAX_COLUMNS", 3)
    device_id = await served.device(served.admin, "1")
    await served.report(
        *(served.position(device_id, NOON + timedelta(minutes=n), attributes={f"io{n}": n}) for n in range(3))
    )
    path = export("csv", device_id)
    found = read_csv(await served.admin.get(path))
    assert [(row["io0"], row["io1"], row["io2"]) for row in found] == [
        ("0", "", ""),
        ("", "1", ""),
        ("", "", "2"),
    ]
    await served.report(served.position(device_id, NOON + timedelta(hours=1), attributes={"io3": 0}))
    refused = await served.admin.get(path)
    assert (refused.status, refused.text) == (
        400,
        "the span has more than 3 attributes; ask for a shorter one",
    )


async def test_keys_are_found_beyond_one_query(served, monkeypatch):
    monkeypatch.setattr(positions, "_KEYS", positions._KEYS.replace("20000", "2"))
    monkeypatch.setattr(positions, "_ROWS_OF_KEYS", 2)
    device_id = await served.device(served.admin, "1")
    await served.report(
        *(served.position(device_id, NOON + timedelta(minutes=n), attributes={f"io{n}": n}) for n in range(5))
    )
    database = served.context.database
    found = [
        keys async for keys in positions.attribute_keys(database, device_id, NOON, NOON + timedelta(days=1))
    ]
    assert found == [{"io0", "io1"}, {"io2", "io3"}, {"io4"}]


async def test_an_export_ends_where_the_right_to_it_ends(starting, monkeypatch):
    monkeypatch.setattr("motorpool.api.resources.exports.BATCH", 2)
    async with starting() as served:
        device_id = await served.device(served.admin, "1")
        await drive(served, device_id, 6)
        ann = await served.user("ann")
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
        path = export("gpx", device_id)
        stream_between = positions.stream_between

        async def lose_the_right(*args, **named):
            async with aclosing(stream_between(*args, **named)) as batches:
                async for batch in batches:
                    yield batch
                    body = (await served.admin.get(f"/users/{ann.id}")).json()
                    await served.admin.put(f"/users/{ann.id}", json={**body, "disableReports": True})

        assert len(read_gpx(await ann.get(path))) == 6
        monkeypatch.setattr(positions, "stream_between", lose_the_right)
        with pytest.raises(ExceptionGroup) as failed:
            await ann.get(path)
        assert failed.group_contains(PermissionError, match="access to the device ended")
