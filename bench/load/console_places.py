"""The places of the console before a large fleet: how long each takes to show, how smoothly tables scroll.

A program of its own (`python -m motorpool.bench.load.console_places`), as `bench.load.browser` is. Writes one
JSON object, a PlacesView, when it is done.
"""

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from motorpool.bench.load.console_page import DESK_WIDTH, open_page

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

PLACES = (
    "/overview",
    "/fleet",
    "/vehicles/{vehicle}",
    "/vehicles/{vehicle}/history?from=now-1d/d",
    "/vehicles/{vehicle}/live",
    "/vehicles/{vehicle}/commands",
    "/vehicles/{vehicle}/settings",
    "/vehicles/{vehicle}/messages",
    "/vehicles/{vehicle}/events",
    "/live",
    "/library",
    "/zones",
    "/events",
    "/tickets",
    "/tickets/list",
    "/tickets/board",
    "/reports/summary?deviceId={vehicle}&from=now-1d/d&to=now/d",
    "/reports/trips?deviceId={vehicle}&from=now-1d/d&to=now/d",
    "/reports/scheduled",
    "/commands",
    "/schedules",
    "/calendars",
    "/connect",
    "/account",
    "/helpdesk",
    "/helpdesk/new",
    "/admin",
    "/admin/users",
    "/admin/groups",
    "/admin/links",
    "/admin/drivers",
    "/admin/maintenance",
    "/admin/orders",
    "/admin/attributes",
    "/admin/commands",
    "/admin/notifications",
    "/admin/server",
    "/admin/statistics",
    "/admin/status",
    "/admin/storage",
    "/admin/audit",
    "/admin/backup",
    "/admin/announcement",
    "/admin/actors",
)
"""Addresses, in the order in which they are gone to; `{vehicle}` is one of the fleet."""
LIST, TABLE, REPORT = "/fleet", "/admin/devices", "/reports/devices"
"""Those that show all vehicles."""
_SCROLLED = {LIST: ".fleet-rows", TABLE: ".table", REPORT: ".table"}
_STEP_PX = 120
"""A notch of a wheel, each frame: three lines of a table."""
_REST_MS = 4000
"""Before a list is scrolled: a map beside it is drawn by then."""

# Goes to an address, and tells the milliseconds after which its content is there: something, and no sign of
# loading for a while, since such a sign comes late.
_GO = """
(address) => new Promise((done, fail) => {
  const begun = performance.now();
  let busy = 0;
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  const look = () => {
    const now = performance.now();
    const place = document.querySelector("main");
    const isBusy = !place || place.innerText.trim() === "" || place.querySelector(".skeleton, progress");
    // Nothing is shown before the next frame.
    if (isBusy || !busy) busy = now;
    if (now - busy > __QUIET__) done(busy - begun);
    else if (now - begun > __PATIENCE__) fail(new Error(`${address} does not show its content`));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
""".replace("__QUIET__", "300").replace("__PATIENCE__", "60000")
# Scrolls by a step each frame, from the top down and back.
_SCROLL = """
({ selector, step, milliseconds }) => new Promise((done) => {
  const box = document.querySelector(selector);
  const most = box.scrollHeight - box.clientHeight;
  const begun = performance.now();
  const frames = [];
  let last = begun;
  let top = 0;
  let by = step;
  const next = (now) => {
    frames.push(now - last);
    last = now;
    if (top + by < 0 || top + by > most) by = -by;
    top += by;
    box.scrollTop = top;
    if (now - begun < milliseconds) requestAnimationFrame(next);
    else {
      frames.sort((one, other) => one - other);
      done({ frames: frames.length, seconds: (now - begun) / 1000, worst_ms: frames.at(-1) });
    }
  };
  requestAnimationFrame(next);
})
"""
# Presses the head of a column; tells the milliseconds until the lines are drawn in its order.
_SORT = """
() => new Promise((done) => {
  const begun = performance.now();
  document.querySelector(".table [role=columnheader]:nth-of-type(2) button").click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
})
"""
# The lines of a table without its head and foot, once they are no fewer than the vehicles.
_ROWS = """
([selector, vehicles]) => {
  const table = document.querySelector(selector);
  const others = 1 + (table?.querySelector(".table-foot") ? 1 : 0);
  const rows = Number(table?.getAttribute("aria-rowcount") ?? 0) - others;
  return rows >= vehicles && rows;
}
"""


class Scrolled(msgspec.Struct, frozen=True):
    """How a list was scrolled."""

    frames_per_second: float
    worst_frame_ms: float
    task_ms: float
    """CPU of the page's main thread for a frame: scripts, styles, layout and what to paint. Chromium paints
    in other threads, here without a graphics card."""


class PlacesView(msgspec.Struct, frozen=True):
    """What the places took."""

    first_list_seconds: float
    """From the request of the page to the first row, with an empty cache."""
    list_seconds: float
    """The same again."""
    list_task_seconds: float
    """CPU of the main thread for that page, until it is at rest: with the map."""
    list_script_seconds: float
    """Of it scripts."""
    places_ms: dict[str, float]
    """From going there to its content, of tables to all rows, by address; once each, so with its files."""
    rows: dict[str, int]
    """Of tables that show all vehicles."""
    scrolled: dict[str, Scrolled]
    sort_ms: float
    """Of the table of all vehicles by another column."""


def view_places(page: "Page", url: str, vehicles: int, seconds: float) -> PlacesView:
    """Open the list of the fleet twice, go to each place once, and scroll the tables."""
    cdp = page.context.new_cdp_session(page)
    # Beside other programs a task takes longer than it works.
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    first = _open_list(page, url)
    again = _open_list(page, url)
    page.wait_for_timeout(_REST_MS)
    busy, scripts = _cpu_seconds(cdp), _cpu_seconds(cdp, "ScriptDuration")
    vehicle = page.evaluate("async () => (await (await fetch('/api/devices?limit=1')).json())[0].id")
    places: dict[str, float] = {}
    rows: dict[str, int] = {}
    scrolled: dict[str, Scrolled] = {}
    sort_ms = 0.0
    for address in (*PLACES, LIST, TABLE, REPORT):
        took = page.evaluate(_GO, address.format(vehicle=vehicle))
        places.setdefault(address, took)
        if address in _SCROLLED and (address != LIST or len(places) == len(PLACES)):
            selector = _SCROLLED[address]
            if address != LIST:
                begun = time.perf_counter()
                rows[address] = page.wait_for_function(_ROWS, arg=[selector, vehicles]).json_value()
                places[address] = took + (time.perf_counter() - begun) * 1000
            scrolled[address] = _scroll(page, cdp, selector, seconds)
            if address == TABLE:
                sort_ms = page.evaluate(_SORT)
    return PlacesView(first, again, busy, scripts, places, rows, scrolled, sort_ms)


def _open_list(page: "Page", url: str) -> float:
    begun = time.perf_counter()
    page.goto(f"{url}{LIST}")
    page.locator(".fleet-row").first.wait_for()
    return time.perf_counter() - begun


def _scroll(page: "Page", cdp: "CDPSession", selector: str, seconds: float) -> Scrolled:
    page.wait_for_timeout(_REST_MS)
    before = _cpu_seconds(cdp)
    found = page.evaluate(_SCROLL, {"selector": selector, "step": _STEP_PX, "milliseconds": seconds * 1000})
    busy = _cpu_seconds(cdp) - before
    return Scrolled(found["frames"] / found["seconds"], found["worst_ms"], busy / found["frames"] * 1000)


def _cpu_seconds(cdp: "CDPSession", of: str = "TaskDuration") -> float:
    """Return how long the page's main thread has worked at something, since the page was opened."""
    metrics = cdp.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == of)


def main() -> int:
    """Run the command line; the password comes from the environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("email")
    parser.add_argument("vehicles", type=int, help="how many there are")
    parser.add_argument("--seconds", type=float, default=5.0, help="for which each table is scrolled")
    args = parser.parse_args()
    password = os.environ["MOTORPOOL_BROWSER_PASSWORD"]
    with open_page(args.url, args.email, password, DESK_WIDTH) as page:
        view = view_places(page, args.url, args.vehicles, args.seconds)
    sys.stdout.write(msgspec.json.encode(view).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
