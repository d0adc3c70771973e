"""Journey 11: a calendar over a change of clocks, and a schedule (docs/console.md#commands-at-set-times)."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from motorpool.runtime import SystemClock

BERLIN = ZoneInfo("Europe/Berlin")
FOCUSED = "() => document.activeElement !== null && document.activeElement !== document.body"
MOST_TABS = 60
TO = "\u2013"
"""The dash of a stretch of time."""


@pytest.fixture(scope="module")
def fleet(server):
    """A vehicle that is not on the line, and a saved command."""
    with server.client() as client:
        device = client.post("/devices", json={"name": "Van 401", "uniqueId": "van401"})
        command = {"type": "custom", "description": "Lock the engine", "attributes": {"data": "LOCK"}}
        saved = client.post("/commands", json=command)
        assert (device.status_code, saved.status_code) == (200, 200)
        yield client


def week_of_change():
    """The Monday of the week in which clocks are changed next, in Berlin."""
    day = SystemClock().now().astimezone(BERLIN).replace(hour=12, minute=0, second=0, microsecond=0)
    while day.utcoffset() == (day + timedelta(days=1)).utcoffset():
        day += timedelta(days=1)
    change = day + timedelta(days=1)
    return (change - timedelta(days=change.weekday())).date()


def drawn_days(client, calendar, monday):
    """What each day of a week says, by the windows of the server."""
    first = datetime(monday.year, monday.month, monday.day, tzinfo=BERLIN)
    days = [first + timedelta(days=number) for number in range(8)]
    query = {"from": days[0].astimezone(UTC).isoformat(), "to": days[-1].astimezone(UTC).isoformat()}
    answer = client.post("/calendars/windows", params=query, json=calendar)
    assert answer.status_code == 200, answer.text
    windows = [
        (datetime.fromisoformat(each["startTime"]), datetime.fromisoformat(each["endTime"]))
        for each in answer.json()
    ]
    found = []
    for day, following in pairwise(days):
        # Of one zone, so that they are compared as instants.
        begin, end = day.astimezone(UTC), following.astimezone(UTC)
        bars = [(max(opens, begin), min(closes, end)) for opens, closes in windows]
        found.append(
            ", ".join(
                f"{opens.astimezone(BERLIN):%H:%M}{TO}"
                + ("24:00" if closes == end else f"{closes.astimezone(BERLIN):%H:%M}")
                for opens, closes in bars
                if opens < closes
            )
            or "closed"
        )
    return found


def test_a_calendar_is_drawn_as_the_server_expands_it_over_a_change_of_clocks(server, fleet, visitor):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/calendars")
    expect(page.get_by_role("heading", name="Calendars", level=1)).to_be_visible()
    page.get_by_role("button", name="New calendar").click()
    dialog = page.get_by_role("dialog", name="New calendar")
    dialog.get_by_label("Name").fill("Nights")
    for day in ("Saturday", "Sunday"):
        dialog.get_by_title(day).click()
    dialog.get_by_label("From").fill("22:00")
    dialog.get_by_label("To", exact=True).fill("06:00")
    dialog.get_by_role("combobox", name="Time zone").fill("Berlin")
    page.get_by_role("option", name="Europe/Berlin").click()
    monday = week_of_change()
    dialog.get_by_role("button", name="Add a day of its own").click()
    dialog.get_by_label("Day", exact=True).fill((monday + timedelta(days=2)).isoformat())
    expect(dialog.get_by_role("figure", name="This week")).to_contain_text(f"22:00{TO}24:00")
    guest.assert_accessible()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Nights", level=1)).to_be_visible()

    (calendar,) = fleet.get("/calendars").json()
    guest.open(f"/calendars/{calendar['id']}?from={monday.isoformat()}")
    days = page.get_by_role("figure").get_by_role("listitem")
    expect(days).to_have_count(7)
    texts = [text.split("\n")[-1] for text in days.all_inner_texts()]
    wanted = drawn_days(fleet, calendar, monday)
    assert [text.split(" · ")[0] for text in texts] == wanted
    # The night of Wednesday is left out, that before ends on it; Sunday has 23 or 25 hours.
    assert wanted[2] == f"00:00{TO}06:00"
    assert "a day of its own" in texts[2]
    hours = 25 if monday.month > 6 else 23
    assert f"{hours} hours" in texts[6]
    guest.assert_accessible()
    page.get_by_role("button", name="Month").click()
    expect(page).to_have_url(re.compile("view=month"))
    expect(days.nth(27)).to_be_visible()
    expect(page.get_by_text("Nothing that you see uses it.")).to_be_visible()

    # What says more than blocks can is edited as text, and kept to the letter.
    page.get_by_role("button", name="Edit", exact=True).click()
    editor = page.get_by_role("dialog", name="Nights")
    editor.get_by_role("button", name="Edit as text").click()
    text = editor.get_by_label("Text (iCalendar)")
    more = text.input_value().replace("RRULE:", "SUMMARY:Yard\nRRULE:")
    text.fill(more)
    expect(editor.get_by_text("says more than blocks")).to_be_visible()
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_have_count(0)
    expect(page.get_by_text("says more than blocks")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    guest.assert_fits()


def test_a_schedule_says_what_it_sends_when_and_what_became_of_it(server, fleet, visitor):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/commands")
    page.get_by_role("navigation", name="Commands").get_by_role("link", name="Schedules").click()
    page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog", name="New schedule")
    dialog.get_by_label("Name").fill("Night lock")
    # A calendar is made on the spot: the form of the schedule stays as it is.
    dialog.get_by_role("button", name="New calendar").click()
    calendar = page.get_by_role("dialog", name="New calendar")
    calendar.get_by_label("Name").fill("Evenings")
    for day in ("Saturday", "Sunday"):
        calendar.get_by_title(day).click()
    calendar.get_by_label("From").fill("20:00")
    calendar.get_by_label("To", exact=True).fill("22:00")
    calendar.get_by_role("button", name="Save").click()
    expect(calendar).to_have_count(0)
    expect(dialog.get_by_role("combobox", name="Calendar")).to_have_value("Evenings")
    begins = dialog.get_by_role("group", name="When its times begin, send")
    begins.get_by_role("combobox", name="Saved command").click()
    page.get_by_role("option", name="Lock the engine").click()
    expect(begins.get_by_role("combobox", name="Command 1")).to_have_value("Lock the engine")
    guest.assert_accessible()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Night lock", level=1)).to_be_visible()

    page.get_by_role("button", name="Choose vehicles").click()
    targets = page.get_by_role("dialog", name="For which vehicles")
    targets.get_by_role("combobox", name="Single vehicles").fill("Van")
    page.get_by_role("option", name="Van 401").click()
    expect(targets.get_by_role("status")).to_have_text("1 vehicle")
    targets.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="For which vehicles")).to_contain_text("Van 401")

    (schedule,) = fleet.get("/scheduledcommands").json()
    edges = page.get_by_role("list", name="What is sent when").get_by_role("listitem")
    expect(edges.filter(has_text="next")).to_contain_text("Lock the engine → 1 vehicle")
    now = SystemClock().now()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    span = {"from": today.isoformat(), "to": (today + timedelta(days=14)).isoformat()}
    stored = fleet.get(f"/calendars/{schedule['calendarId']}").json()
    windows = fleet.post("/calendars/windows", params=span, json=stored).json()
    known = [datetime.fromisoformat(at) for each in windows for at in (each["startTime"], each["endTime"])]
    drawn = [
        datetime.fromisoformat(each)
        for each in edges.locator("time").evaluate_all("all => all.map((each) => each.dateTime)")
    ]
    # Those of today may be over.
    assert len(drawn) >= 18
    assert drawn == known[-len(drawn) :]
    guest.assert_accessible()

    page.get_by_role("button", name="Run the beginning now").click()
    question = page.get_by_role("dialog", name="Run the beginning now")
    expect(question).to_contain_text("Lock the engine is sent to 1 vehicle.")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    question.get_by_role("button", name="Send now").click()
    runs = page.get_by_role("region", name="What became of it").get_by_role("table")
    expect(runs).to_contain_text("By hand")
    expect(runs.get_by_role("row", name="Van 401")).to_contain_text("Not sent: the vehicle was offline")

    page.get_by_role("button", name="Switch off").click()
    expect(page.get_by_text("Switched off", exact=True)).to_be_visible()
    assert fleet.get(f"/scheduledcommands/{schedule['id']}").json()["active"] is False
    page.get_by_role("link", name="Evenings").click()
    uses = page.get_by_role("region", name="What uses it")
    expect(uses.get_by_role("link", name="Night lock")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    guest.assert_fits()
    uses.get_by_role("link", name="Night lock").click()
    expect(runs).to_be_visible()
    guest.assert_fits()
    guest.open("/schedules")
    expect(page.get_by_role("list", name="Schedules")).to_contain_text("1 vehicle")
    guest.assert_fits()


class Keys:
    """A keyboard, after each key of which something has the focus."""

    def __init__(self, page):
        self.page = page

    def press(self, *names):
        for name in names:
            self.page.keyboard.press(name)
            self.page.wait_for_function(FOCUSED)

    def go(self, words):
        """Go to a place by the palette."""
        self.press("Control+k")
        self.page.keyboard.type(words)
        self.press("Enter")

    def reach(self, target):
        """Press `Tab` until a part of the page has the focus."""
        target.wait_for()
        for _ in range(MOST_TABS):
            if target.evaluate("(part) => part === document.activeElement"):
                return
            self.press("Tab")
        pytest.fail(f"{target} is not reached by Tab")

    def fill(self, target, text):
        self.reach(target)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, target, text):
        """Choose by typing what finds one."""
        self.fill(target, text)
        expect(self.page.get_by_role("option").first).to_be_visible()
        self.press("Enter")

    def act(self, target):
        self.reach(target)
        self.press("Enter")


def test_a_calendar_a_schedule_and_a_scheduled_report_by_keyboard_alone(server, fleet, visitor):
    guest = visitor(server, webgl=False)
    page, keys = guest.page, Keys(guest.page)
    guest.log_in("/account")
    expect(page.get_by_role("heading", name="Account", level=1)).to_be_visible()

    keys.go("calendars")
    expect(page.get_by_role("heading", name="Calendars", level=1)).to_be_visible()
    keys.act(page.get_by_role("button", name="New calendar"))
    dialog = page.get_by_role("dialog", name="New calendar")
    keys.fill(dialog.get_by_label("Name"), "Work by keys")
    for day in ("Monday", "Friday"):
        keys.reach(dialog.get_by_title(day))
        keys.press("Space")
    keys.reach(dialog.get_by_label("From"))
    page.keyboard.type("0815AM")
    keys.reach(dialog.get_by_label("To", exact=True))
    page.keyboard.type("0430PM")
    keys.choose(dialog.get_by_role("combobox", name="Time zone"), "Europe/Berlin")
    expect(dialog.get_by_role("figure", name="This week")).to_contain_text(f"08:15{TO}16:30")
    keys.act(dialog.get_by_role("button", name="Save"))
    expect(page.get_by_role("heading", name="Work by keys", level=1)).to_be_visible()
    page.wait_for_function(FOCUSED)
    (calendar,) = (each for each in fleet.get("/calendars").json() if each["name"] == "Work by keys")
    monday = week_of_change()
    drawn = drawn_days(fleet, calendar, monday)
    assert drawn == ["closed", *[f"08:15{TO}16:30"] * 3, "closed", "closed", "closed"]

    keys.go("schedules")
    keys.act(page.get_by_role("button", name="New schedule"))
    dialog = page.get_by_role("dialog", name="New schedule")
    keys.fill(dialog.get_by_label("Name"), "Lock by keys")
    keys.choose(dialog.get_by_role("combobox", name="Calendar"), "by keys")
    begins = dialog.get_by_role("group", name="When its times begin, send")
    keys.choose(begins.get_by_role("combobox", name="Saved command"), "lock")
    expect(begins.get_by_role("combobox", name="Command 1")).to_have_value("Lock the engine")
    keys.act(dialog.get_by_role("button", name="Save"))
    expect(page.get_by_role("heading", name="Lock by keys", level=1)).to_be_visible()

    keys.act(page.get_by_role("button", name="Choose vehicles"))
    targets = page.get_by_role("dialog", name="For which vehicles")
    keys.choose(targets.get_by_role("combobox", name="Single vehicles"), "401")
    expect(targets.get_by_role("status")).to_have_text("1 vehicle")
    keys.act(targets.get_by_role("button", name="Save"))
    edges = page.get_by_role("list", name="What is sent when").get_by_role("listitem")
    expect(edges.filter(has_text="next")).to_contain_text("Lock the engine → 1 vehicle")

    keys.act(page.get_by_role("button", name="Run the beginning now"))
    question = page.get_by_role("dialog", name="Run the beginning now")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    keys.act(question.get_by_role("button", name="Send now"))
    runs = page.get_by_role("region", name="What became of it").get_by_role("table")
    expect(runs.get_by_role("row", name="Van 401")).to_contain_text("Not sent: the vehicle was offline")
    page.wait_for_function(FOCUSED)

    keys.go("scheduled reports")
    keys.act(page.get_by_role("button", name="Schedule a report"))
    dialog = page.get_by_role("dialog")
    keys.fill(dialog.get_by_label("Name"), "Stops by keys")
    keys.reach(dialog.get_by_label("Report", exact=True))
    page.keyboard.type("Stops")
    keys.reach(dialog.get_by_label("How often"))
    page.keyboard.type("Every week")
    keys.act(dialog.get_by_role("button", name="Save"))
    row = page.get_by_role("listitem").filter(has_text="Stops by keys")
    expect(row).to_contain_text("Stops · Every week")
    keys.act(row.get_by_role("button", name="Delete Stops by keys"))
    keys.act(page.get_by_role("dialog").get_by_role("button", name="Delete"))
    expect(page.get_by_text("No report is scheduled")).to_be_visible()
    page.wait_for_function(FOCUSED)
