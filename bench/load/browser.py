"""A viewer in Chromium: plays a vehicle's camera in the console, and counts stalls.

A program of its own (`python -m motorpool.bench.load.browser`): Playwright's loop wants a process for itself.
Tells one JSON object when it is done.
"""

import argparse
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

from motorpool.bench.vehicles.frame_numbers import NUMBER_BITS, centres, read_levels

# Samples twice a second: a picture that does not advance while playing is a stall. The brightness of the
# squares in the picture is recorded with the time.
_WATCH = """
(centres) => {
  const video = document.querySelector("video");
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  const drawing = canvas.getContext("2d", { willReadFrequently: true });
  window.stalls = 0;
  window.seen = [];
  setInterval(() => {
    if (video.currentTime === window.lastTime && !video.paused) window.stalls += 1;
    window.lastTime = video.currentTime;
    drawing.drawImage(video, 0, 0, canvas.width, canvas.height);
    window.seen.push([Date.now(), centres.map(([x, y]) => drawing.getImageData(x, y, 1, 1).data[1])]);
  }, 500);
  return video.currentTime;
}
"""
# For a playlist without a button in the console: hls.js on a page of its own, from the beginning.
_PLAY = """
(url) => {
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
  document.body.append(video);
  const hls = new window.Hls({ startPosition: 0 });
  window.problems = [];
  let segments = 0;
  hls.on(window.Hls.Events.FRAG_BUFFERED, () => {
    segments += 1;
    if (segments === 3) video.play();
  });
  hls.on(window.Hls.Events.ERROR, (_, problem) => {
    window.problems.push(`${problem.details}${problem.fatal ? ", fatal" : ""}`);
  });
  hls.loadSource(url);
  hls.attachMedia(video);
}
"""
# As a page that sets nothing plays a live playlist.
_PLAY_STOCK = """
(url) => {
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
  document.body.append(video);
  const hls = new window.Hls();
  window.problems = [];
  hls.on(window.Hls.Events.ERROR, (_, problem) => {
    window.problems.push(`${problem.details}${problem.fatal ? ", fatal" : ""}`);
  });
  hls.loadSource(url);
  hls.attachMedia(video);
  video.play();
}
"""
HLS = Path(__file__).parents[2] / "api" / "console" / "node_modules" / "hls.js" / "dist" / "hls.min.js"
"""The library as the console is built with it."""
_PLAYER = '<!doctype html><title>Player</title><body><script src="/hls.js"></script>'
STOCK_START_SECONDS = 5.0
"""Stalls and errors of stock hls.js count from then on."""
_PART = re.compile(r"/\d+\.\d+\.ts$")
_START_MS = 60_000


def find_chromium() -> str | None:
    """Return the browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def find_headless() -> str | None:
    """Return the path of headless Chromium, which takes less CPU, or else of the browser."""
    return shutil.which("chromium-headless-shell") or find_chromium()


def chromium_options() -> list[str]:
    """Return its options: drawing by software, for want of a graphics card, no sound, no requests of its own.

    Looking for a place for sound, PulseAudio would leave a folder among the temporary files.
    """
    return [
        *(["--no-sandbox"] if os.getuid() == 0 else []),
        "--disable-gpu",
        "--disable-audio-output",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
    ]


def watch(
    url: str,
    email: str,
    password: str,
    seconds: float,
    *,
    vehicles: int = 1,
    row: int = 0,
    picture: str | None = None,
    playlist: str | None = None,
    stock: bool = False,
) -> dict[str, object]:
    """Play the camera of the `row`th online vehicle; `picture` names a file for a screenshot.

    Waits until `vehicles` are online. Returns the text for a wrong password, the picture's size, seconds
    played and waited, stalls, parts fetched (Low-Latency HLS), errors of the page, and ages of pictures.
    `playlist` is the path of a playlist to play instead; `stock`: by hls.js with its default settings, and
    what happens in its first five seconds does not count.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needs the dev extra, as said above

    complaints: list[str] = []
    fetched: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_headless(), args=chromium_options())
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfinished", lambda request: fetched.append(request.url))
        page.goto(f"{url}/login")
        page.get_by_label("E-mail").fill(email)
        page.get_by_label("Password", exact=True).fill("wrong " + password)
        page.get_by_role("button", name="Log in").click()
        refused = page.get_by_role("alert").inner_text()
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_role("button", name="Log in").click()
        rows = page.locator(".fleet-row:has(.status-shape.online, .status-shape.moving)")
        rows.nth(vehicles - 1).wait_for(timeout=_START_MS)
        online = rows.count()
        vehicle = rows.nth(row).get_by_role("link").get_attribute("href")
        asked = time.monotonic()
        if playlist is None:
            page.goto(f"{url}{vehicle}/live?channel=1")
        else:
            page.route(f"{url}/player", lambda route: route.fulfill(body=_PLAYER, content_type="text/html"))
            page.route(f"{url}/hls.js", lambda route: route.fulfill(path=HLS))
            page.goto(f"{url}/player")
            asked = time.monotonic()
            page.evaluate(_PLAY_STOCK if stock else _PLAY, playlist)
        page.wait_for_function("() => document.querySelector('video')?.currentTime > 0.2", timeout=_START_MS)
        started = time.monotonic() - asked
        if stock:
            page.wait_for_timeout(STOCK_START_SECONDS * 1000)
            page.evaluate("() => { window.problems.length = 0; }")
        width, height = page.evaluate(
            "() => { const video = document.querySelector('video');"
            " return [video.videoWidth, video.videoHeight]; }"
        )
        began = page.evaluate(_WATCH, centres(width, height))
        page.wait_for_timeout(seconds * 1000)
        ended, stalls, seen, problems = page.evaluate(
            "() => [document.querySelector('video').currentTime, window.stalls, window.seen,"
            " window.problems ?? []]"
        )
        if picture is not None:
            page.screenshot(path=picture)
        browser.close()
    return {
        "refused": refused,
        "online": online,
        "size": [width, height],
        "started_seconds": started,
        "played_seconds": ended - began,
        "stalls": stalls,
        "parts": len([url for url in fetched if _PART.search(url)]),
        "complaints": complaints + problems,
        "ages": ages(seen),
    }


def ages(seen: list[tuple[float, list[float]]]) -> list[float]:
    """Return the seconds between each picture's time stamp and its display, for those that can be read.

    `seen` holds milliseconds since 1970, and the brightness of the picture's squares.
    """
    span = 1 << NUMBER_BITS
    found = [(at, read_levels(levels)) for at, levels in seen]
    return [(at - stamp) % span / 1000 for at, stamp in found if stamp is not None]


def main() -> int:
    """Run the command line; the password comes from the environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("email")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--vehicles", type=int, default=1)
    parser.add_argument("--row", type=int, default=0)
    parser.add_argument("--picture")
    parser.add_argument("--playlist")
    parser.add_argument("--stock", action="store_true")
    args = parser.parse_args()
    found = watch(
        args.url,
        args.email,
        os.environ["MOTORPOOL_BROWSER_PASSWORD"],
        args.seconds,
        vehicles=args.vehicles,
        row=args.row,
        picture=args.picture,
        playlist=args.playlist,
        stock=args.stock,
    )
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
