"""Makes pictures of every place of the console, of a demonstration that it starts, into build/pictures.

    .venv/bin/python docs/pictures.py              all places, 1400, 900 and 390 pixels wide, light and dark
    .venv/bin/python docs/pictures.py fleet live   some places
    .venv/bin/python docs/pictures.py --language de reports
    .venv/bin/python docs/pictures.py --readme     all, and those of the README
    .venv/bin/python docs/pictures.py --server http://127.0.0.1:8082 --email demo@motorpool.local

The password for a server that runs is read from MOTORPOOL_PASSWORD.

Each place also gets a sheet with all its pictures side by side. Errors of the page are printed.
"""

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from picture_acts import ACTS
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Response,
    sync_playwright,
)

from motorpool.bench.load.browser import chromium_options, find_chromium
from motorpool.bench.server import EMAIL, run_demonstration, run_server
from motorpool.runtime.clock import SystemClock

TARGET = Path(__file__).resolve().parent.parent / "build" / "pictures"
SIZES = ((1400, 900), (900, 1000), (390, 844))
SCHEMES = ("light", "dark")
PHONE = 700
"""Narrower windows are those of a phone, with touch."""
PLACES = {
    "login": "/login",
    "login-refused": "/login",
    "fleet": "/fleet",
    "sheet": "/fleet",
    "menu": "/fleet",
    "who": "/fleet",
    "more": "/fleet",
    "layers": "/fleet",
    "search": "/vehicles/{device}",
    "keys": "/fleet",
    "lost": "/vehicles/{device}",
    "vehicle": "/vehicles/{device}",
    "offline": "/vehicles/{absent}",
    "offline-live": "/vehicles/{absent}/live",
    "missing": "/vehicles/999999",
    "share-link": "/vehicles/{device}",
    "live": "/vehicles/{device}/live",
    "choose-cameras": "/live",
    "wall": "/live?tile={device}.1&tile={device}.2&tile={other}.1&tile={absent}.1&layout=2x2",
    "history": "/vehicles/{device}/history?from={from}&to={to}&at={at}",
    "film": "/vehicles/{device}/history?from={from}&to={to}&at={at}&channel=1",
    "cameras": "/vehicles/{device}/history?from={from}&to={to}&at={at}&channel=1&channel=2",
    "library": "/library",
    "library-item": "/library",
    "events": "/events",
    "reviewed": "/events?state=ACKNOWLEDGED",
    "event-log": "/events?state=ALL",
    "notices": "/events",
    "event": "/events/{event}",
    "attach": "/events/{event}",
    "vehicle-events": "/vehicles/{device}/events",
    "commands": "/vehicles/{device}/commands",
    "question": "/vehicles/{device}/commands",
    "settings": "/vehicles/{device}/settings",
    "zones": "/zones",
    "zone": "/zones/{zone}",
    "connect": "/connect",
    "connect-set-up": "/connect",
    "share": "/share#token={share}",
    "account": "/account",
    "tickets": "/tickets",
    "ticket-list": "/tickets/list",
    "ticket-board": "/tickets/board",
    "ticket": "/tickets/{ticket}",
    "overview": "/overview",
    "reports-trips": "/reports/trips?{report}",
    "reports-summary": "/reports/summary?{report}",
    "reports-route": "/reports/route?{report}",
    "reports-events": "/reports/events?{report}",
    "scheduled-reports": "/reports/scheduled",
    "sent": "/commands",
    "schedules": "/schedules",
    "schedule": "/schedules/{schedule}",
    "calendars": "/calendars",
    "calendar": "/calendars/{calendar}",
    "messages": "/vehicles/{device}/messages",
    "admin": "/admin",
    "users": "/admin/users",
    "user": "/admin/users/{user}",
    "groups": "/admin/groups",
    "links": "/admin/links",
    "devices": "/admin/devices",
    "drivers": "/admin/drivers",
    "maintenance": "/admin/maintenance",
    "orders": "/admin/orders",
    "attributes": "/admin/attributes",
    "saved-commands": "/admin/commands",
    "notifications": "/admin/notifications",
    "server": "/admin/server",
    "status": "/admin/status",
    "storage": "/admin/storage",
    "statistics": "/admin/statistics",
    "actors": "/admin/actors",
    "audit": "/admin/audit",
    "backup": "/admin/backup",
    "announcement": "/admin/announcement",
    "helpdesk": "/helpdesk",
    "helpdesk-new": "/helpdesk/new",
    "helpdesk-company": "/helpdesk/{company}",
    "helpdesk-people": "/helpdesk/{company}/people",
    "helpdesk-branches": "/helpdesk/{company}/branches",
    "helpdesk-contacts": "/helpdesk/{company}/contacts",
    "helpdesk-categories": "/helpdesk/{company}/categories",
    "helpdesk-priorities": "/helpdesk/{company}/priorities",
    "helpdesk-workflow": "/helpdesk/{company}/workflow",
    "helpdesk-rules": "/helpdesk/{company}/rules",
    "helpdesk-webhook": "/helpdesk/{company}/webhook",
    "helpdesk-statistics": "/helpdesk/{company}/statistics",
}
EMPTY = {
    "empty": "/fleet",
    "empty-wall": "/live",
    "empty-library": "/library",
    "empty-events": "/events",
    "empty-zones": "/zones",
    "empty-tickets": "/tickets",
    "empty-helpdesk": "/helpdesk",
}
"""Places of a server without vehicles."""
WITHOUT_LOGIN = {"login", "login-refused", "share"}
SETTLE_MS = 3000
SLOW = {
    "live": 9000,
    "wall": 12000,
    "film": 12000,
    "cameras": 14000,
    "history": 7000,
    "share": 6000,
    "event": 7000,
    "zone": 5000,
}
"""Milliseconds for places whose cameras start first, or that wait for an answer before they draw a map."""
README_PICTURES = {"live": "live.png", "film": "history.png"}
QUIET_SECONDS = 240
"""The demonstration may take so long until the next of its vehicles has something to show."""
ALARM_AGE = timedelta(hours=2)
"""The history is that around an alarm of this age at least, so that its recording is finished."""
SHEET_HEIGHT = 700
TICKETS = (
    "No picture from camera 2",
    "Engine will not start",
    "Tracker silent since yesterday",
    "Wrong odometer",
)


@dataclass(frozen=True)
class Access:
    """A server and a login."""

    url: str
    email: str
    password: str


@contextlib.contextmanager
def demonstration() -> Iterator[Access]:
    """Start the demonstration in a folder of its own."""
    with run_demonstration() as shown:
        yield Access(shown.server.url, shown.email, shown.password)


def log_in(context: BrowserContext, access: Access) -> None:
    """Give the browser a session."""
    form: dict[str, str | float | bool] = {"email": access.email, "password": access.password}
    answer = context.request.post(f"{access.url}/api/session", form=form)
    if not answer.ok:
        sys.exit(f"the login was refused: {answer.text()}")


def read(context: BrowserContext, access: Access, path: str) -> list[dict[str, Any]]:
    """Read a list of the API."""
    answer = context.request.get(f"{access.url}/api{path}")
    if not answer.ok:
        sys.exit(f"{path} was refused: {answer.text()}")
    rows: list[dict[str, Any]] = answer.json()
    return rows


def wait_for_vehicles(context: BrowserContext, access: Access) -> list[int]:
    """Return the vehicles with cameras that drive, as soon as those that are online have sent their archives.

    An archive of two days takes minutes on a busy machine, so the wait ends when nothing more arrives.
    """
    known, driving, deadline = "", list[int](), time.monotonic() + QUIET_SECONDS
    while time.monotonic() < deadline:
        devices = {row["id"]: row for row in read(context, access, "/devices")}
        positions = [row for row in read(context, access, "/positions") if row["deviceId"] in devices]
        online = [each for each, row in devices.items() if row["status"] == "online"]
        recent = {row["deviceId"] for row in positions if is_recent(row["fixTime"])}
        cameras = [row for row in positions if devices[row["deviceId"]]["attributes"].get("channels")]
        driving = [row["deviceId"] for row in cameras if row["deviceId"] in recent and row["speed"] > 0]
        if driving and len(recent) >= len(online):
            break
        behind = {row["deviceId"]: row["fixTime"] for row in positions if row["deviceId"] not in recent}
        if (state := f"{len(online)} {len(recent)} {behind}") != known:
            known, deadline = state, time.monotonic() + QUIET_SECONDS
        time.sleep(2)
    if not driving:
        sys.exit(f"no vehicle drives; online, recent and last heard of the others: {known}")
    return driving


def is_recent(text: str) -> bool:
    """Return whether a time of the API is less than three minutes ago."""
    return SystemClock().now() - datetime.fromisoformat(text) < timedelta(minutes=3)


def find_subjects(context: BrowserContext, access: Access) -> dict[str, str]:
    """Return what the addresses of the places name."""
    driving = wait_for_vehicles(context, access)
    devices = read(context, access, "/devices")
    now = SystemClock().now()
    span = f"from={instant(now - timedelta(days=2))}&to={instant(now)}"
    device, event = driving[0], {"id": 0, "eventTime": instant(now - ALARM_AGE)}
    for each in driving:
        alarms = read(context, access, f"/events?deviceId={each}&{span}&type=alarm")
        ended = [row for row in alarms if datetime.fromisoformat(row["eventTime"]) < now - ALARM_AGE]
        if ended:
            device, event = each, ended[0]
            break
    at = datetime.fromisoformat(event["eventTime"])
    form = {"deviceId": str(device), "expiration": instant(now + timedelta(days=1))}
    share = context.request.post(f"{access.url}/api/share/device", form=form).text()
    offline = [row["id"] for row in devices if row["status"] != "online"]
    return {
        "device": str(device),
        "other": str(driving[-1]),
        "absent": str(offline[0] if offline else driving[0]),
        "event": str(event["id"]),
        "at": instant(at),
        "report": "from=now-1d/d&to=now" + "".join(f"&deviceId={each}" for each in driving[:4]),
        "from": instant(at - timedelta(hours=3)),
        "to": instant(min(now, at + timedelta(hours=3))),
        "zone": first_of(context, access, "/geofences"),
        "calendar": first_of(context, access, "/calendars"),
        "schedule": first_of(context, access, "/scheduledcommands"),
        "user": first_of(context, access, "/users"),
        "company": first_of(context, access, "/companies"),
        "share": share,
        "ticket": str(make_tickets(context, access, device, event["id"])),
    }


def first_of(context: BrowserContext, access: Access, path: str) -> str:
    """Return the id of the first row of a list, 0 where there is none."""
    rows = read(context, access, path)
    return str(rows[0]["id"] if rows else 0)


def make_tickets(context: BrowserContext, access: Access, device: int, event: int) -> int:
    """Make a company with some tickets unless there is one; return a ticket that has a conversation."""
    if tickets := read(context, access, "/tickets?limit=1&sort=number"):
        number: int = tickets[0]["id"]
        return number

    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = context.request.post(f"{access.url}/api{path}", data=body)
        if not answer.ok:
            sys.exit(f"{path} was refused: {answer.text()}")
        made: dict[str, Any] = answer.json()
        return made

    company = {"companyId": post("/companies", {"name": "North"})["id"]}
    made = post("/tickets/defaults", company)
    contact = post("/contacts", {**company, "name": "Maria Sousa", "phone": "+351 22 000 111"})["id"]
    ids = []
    for index, subject in enumerate(TICKETS):
        about = {"deviceId": device, "eventId": event, "contactId": contact}
        priority = made["priorities"][index % len(made["priorities"])]["id"]
        ids.append(post("/tickets", {**company, **about, "subject": subject, "priorityId": priority})["id"])
    comments = f"/tickets/{ids[0]}/comments"
    post(comments, {"text": "We look at it now. Is the van at the depot?"})
    post(comments, {"text": "Yes, until 14:00.", "onBehalfOfContact": True})
    post(comments, {"text": "Take a new unit with you.", "internal": True})
    return int(ids[0])


def instant(when: datetime) -> str:
    """Return a time as the API and addresses have it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def picture_places(
    browser: Browser, access: Access, names: Sequence[str], subjects: dict[str, str], language: str
) -> None:
    """Write the pictures of places, all of one size and scheme in one session."""
    for (width, height), scheme in itertools.product(SIZES, SCHEMES):
        phone = width < PHONE
        for is_open in (False, True):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                has_touch=phone,
                is_mobile=phone,
                locale=language,
            )
            if not is_open:
                log_in(context, access)
            for name in names:
                if (name in WITHOUT_LOGIN) is is_open:
                    page = context.new_page()
                    page.set_default_timeout(15_000)
                    watch(page, f"{name} {width} {scheme}")
                    page.goto(access.url + (PLACES | EMPTY)[name].format_map(subjects))
                    act(page, name)
                    page.wait_for_timeout(SLOW.get(name, SETTLE_MS))
                    # A map on a busy machine takes longer.
                    with contextlib.suppress(Error):
                        page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
                    page.screenshot(path=file_of(name, width, scheme))
                    page.close()
                    context.set_offline(False)
            context.close()
    for name in names:
        files = [file_of(name, width, scheme) for width, _ in SIZES for scheme in SCHEMES]
        write_sheet(files, TARGET / f"{name}.png")
        print(TARGET / f"{name}.png")


def act(page: Page, name: str) -> None:
    """Do what the place is to be shown with; one that fails is printed, and shows up in the picture."""
    try:
        ACTS.get(name, lambda _: None)(page)
    except Error as error:
        print(f"{name}: {error.message.splitlines()[0]}")


def write_readme_pictures() -> None:
    """Write the pictures of the README, at four fifths of their size."""
    for name, target in README_PICTURES.items():
        with Image.open(file_of(name, 1400, "light")) as shot:
            small = shot.convert("RGB").resize((1120, 720), Image.Resampling.LANCZOS)
            small.save(Path(__file__).parent / target, optimize=True)


def file_of(name: str, width: int, scheme: str) -> Path:
    """Return the file of one picture."""
    return TARGET / f"{name}-{width}-{scheme}.png"


def watch(page: Page, place: str) -> None:
    """Print the errors of a page."""

    def print_message(message: ConsoleMessage) -> None:
        # That a session is asked for in vain is no fault on the page of the login.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            print(f"{place}: {message.text}")

    def print_refusal(response: Response) -> None:
        if response.status >= 400 and not response.url.endswith("/api/session"):
            print(f"{place}: {response.status} {response.url}")

    page.on("pageerror", lambda error: print(f"{place}: {error}"))
    page.on("console", print_message)
    page.on("response", print_refusal)


def write_sheet(files: list[Path], target: Path) -> None:
    """Put pictures side by side, scaled to one height."""
    pictures = [Image.open(file).convert("RGB") for file in files]
    scaled = [each.resize((each.width * SHEET_HEIGHT // each.height, SHEET_HEIGHT)) for each in pictures]
    # Light ones above, dark ones below.
    rows = [scaled[0::2], scaled[1::2]]
    sheet = Image.new("RGB", (sum(each.width for each in rows[0]) + 20 * len(rows[0]), 2 * SHEET_HEIGHT + 20))
    for number, row in enumerate(rows):
        left = 0
        for each in row:
            sheet.paste(each, (left, number * (SHEET_HEIGHT + 20)))
            left += each.width + 20
    sheet.save(target)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Make pictures of the console's places.")
    parser.add_argument("places", nargs="*", choices=[*PLACES, *EMPTY, []], help="which; none: all")
    parser.add_argument("--readme", action="store_true", help="write those of the README as well")
    parser.add_argument("--server", help="URL of a server that runs; without it a demonstration is started")
    parser.add_argument("--language", default="en-US", help="a tag such as de or pt-BR; default: %(default)s")
    parser.add_argument("--email", default="demo@motorpool.local")
    options = parser.parse_args()
    TARGET.mkdir(parents=True, exist_ok=True)
    names = options.places or [*PLACES, *EMPTY]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=chromium_options())
        if shown := [name for name in names if name in PLACES]:
            given = Access(options.server, options.email, os.environ.get("MOTORPOOL_PASSWORD", ""))
            with contextlib.nullcontext(given) if options.server else demonstration() as access:
                context = browser.new_context()
                log_in(context, access)
                picture_places(browser, access, shown, find_subjects(context, access), options.language)
        if shown := [name for name in names if name in EMPTY]:
            with run_server() as server:
                picture_places(
                    browser, Access(server.url, EMAIL, server.password), shown, {}, options.language
                )
        browser.close()
    if options.readme:
        write_readme_pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main())
