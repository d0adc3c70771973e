"""Reports: rows that equal those of the API, sums, files, and the way back (docs/console.md#reports)."""

import csv
import io
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import openpyxl
import pypdfium2
import pytest
from playwright.sync_api import expect

from motorpool.bench.scenarios.reports import fill

WEEK = (datetime(2026, 5, 4, tzinfo=UTC), datetime(2026, 5, 11, tzinfo=UTC))
"""From Monday to Monday."""
FROM, TO = (f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in WEEK)
SPAN = {"from": FROM, "to": "2026-05-10T23:59:59.999Z"}
METERS_OF_A_KILOMETER = 1000


@pytest.fixture(scope="module")
def fleet(server):
    """Three vehicles with ten trips on each day of a week, and of the week before."""
    return fill(server, WEEK[0] - timedelta(days=7), vehicles=3, days=14, per_day=60)


def ask(server, report, **query):
    with server.client() as client:
        answer = client.get(f"/reports/{report}", params={**SPAN, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()


def grid_of(page, name="Trips"):
    return page.get_by_role(re.compile("^(tree)?grid$"), name=name)


def count_of(grid):
    """The lines of a table below its head, as it tells them."""
    return int(grid.get_attribute("aria-rowcount")) - 1


def test_trips_of_a_week_by_mouse(server, visitor, fleet, eventually):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in()
    page.get_by_role("link", name="Reports").click()
    expect(page.get_by_role("heading", name="Trips", level=1)).to_be_visible()
    page.goto(f"{server.url}/reports/trips?from={FROM}&to={TO}")
    trips = ask(server, "trips")
    assert len(trips) > 200
    grid = page.locator(".report-table .table")
    expect(page.get_by_text(f"{len(trips)} rows")).to_be_visible()
    # Head and foot are lines too.
    expect(grid).to_have_attribute("aria-rowcount", str(len(trips) + 2))
    shown = grid.locator(".table-row").first
    expect(shown).to_contain_text(trips[0]["deviceName"])
    foot = grid.locator(".table-foot")
    kilometers = sum(trip["distance"] for trip in trips) / METERS_OF_A_KILOMETER
    expect(foot).to_contain_text(f"{round(kilometers):,} km")
    guest.assert_accessible()

    # Grouped by vehicle: a heading each, with its sum.
    page.get_by_label("Group by").select_option("Vehicle")
    expect(grid).to_have_attribute("aria-rowcount", str(len(trips) + len(fleet) + 2))
    heading = grid.locator(".table-group").first
    first = sum(trip["distance"] for trip in trips if trip["deviceId"] == fleet[0])
    expect(heading).to_contain_text("Van 0")
    expect(heading).to_contain_text(f"{round(first / METERS_OF_A_KILOMETER):,} km")

    # Sorted, scrolled and left for a history; *Back* leads to the same place.
    grid.get_by_role("button", name="Distance").click()
    grid.get_by_role("button", name="Distance").click()
    page.wait_for_url(re.compile("sort=-distance"))
    grid.evaluate("(table) => { table.scrollTop = 3600; }")
    row = grid.locator(".table-row:not(.table-group)").nth(10)
    expect(row).to_be_visible()
    before = page.url
    row.click()
    expect(page.get_by_role("heading", name=re.compile("^Van"))).to_be_visible()
    query = parse_qs(urlsplit(page.url).query)
    at = datetime.fromisoformat(query["at"][0])
    assert at in {datetime.fromisoformat(trip["startTime"]) for trip in trips}
    page.go_back()
    assert page.url == before
    expect(grid.locator(".table-row").first).to_be_attached()
    eventually(lambda: grid.evaluate("(table) => table.scrollTop") == 3600, seconds=60)


def test_files_have_what_the_page_shows(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/reports/trips?deviceId={fleet[1]}&from={FROM}&to={TO}")
    trips = ask(server, "trips", deviceId=fleet[1])
    expect(page.get_by_text(f"{len(trips)} rows")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Workbook").click()
    assert saved.value.suggested_filename == "trips_Van-1_2026-05-04_2026-05-10.xlsx"
    sheet = openpyxl.load_workbook(io.BytesIO(saved.value.path().read_bytes())).active
    rows = [row for row in sheet.iter_rows(values_only=True) if isinstance(row[0], datetime)]
    assert [row[0] for row in rows] == [
        datetime.fromisoformat(trip["startTime"]).replace(tzinfo=None) for trip in trips
    ]
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    with open(saved.value.path(), encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(io.StringIO(file.read())))
    assert [float(line["Length (km)"]) for line in lines] == [
        round(trip["distance"] / METERS_OF_A_KILOMETER, 3) for trip in trips
    ]


def test_a_report_is_printed_with_all_rows_under_heads_on_white_paper(server, visitor, fleet):
    guest = visitor(server, webgl=False, color_scheme="dark")
    page = guest.page
    guest.log_in(f"/reports/trips?from={FROM}&to={TO}")
    trips = ask(server, "trips")
    expect(page.get_by_text(f"{len(trips)} rows")).to_be_visible()
    expect(page.locator(".columns, .bars").first).to_be_visible()
    with pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True)) as paper:
        pages = [" ".join(each.get_textpage().get_text_bounded().split()) for each in paper]
        corner = paper[0].render(scale=0.2).to_pil().getpixel((1, 1))
    starts = Counter(re.findall(r"\d{1,2}:\d{2}", " ".join(pages)))
    assert corner == (255, 255, 255)
    # All rows, not only those in view, and little besides them.
    assert sum(text.count("Van ") for text in pages) >= len(trips)
    assert starts.total() >= 2 * len(trips)
    assert len(trips) / 60 < len(pages) < len(trips) / 15 + 3
    # The head stands on each page of the table, the sums on its last one.
    of_table = [text for text in pages if text.count("Van ") > 5]
    assert all("Distance" in text for text in of_table)
    summed = [number for number, text in enumerate(pages) if f"{len(trips)} in all" in text]
    assert len(summed) == 1
    assert not any("Distance Duration" in text for text in pages[summed[0] + 1 :])
    # Nothing that is pressed.
    whole = " ".join(pages)
    assert [word for word in ("Fleet", "Log out", "Workbook", "Print", "Compare") if word in whole] == []


def test_two_weeks_are_compared_by_keys(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/reports/summary?from={FROM}&to={TO}&against=before")
    now = ask(server, "summary")
    before = ask(server, "summary", **{"from": "2026-04-27T00:00:00Z", "to": "2026-05-03T23:59:59.999Z"})
    compared = page.get_by_role("grid", name="Comparison")
    for these, those in zip(now, before, strict=True):
        line = compared.get_by_role("row").filter(has_text=these["deviceName"])
        for each in (these, those):
            expect(line).to_contain_text(f"{round(each['distance'] / METERS_OF_A_KILOMETER):,} km")
    # A row of a whole week leads to its trips.
    table = page.get_by_role("grid", name="Summary")
    table.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Trips", level=1)).to_be_visible()
    page.wait_for_url(re.compile(r"/reports/trips\?deviceId=\d+&"))
    guest.assert_accessible()


def test_a_scheduled_report_is_made_changed_and_deleted(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/reports/scheduled")
    expect(page.get_by_text("No report is scheduled")).to_be_visible()
    page.get_by_role("button", name="Schedule a report").click()
    page.get_by_label("Name").fill("Week of the vans")
    page.get_by_label("Report", exact=True).last.select_option("Summary")
    page.get_by_label("How often").select_option("Every week")
    page.get_by_label("A row for each day").check()
    page.get_by_label("Vehicles", exact=True).fill("Van 1")
    page.get_by_role("option", name=re.compile("^Van 1")).click()
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("listitem").filter(has_text="Week of the vans")
    expect(row).to_contain_text("Summary · Every week")
    with server.client() as client:
        (stored,) = client.get("/reports").json()
        assert (stored["type"], stored["attributes"]) == ("summary", {"daily": True})
        linked = client.get("/permissions", params={"deviceId": 0, "reportId": stored["id"]}).json()
        assert linked == [{"deviceId": fleet[1], "reportId": stored["id"]}]
        calendar = client.get(f"/calendars/{stored['calendarId']}").json()
        windows = client.post(
            "/calendars/windows", json=calendar, params={"from": FROM, "to": "2026-05-18T00:00:00Z"}
        ).json()
        # Weeks that adjoin are one window, though each ends for itself.
        assert [datetime.fromisoformat(windows[0][end]) for end in ("startTime", "endTime")] == [
            WEEK[0],
            WEEK[1] + timedelta(days=7),
        ]
    row.get_by_role("button", name="Change Week of the vans").click()
    page.get_by_role("button", name="Remove Van 1").click()
    expect(page.get_by_role("combobox", name="Calendar")).to_have_value("Every week")
    # A calendar is made on the spot, by the editor of all calendars.
    page.get_by_role("button", name="New calendar").click()
    made = page.get_by_role("dialog", name="New calendar")
    expect(made.get_by_label("Name")).to_have_value("Week of the vans")
    made.get_by_label("Name").fill("Shifts")
    made.get_by_role("button", name="Save").click()
    expect(page.get_by_role("combobox", name="Calendar")).to_have_value("Shifts")
    guest.assert_accessible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row).to_contain_text("Summary · Shifts")
    with server.client() as client:
        assert client.get("/permissions", params={"deviceId": 0, "reportId": stored["id"]}).json() == []
    row.get_by_role("button", name="Delete Week of the vans").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No report is scheduled")).to_be_visible()


def test_a_report_on_a_phone(server, visitor, fleet):
    guest = visitor(server, webgl=False, viewport={"width": 390, "height": 844}, has_touch=True)
    page = guest.page
    guest.log_in(f"/reports/trips?from={FROM}&to={TO}")
    expect(page.locator(".report-table .table-row").first).to_be_visible()
    guest.assert_fits()
    page.get_by_role("combobox", name="Report").select_option("Utilisation")
    expect(page.get_by_role("heading", name="Utilisation", level=1)).to_be_visible()
    used = ask(server, "utilisation")
    expect(page.get_by_text(f"{len(used)} rows")).to_be_visible()
    guest.assert_fits()
    guest.assert_accessible()


def test_the_overview_leads_to_what_it_counts_by_mouse_and_by_keys(server, visitor, fleet):
    with server.client() as client:
        # Due since 2002.
        inspection = {"name": "Inspection", "type": "serverTime", "start": 1e12, "period": 365 * 86_400_000}
        made = client.post("/maintenance", json=inspection).json()
        linked = {"deviceId": fleet[0], "maintenanceId": made["id"]}
        assert client.post("/permissions", json=linked).status_code == 204
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/overview")
    due = page.get_by_role("link", name="Maintenance due: 1")
    expect(due).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Distance: "))).to_be_visible()
    guest.assert_accessible()
    due.click()
    grid = page.get_by_role("grid", name="What is due")
    expect(grid.get_by_role("row").filter(has_text="Inspection")).to_contain_text("Van 0")
    guest.assert_accessible()
    page.go_back()
    # From figure to figure, and back to the one that was followed.
    page.get_by_role("link", name="Moving: 0").focus()
    page.keyboard.press("Tab")
    standing = page.get_by_role("link", name=re.compile("^Standing: "))
    expect(standing).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/fleet?status=standing")
    page.go_back()
    expect(due).to_be_visible()
    page.get_by_role("button", name="Begin with this page").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You begin with the overview from now on.")).to_be_visible()
    guest.open("/")
    page.wait_for_url("**/overview")
    page.get_by_role("button", name="Begin with the fleet").press("Enter")
    expect(page.get_by_role("button", name="Begin with this page")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    guest.assert_fits()


def test_the_map_of_a_report_marks_the_row_whose_place_is_pressed(server, visitor, fleet, eventually):
    stop = next(each for each in ask(server, "stops", deviceId=fleet[2])[3:] if each["duration"] > 0)
    span = {"from": stop["startTime"], "to": stop["endTime"]}
    stops = ask(server, "stops", deviceId=fleet[2], **span)
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/reports/stops?{urlencode({'deviceId': fleet[2], **span})}")
    places = {(each["latitude"], each["longitude"]) for each in stops}
    rows = page.locator(".report-table .table-row")
    expect(rows).to_have_count(len(stops))
    drawn = page.locator(".report-map .map-canvas")
    expect(drawn).not_to_have_attribute("aria-busy", "true")
    guest.assert_accessible()
    # All places are in view, so that a single one is in the middle.
    assert len(places) == 1
    chosen = page.locator(".report-table .table-row.chosen")

    def press():
        drawn.click()
        return chosen.count() == 1

    eventually(press, seconds=60)
    # By keys: the buttons of the map, and the row that leads to the history of its time.
    page.locator(".report-map").get_by_role("button", name="Zoom out").press("Enter")
    page.get_by_role("grid", name="Stops").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/vehicles/{fleet[2]}/history\?"))


def test_who_was_there_is_asked_by_pressing_the_map_and_by_typing(server, visitor, fleet, eventually):
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/reports/presence?from={FROM}&to={TO}")
    drawn = page.locator(".report-map .map-canvas")
    expect(drawn).not_to_have_attribute("aria-busy", "true")
    eventually(lambda: drawn.click() or "latitude=" in page.url, seconds=60)
    expect(page.get_by_label("Latitude")).not_to_have_value("")
    (stop, *_) = ask(server, "stops", deviceId=fleet[1])
    page.get_by_label("Latitude").fill(str(stop["latitude"]))
    page.get_by_label("Longitude").fill(str(stop["longitude"]))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"latitude={stop['latitude']:.3f}"))
    expect(page.locator(".report-table")).to_contain_text("Van")
    guest.assert_accessible()
