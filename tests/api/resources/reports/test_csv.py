"""Reports as CSV, read by the standard library."""

import csv
import io

from openpyxl import load_workbook
from tests.api.resources.reports.reporting import MAY, span
from tests.api.resources.reports.test_lists import drive


async def rows_of(client, path):
    """The rows of a report by their headings, and the name of the file."""
    answer = await client.get(path)
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text))), answer.headers["Content-Disposition"]


async def test_trips_in_the_units_language_and_time_zone_of_the_user(served):
    ann = await served.user(
        "ann",
        attributes={
            "language": "de",
            "timezone": "Asia/Tokyo",
            "speedUnit": "kmh",
            "distanceUnit": "mi",
            "volumeUnit": "usGal",
        },
    )
    device_id = await served.device(served.admin, "1", name="=1+1", attributes={"fuelCapacity": 100})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    await served.report(*drive(served, device_id, attributes=lambda i: {"fuelLevel": 90 - i}))
    items = (await ann.get(f"/reports/trips?{span()}")).json()
    rows, name = await rows_of(ann, f"/reports/trips/csv?{span()}")
    assert name.startswith('attachment; filename="trips_')
    assert "2026-05-01_2026-05-02.csv" in name
    assert len(items) == len(rows) == 1
    (item,), (row,) = items, rows
    assert row["Gerät"] == "'=1+1"
    assert row["Beginn"].startswith("2026-05-01 ")
    assert float(row["Strecke (mi)"]) == round(item["distance"] / 1609.344, 3)
    assert float(row["Höchstgeschwindigkeit (km/h)"]) == round(item["maxSpeed"] * 1.852, 3)
    assert float(row["Verbrauch (US gal)"]) == round(item["spentFuel"] / 3.785411784, 3)
    hours, minutes, seconds = map(int, row["Dauer"].split(":"))
    assert (hours * 60 + minutes) * 60 + seconds == item["duration"] // 1000


async def test_each_report_has_the_rows_of_its_workbook(served):
    first = await served.device(served.admin, "1", name="Van 1")
    second = await served.device(served.admin, "2", name="Van 2")
    for device_id in (first, second):
        await served.report(
            *drive(served, device_id, attributes=lambda i: {"fuel": 60 - i, "batteryLevel": 63})
        )
    more = {
        "presence": {"latitude": 0, "longitude": 0},
        "geofences": {"geofenceId": 1},
        "sensors": {"attribute": "batteryLevel"},
        "summary": {"daily": True},
    }
    for report in (
        *("route", "events", "summary", "trips", "stops", "sensors", "idling", "utilisation"),
        *("fuel", "geofences", "presence", "drivers", "devices"),
    ):
        query = span(MAY, deviceId=[first, second], **more.get(report, {}))
        rows, _ = await rows_of(served.admin, f"/reports/{report}/csv?{query}")
        answer = await served.admin.get(f"/reports/{report}/xlsx?{query}")
        book = load_workbook(io.BytesIO(answer.body))
        # Lines of the header, an empty one, and the titles.
        sheets = [[row for row in sheet.iter_rows(values_only=True) if any(row)] for sheet in book]
        shown = sum(len(sheet) - 1 - sum(map(is_header, sheet)) for sheet in sheets)
        assert len(rows) == shown, report
        if report in {"route", "trips", "stops"}:
            assert {row["Device"] for row in rows} == {"Van 1", "Van 2"}


def is_header(row):
    """Whether a line stands above the titles: a label and a text."""
    return row[0] in {"Report", "Device", "Group", "Period"} and not any(row[2:])


async def test_a_report_without_rows_has_its_headings(served):
    answer = await served.admin.get(f"/reports/stops/csv?{span()}")
    assert answer.text.splitlines() == [
        "Device,Start,Start Address,Odometer (km),End,Duration,Engine Hours,Spent Fuel (l)"
    ]


async def test_a_workbook_of_several_reports_is_no_csv(served):
    for report in ("history", "combined"):
        answer = await served.admin.get(f"/reports/{report}/csv?{span()}")
        assert answer.status == 404
        assert "csv" in answer.text
