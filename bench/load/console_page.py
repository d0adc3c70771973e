"""The console in Chromium: what a first view loads, how smoothly map and list are drawn, a wall of cameras.

A program of its own (`python -m motorpool.bench.load.console_page`), as `bench.load.browser` is. Writes one
JSON object, a FleetView or a WallView, when it is done.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import msgspec

from motorpool.bench.load.browser import chromium_options, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

WATCHED = "0 watched"
"""Name and identifier of the vehicle whose changes are timed: the first of the list."""
CHANGES = 10
DESK_WIDTH = 1280
PHONE_WIDTH = 390
HEIGHT = 800
_PHONE = 700
"""Narrower windows have the layout of a phone (docs/console.md#layout)."""
_PATIENCE_MS = 60_000
_WARM_MS = 4000
"""The map is moved for this time before measuring: the switch to light drawing happens by itself."""
_KMH_IN_KNOTS = 1.852
_NEARBY = 0.001
"""Degrees between the places of the watched vehicle."""
_ASK_EVERY_MS = 250

_LOADED = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(({ name, transferSize }) => [name, transferSize])
"""
# Counts frames and long tasks for a time; `moving` drags the map on a circle meanwhile, a step each frame.
_DRAWN = """
({ milliseconds, moving }) => new Promise((done) => {
  const tasks = [];
  const observer = new PerformanceObserver((list) => {
    tasks.push(...list.getEntries().map((each) => each.duration));
  });
  observer.observe({ entryTypes: ["longtask"] });
  const canvas = document.querySelector(".map-canvas canvas");
  const box = canvas.getBoundingClientRect();
  const middle = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const point = (turn) => ({
    clientX: middle.x + 150 * Math.cos(turn),
    clientY: middle.y + 150 * Math.sin(turn),
  });
  const pressed = { bubbles: true, cancelable: true, button: 0, buttons: 1, view: window };
  const send = (target, type, turn) => {
    target.dispatchEvent(new MouseEvent(type, { ...point(turn), ...pressed }));
  };
  const begun = performance.now();
  const frames = [];
  let last = begun;
  if (moving) send(canvas, "mousedown", 0);
  const step = (now) => {
    frames.push(now - last);
    last = now;
    const spent = performance.now() - begun;
    if (moving) send(document, "mousemove", spent / 500);
    if (spent < milliseconds) requestAnimationFrame(step);
    else {
      if (moving) send(document, "mouseup", spent / 500);
      observer.disconnect();
      frames.sort((one, other) => one - other);
      done({
        frames_per_second: (frames.length / spent) * 1000,
        worst_frame_ms: frames.at(-1),
        longest_task_ms: Math.max(0, ...tasks),
      });
    }
  };
  requestAnimationFrame(step);
})
"""
# Notes when the text of a row becomes another one.
_NOTE_CHANGES = """
(name) => {
  window.rowTexts = [];
  const note = () => {
    const row = [...document.querySelectorAll(".fleet-row")].find((each) => each.textContent.includes(name));
    const text = row?.querySelector(".fleet-row-state")?.textContent ?? "";
    if (text !== window.rowTexts.at(-1)?.[1]) window.rowTexts.push([Date.now() / 1000, text]);
  };
  new MutationObserver(note).observe(document.body, { childList: true, characterData: true, subtree: true });
}
"""
# Asks the server again and again while the wall starts and plays.
_ASK = """
(milliseconds) => {
  window.asked = [];
  window.played = {};
  const begun = performance.now();
  const ask = async () => {
    const at = performance.now();
    await (await fetch("/api/server", { cache: "no-store" })).text();
    window.asked.push(performance.now() - at);
    [...document.querySelectorAll(".tile video")].forEach((video, index) => {
      if (video.currentTime > 0.2) window.played[index] ??= (performance.now() - begun) / 1000;
    });
    if (performance.now() - begun < milliseconds) setTimeout(ask, __EVERY__);
    else window.isAsked = true;
  };
  void ask();
}
""".replace("__EVERY__", str(_ASK_EVERY_MS))
_WALL = """
() => {
  const videos = [...document.querySelectorAll(".tile video")];
  const qualities = videos.map((video) => video.getVideoPlaybackQuality());
  const sum = (name) => qualities.reduce((total, each) => total + each[name], 0);
  return {
    requests_ms: window.asked,
    started_seconds: Object.values(window.played),
    frames: sum("totalVideoFrames"),
    dropped: sum("droppedVideoFrames"),
  };
}
"""


class Drawn(msgspec.Struct, frozen=True):
    """How smoothly the page was drawn."""

    frames_per_second: float
    worst_frame_ms: float
    longest_task_ms: float


class FleetView(msgspec.Struct, frozen=True):
    """The fleet, list and map, from an empty cache on."""

    own_bytes: int
    """Scripts, styles and outlines of the map as they came over the network, without the map's library."""
    map_library_bytes: int
    api_bytes: int
    list_seconds: float
    """From the request to the first row of the list."""
    map_seconds: float
    """From the request to the map."""
    still: Drawn
    panned: Drawn
    changes_seconds: tuple[float, ...]
    """From the report of a vehicle to its row in the list."""


class WallView(msgspec.Struct, frozen=True):
    """A wall of cameras."""

    requests_ms: tuple[float, ...]
    """Answers to `GET /api/server` of the same page."""
    started_seconds: tuple[float, ...]
    """From the request of the page to each picture that moved."""
    frames: int
    dropped: int


def view_fleet(page: "Page", url: str, seconds: float, report_url: str) -> FleetView:
    """Open the fleet, and measure it at rest and moved, and changes of the list meanwhile at rest."""
    begun = time.perf_counter()
    page.goto(f"{url}/fleet")
    page.locator(".fleet-row").first.wait_for()
    listed = time.perf_counter() - begun
    page.locator(".map-buttons").wait_for()
    mapped = time.perf_counter() - begun
    page.wait_for_load_state("networkidle")
    loaded: list[tuple[str, int]] = page.evaluate(_LOADED)
    page.wait_for_timeout(_WARM_MS)
    still = _drawn(page, seconds, moving=False)
    _drawn(page, _WARM_MS / 1000, moving=True)
    panned = _drawn(page, seconds, moving=True)
    return FleetView(
        own_bytes=sum(size for name, size in loaded if not _is_api(name) and not _is_map_library(name)),
        map_library_bytes=sum(size for name, size in loaded if _is_map_library(name)),
        api_bytes=sum(size for name, size in loaded if _is_api(name)),
        list_seconds=listed,
        map_seconds=mapped,
        still=still,
        panned=panned,
        changes_seconds=tuple(_changes(page, report_url)),
    )


def view_wall(page: "Page", url: str, tiles: str, seconds: float) -> WallView:
    """Open a wall, `12.1,13.1`, and ask the server meanwhile."""
    query = "&".join(f"tile={tile}" for tile in tiles.split(","))
    page.goto(f"{url}/live?{query}")
    page.evaluate(_ASK, seconds * 1000)
    page.wait_for_function("() => window.isAsked", timeout=seconds * 1000 + _PATIENCE_MS)
    return msgspec.convert(page.evaluate(_WALL), WallView)


def _drawn(page: "Page", seconds: float, *, moving: bool) -> Drawn:
    found = page.evaluate(_DRAWN, {"milliseconds": seconds * 1000, "moving": moving})
    return msgspec.convert(found, Drawn)


def _changes(page: "Page", report_url: str) -> Iterator[float]:
    """Report other speeds for the watched vehicle, and yield how long its row took to show each."""
    page.evaluate(_NOTE_CHANGES, WATCHED)
    with httpx.Client() as client:
        for number in range(CHANGES):
            kmh = 20 + number
            place = {"lat": f"{47 + number * _NEARBY:.6f}", "lon": "8"}
            sent = time.time()
            client.get(report_url, params={"id": WATCHED, "speed": f"{kmh / _KMH_IN_KNOTS:.4f}", **place})
            shown = page.wait_for_function(
                "(text) => window.rowTexts.find(([, each]) => each.includes(text))?.[0]", arg=f"{kmh} km/h"
            )
            yield shown.json_value() - sent


def _is_api(address: str) -> bool:
    return "/api/" in address


def _is_map_library(address: str) -> bool:
    return address.rpartition("/")[2].startswith(("map-", "maplibre-gl-worker-"))


@contextmanager
def open_page(url: str, email: str, password: str, width: int) -> Iterator["Page"]:
    """Open a page of a browser that has nothing in its cache but a session; narrow ones are a phone's."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needs the dev extra

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=chromium_options())
        page = browser.new_page(
            viewport={"width": width, "height": HEIGHT}, has_touch=width < _PHONE, locale="en-US"
        )
        page.set_default_timeout(_PATIENCE_MS)
        answer = page.request.post(f"{url}/api/session", form={"email": email, "password": password})
        if not answer.ok:
            raise SystemExit(f"Error: the login was refused with {answer.status}")
        yield page
        browser.close()


def main() -> int:
    """Run the command line; the password comes from the environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("email")
    parser.add_argument("--width", type=int, default=DESK_WIDTH, help="pixels of the window")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--report-url", default="", help="address of OsmAnd reports; measures the fleet")
    parser.add_argument("--tiles", default="", help="cameras of a wall, as 12.1,13.1")
    args = parser.parse_args()
    view: FleetView | WallView
    password = os.environ["MOTORPOOL_BROWSER_PASSWORD"]
    with open_page(args.url, args.email, password, args.width) as page:
        if args.tiles:
            view = view_wall(page, args.url, args.tiles, args.seconds)
        else:
            view = view_fleet(page, args.url, args.seconds, args.report_url)
    sys.stdout.write(msgspec.json.encode(view).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
