"""Reports as workbooks, opened by another library."""

import io
from datetime import timedelta

import openpyxl
import pytest
from tests.api.resources.reports.reporting import MAY, XLSX, happen, opened, span, table
from tests.api.resources.reports.test_lists import drive

from motorpool.actors.reports.settings import ReportSettings
from motorpool.actors.reports.workbook import safe_name
from motorpool.storage.records import Event

MINUTE = timedelta(minutes=1)
SHOWN = "a: =x; Battery: 63 %; Camera: 2 (front); Status: positioned"


def local(hour, minute):
    """A time of the first of May as cells hold it: without a zone."""
    return MAY.replace(tzinfo=None, hour=hour, minute=minute)


async def name_of(client, path):
    """The name of the file that a browser would save."""
    answer = await client.get(path)
    assert answer.status == 200, answer.text
    return answer.headers["Content-Disposition"]


async def test_trips_and_stops_in_the_units_and_time_zone_of_the_user(served):
    ann = await served.user(
        "ann",
        attributes={
            "timezone": "Asia/Tokyo",
            "speedUnit": "kmh",
            "distanceUnit": "mi",
            "volumeUnit": "usGal",
        },
    )
    group = (await served.admin.post("/groups", json={"name": "North"})).json()["id"]
    device_id = await served.device(
        served.admin, "1", name="=1+1 [a/b]", groupId=group, attributes={"fuelCapacity": 100}
    )
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    await served.report(
        *drive(served, device_id, attributes=lambda i: {"fuelLevel": 90 - i, "driverUniqueId": "=cmd()"})
    )
    book = await opened(ann, f"/reports/trips/xlsx?{span()}")
    assert book.sheetnames == ["=1+1 a b"]
    header, titles, rows = table(book.active)
    assert header == {
        "Report": "Trips",
        "Device": "=1+1 [a/b]",
        "Group": "North",
        "Period": "2026-05-01 09:00:00 - 2026-05-02 09:00:00",
    }
    assert titles == [
        "Start",
        "Start Address",
        "Start Odometer",
        "End",
        "End Address",
        "End Odometer",
        "Duration",
        "Length",
        "Top speed",
        "Average speed",
        "Spent Fuel",
        "Driver",
    ]
    (row,) = rows
    assert row == [
        local(9, 10),
        "Dahme, 9 mi N",
        pytest.approx(5000 / 1609.344),
        local(9, 21),
        "Zossen, 8 mi S",
        pytest.approx(16_131.9 / 1609.344),
        timedelta(minutes=11),
        pytest.approx(11_131.9 / 1609.344),
        pytest.approx(56 * 1.852),
        pytest.approx(11_131.9 / 660 * 3.6),
        pytest.approx(11 / 3.785411784),
        "=cmd()",
    ]
    sheet = book.active
    last = sheet.max_row
    assert sheet.cell(last, 9).number_format == '0.0 "km/h"'
    assert sheet.cell(last, 8).number_format == '0.0 "mi"'
    assert sheet.cell(last, 7).number_format == "[h]:mm:ss"
    assert "mlat=52.000000&mlon=13.400000" in sheet.cell(last, 2).hyperlink.target
    # No cell is a formula, whatever the texts are.
    assert all(cell.data_type != "f" for line in sheet.iter_rows() for cell in line)
    stops = table((await opened(ann, f"/reports/stops/xlsx?{span()}")).active)
    assert stops[1] == ["Start", "Start Address", "Odometer", "End", "Duration", "Engine Hours", "Spent Fuel"]
    assert [line[0] for line in stops[2]] == [local(9, 0), local(9, 21)]


async def test_every_other_report_opens(served, database):
    named = {"cameras": {"2": "front"}}
    first = await served.device(served.admin, "1", phone="+491", attributes=named)
    second = await served.device(served.admin, "2", name="Vehicle 1")
    geofence = (
        await served.admin.post("/geofences", json={"name": "Depot", "area": "CIRCLE (52 13, 100)"})
    ).json()["id"]
    (stored, _) = await served.report(
        served.position(
            first,
            MAY,
            protocol="jt808",
            attributes={"status": 2, "batteryLevel": 63, "alarmLabel": "00", "a": "=x", "channel": 2},
        ),
        served.position(second, MAY),
    )
    await happen(
        database,
        Event(
            type="geofenceEnter",
            event_time=MAY,
            device_id=first,
            position_id=stored.id,
            geofence_id=geofence,
        ),
        Event(
            type="alarm",
            event_time=MAY + MINUTE,
            device_id=first,
            position_id=stored.id,
            attributes={"alarm": "general", "alarmDetail": "phoneUse:1"},
        ),
        Event(
            type="deviceOverspeed",
            event_time=MAY + 2 * MINUTE,
            device_id=first,
            attributes={"speed": 50.0, "speedLimit": 40.0},
        ),
        Event(type="somethingOld", event_time=MAY + 3 * MINUTE, device_id=first),
        Event(
            type="media",
            event_time=MAY + 4 * MINUTE,
            device_id=first,
            position_id=stored.id,
            attributes={"media": "image", "file": "1.jpg"},
        ),
    )
    route = await opened(served.admin, f"/reports/route/xlsx?{span()}")
    assert route.sheetnames == ["Vehicle 1", "Vehicle 1 (2)"]
    _, titles, rows = table(route.worksheets[0])
    assert titles == ["Valid", "Time", "Latitude", "Longitude", "Altitude", "Speed", "Address", "Attributes"]
    assert rows == [[True, local(0, 0), 52.5, 13.4, 0, 18.52, "52.500000, 13.400000", SHOWN]]
    _, titles, rows = table((await opened(served.admin, f"/reports/events/xlsx?{span()}")).active)
    assert titles == ["Time", "Type", "Geofence Name", "Maintenance Name", "Address", "Attributes"]
    assert rows == [
        [local(0, 0), "Entered a zone", "Depot", None, "Berlin", "Entered Depot"],
        [local(0, 1), "Alarm", None, None, "Berlin", "Phone in hand, level 1"],
        [
            local(0, 2),
            "Too fast",
            None,
            None,
            None,
            "Exceeded the speed limit: 92.6 km/h (limit 74.1 km/h)",
        ],
        [local(0, 3), "somethingOld", None, None, None, None],
        [local(0, 4), "Sent a file", None, None, "Berlin", "Sent a file: 1.jpg, camera 2 (front)"],
    ]
    summary = await opened(served.admin, f"/reports/summary/xlsx?{span(daily='true')}")
    header, titles, rows = table(summary.active)
    assert summary.sheetnames == ["Summary"]
    assert set(header) == {"Report", "Period"}
    assert titles[:2] == ["Device", "Start Date"]
    assert [line[0] for line in rows] == ["Vehicle 1", "Vehicle 1"]
    for path in ("/reports/devices/xlsx", "/reports/devices"):
        header, titles, rows = table((await opened(served.admin, path, headers={"Accept": XLSX})).active)
        assert header == {"Report": "Devices"}
        assert titles[:3] == ["Name", "Unique ID", "Phone"]
        assert rows[0][:3] == ["Vehicle 1", "1", "+491"]
        assert rows[0][5] == "offline"
        assert rows[0][7] == "Berlin"
    # Nothing was found: one sheet says for what.
    later = MAY + timedelta(days=9)
    empty = await opened(served.admin, f"/reports/trips/xlsx?{span(later, later)}")
    assert empty.sheetnames == ["Trips"]


async def test_a_workbook_is_in_the_language_of_the_user(served, database):
    ann = await served.user("ann", attributes={"language": "de", "distanceUnit": "mi"})
    device_id = await served.device(served.admin, "1", name="Van")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    await served.report(served.position(device_id, MAY, attributes={"odometer": 16_093.44, "temp2": 4.5}))
    alarm = {"alarm": "laneChange", "alarmDetail": "laneDeparture:2"}
    await happen(database, Event(type="alarm", event_time=MAY, device_id=device_id, attributes=alarm))
    header, titles, rows = table((await opened(ann, f"/reports/route/xlsx?{span()}")).active)
    assert header == {
        "Bericht": "Strecke",
        "Gerät": "Van",
        "Zeitraum": "2026-05-01 00:00:00 - 2026-05-02 00:00:00",
    }
    assert (titles[0], titles[-1]) == ("Gültig", "Attribute")
    assert rows[0][-1] == "Kilometerstand: 10,0 mi; Temperatur 2: 4,5 °C"
    header, _, rows = table((await opened(ann, f"/reports/events/xlsx?{span()}")).active)
    assert header["Bericht"] == "Ereignisse"
    assert (rows[0][1], rows[0][-1]) == ("Alarm", "Verlassen der Spur, Stufe 2")
    book = await opened(ann, f"/reports/history/xlsx?{span()}")
    assert book.sheetnames == ["Fahrten", "Stopps", "Strecke Van"]


async def test_files_are_named_by_report_vehicle_and_days_of_the_user(served):
    admin = served.admin
    ann = await served.user("ann", attributes={"timezone": "America/New_York"})
    north = (await admin.post("/groups", json={"name": "North / Nord"})).json()["id"]
    van = await served.device(admin, "1", name='Van 12 "a"; b')
    truck = await served.device(admin, "2", name="Müller 货车", groupId=north)
    bus = await served.device(admin, "3", name="Bus", groupId=north)
    for device_id in (van, truck, bus):
        await admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    path = f"/reports/trips/xlsx?{span(MAY, MAY + timedelta(days=7))}"
    # In New York it is still the last of April, and the end is in the evening of the day before.
    assert await name_of(ann, f"{path}&deviceId={van}") == (
        'attachment; filename="trips_Van-12-a-b_2026-04-30_2026-05-07.xlsx"'
    )
    # Midnight ends the day before.
    assert await name_of(admin, f"{path}&deviceId={truck}") == (
        'attachment; filename="trips_Muller_2026-05-01_2026-05-07.xlsx"'
        "; filename*=UTF-8''trips_M%C3%BCller-%E8%B4%A7%E8%BD%A6_2026-05-01_2026-05-07.xlsx"
    )
    group = f"/reports/history/xlsx?{span()}&groupId={north}"
    assert "history_North-Nord_2026-05-01_2026-05-01.xlsx" in await name_of(admin, group)
    # Of a group that Ann is not linked to, and of vehicles that she does not see, the name says nothing.
    assert "history_fleet_" in await name_of(ann, group)
    assert "summary_fleet_" in await name_of(ann, f"/reports/summary/xlsx?{span()}")
    hidden = await served.device(admin, "4", name="Secret")
    one = await name_of(ann, f"/reports/route/xlsx?{span()}&deviceId={hidden}&deviceId={bus}")
    assert "route_Bus_" in one
    assert "Secret" not in await name_of(ann, f"/reports/route/xlsx?{span()}&deviceId={hidden}")
    assert "devices_fleet_20" in await name_of(admin, "/reports/devices/xlsx")


async def test_who_asks_names_the_time_zone_where_nobody_set_one(served):
    device_id = await served.device(served.admin, "1", name="Van")
    await served.report(served.position(device_id, MAY))
    path = f"/reports/route/xlsx?{span()}&timezone=Asia/Tokyo"
    header, _, rows = table((await opened(served.admin, path)).active)
    assert header["Period"] == "2026-05-01 09:00:00 - 2026-05-02 09:00:00"
    assert rows[0][1] == local(9, 0)
    assert "route_Van_2026-05-01_2026-05-02.xlsx" in await name_of(served.admin, path)
    ann = await served.user("ann", attributes={"timezone": "UTC"})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    assert table((await opened(ann, path)).active)[2][0][1] == local(0, 0)
    refused = await served.admin.get(f"/reports/route/xlsx?{span()}&timezone=Mars/Base")
    assert (refused.status, refused.text) == (400, "timezone: there is no such time zone")


async def test_trips_stops_and_route_in_one_workbook(served):
    car = await served.device(served.admin, "1", name="Car")
    bus = await served.device(served.admin, "2", name="Bus")
    await served.report(*drive(served, car))
    await served.report(served.position(bus, MAY))
    book = await opened(served.admin, f"/reports/history/xlsx?{span()}&deviceId={car}")
    assert book.sheetnames == ["Trips Car", "Stops Car", "Route Car"]
    for sheet, name in zip(book.worksheets, ("trips", "stops", "route"), strict=True):
        alone = await opened(served.admin, f"/reports/{name}/xlsx?{span()}&deviceId={car}")
        assert table(sheet) == table(alone.active)
        assert len(table(sheet)[2]) > 0
        last = sheet.max_row
        formats = [[cell.number_format for cell in each[last]] for each in (sheet, alone.active)]
        assert formats[0] == formats[1]
    both = await opened(served.admin, f"/reports/history/xlsx?{span()}")
    assert both.sheetnames == ["Trips Car", "Stops Car", "Route Car", "Route Bus"]
    later = MAY + timedelta(days=9)
    empty = await opened(served.admin, f"/reports/history/xlsx?{span(later, later)}")
    assert empty.sheetnames == ["Trips", "Stops", "Route"]


async def test_visits_are_named_by_their_geofences_on_a_sheet_for_each_device(served, database):
    device_id = await served.device(served.admin, "1", name="Van")
    depot = {"name": "Depot", "area": "CIRCLE (52 13, 100)"}
    geofence_id = (await served.admin.post("/geofences", json=depot)).json()["id"]
    visit = {"device_id": device_id, "geofence_id": geofence_id}
    await happen(
        database,
        Event(type="geofenceEnter", event_time=MAY, **visit),
        Event(type="geofenceExit", event_time=MAY + 90 * MINUTE, **visit),
    )
    book = await opened(served.admin, f"/reports/geofences/xlsx?{span(geofenceId=geofence_id)}")
    assert book.sheetnames == ["Van"]
    _, titles, rows = table(book.active)
    assert titles == ["Geofence Name", "Start", "End", "Duration"]
    assert rows == [["Depot", local(0, 0), local(1, 30), timedelta(hours=1, minutes=30)]]
    ann = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    # Whose name they may not see they did not visit.
    _, _, rows = table((await opened(ann, f"/reports/geofences/xlsx?{span(geofenceId=geofence_id)}")).active)
    assert rows == []


async def test_who_was_near_a_place_is_one_sheet(served):
    near, far = [await served.device(served.admin, number, name=number) for number in ("1", "2")]
    hours = [MAY + hour * timedelta(hours=1) for hour in range(3)]
    await served.report(*(served.position(near, hour, latitude=52.05) for hour in hours))
    await served.report(*(served.position(far, hour, latitude=52.06) for hour in hours))
    place = {"latitude": 52.0501, "longitude": 13.4}
    _, titles, rows = table((await opened(served.admin, f"/reports/presence/xlsx?{span(**place)}")).active)
    assert titles == ["Device", "Start", "End", "Duration", "Least distance"]
    assert [row[:4] for row in rows] == [["1", local(0, 0), local(2, 0), timedelta(hours=2)]]
    assert rows[0][4] == pytest.approx(11.1, abs=0.1)
    for wrong in (span(latitude=52), span(MAY, MAY + timedelta(days=8), **place)):
        assert (await served.admin.get(f"/reports/presence/xlsx?{wrong}")).status == 400


async def test_events_and_positions_in_one_workbook(served, database):
    device_id = await served.device(served.admin, "1", name="Van")
    await served.report(served.position(device_id, MAY))
    await happen(database, Event(type="deviceOnline", event_time=MAY, device_id=device_id))
    for path in ("/reports/combined/xlsx", "/reports/combined"):
        book = await opened(served.admin, f"{path}?{span()}", headers={"Accept": XLSX})
        assert book.sheetnames == ["Events Van", "Route Van"]


async def test_a_client_that_prefers_a_workbook_gets_one(served):
    await served.report(served.position(await served.device(served.admin, "1"), MAY))
    path = f"/reports/route?{span()}"
    await opened(served.admin, path, headers={"Accept": XLSX})
    for accept in ("application/json", "*/*", f"{XLSX};q=0.5, application/json"):
        answer = await served.admin.get(path, headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "application/json", accept
    assert (await served.admin.get(f"/reports/route/pdf?{span()}")).status == 404


async def test_a_workbook_has_limits(starting):
    async with starting(reports=ReportSettings(most_rows=2, workbooks_per_user=1)) as served:
        device_id = await served.device(served.admin, "1")
        step = 4 * MINUTE
        await served.report(*(served.position(device_id, MAY + index * step) for index in range(3)))
        answer = await served.admin.get(f"/reports/route/xlsx?{span()}")
        assert (answer.status, answer.text) == (
            400,
            "the report has more than 2 rows; ask for a shorter span",
        )
        # The sheets of a workbook count together: there is no trip, a stop, and 2 positions.
        answer = await served.admin.get(f"/reports/history/xlsx?{span(MAY, MAY + step)}")
        assert answer.status == 400
        with served.context.limits.workbooks.running(served.admin_id):
            answer = await served.admin.get(f"/reports/route/xlsx?{span()}")
            assert (answer.status, answer.headers["Retry-After"]) == (429, "10")
        await opened(served.admin, f"/reports/route/xlsx?{span(MAY, MAY + MINUTE)}")


def test_names_of_sheets_are_valid_and_unique():
    taken: set[str] = set()
    names = []
    for title in ("a", "A", "'x'", "History", "", "[]:*?/\\", "w" * 40, "w" * 40, "🚚" * 30, "b\tc\n"):
        name = safe_name(title, taken)
        taken.add(name.casefold())
        names.append(name)
    assert names == [
        "a",
        "A (2)",
        "x",
        "History_",
        "Sheet",
        "Sheet (2)",
        "w" * 31,
        "w" * 27 + " (2)",
        "🚚" * 15,
        "b c",
    ]


def test_a_full_sheet_goes_on_in_another(monkeypatch, tmp_path):
    from motorpool.actors.reports import workbook
    from motorpool.actors.reports.columns import Column, Form
    from motorpool.actors.words.preferences import Preferences

    monkeypatch.setattr(workbook, "SHEET_ROWS", 5)
    columns = (Column("Number", Form.TEXT, lambda row: row),)
    with io.BytesIO() as file:
        writer = workbook.WorkbookWriter(file, str(tmp_path), Preferences(), MAY)
        writer.begin_sheet("Cars", [("Report", "X")], columns)
        writer.add_rows(range(4))
        writer.close()
        book = openpyxl.load_workbook(file)
    assert book.sheetnames == ["Cars", "Cars (2)"]
    assert [table(sheet)[2] for sheet in book.worksheets] == [
        [["0", None], ["1", None]],
        [["2", None], ["3", None]],
    ]
