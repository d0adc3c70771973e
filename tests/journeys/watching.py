"""Chromium on a page of another origin: plays playlists with hls.js side by side and tells what it saw.

A program of its own, as Playwright's loop wants a process for itself. Reads one JSON object from its input
(`players`: name, url, token, whether to stay as near as the playlist allows; `seconds` of each to play), and
writes one.
"""

import functools
import json
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image
from playwright.sync_api import sync_playwright

from motorpool.bench.load.browser import HLS, chromium_options, find_headless
from motorpool.bench.vehicles.frame_numbers import read_number

PAGE = """<!doctype html><title>Players</title><script src="/hls.min.js"></script><body></body>"""
SIZE = 640, 360
ROW = 342
"""In the middle of the squares that carry the picture's number."""
PLAY = """
([players, row]) => {
  window.told = {};
  for (const { name, url, token, nearest } of players) {
    const told = window.told[name] = { errors: [], times: [], seen: [], playlists: [], parts: 0 };
    const video = document.createElement("video");
    video.muted = true;
    video.width = 320;
    document.body.append(video);
    const hls = new Hls({
      maxLiveSyncPlaybackRate: nearest ? 1.1 : 1,
      xhrSetup: (request) => request.setRequestHeader("Authorization", `Bearer ${token}`),
    });
    hls.on(Hls.Events.ERROR, (_, problem) => told.errors.push(`${problem.details} ${problem.fatal}`));
    hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
    hls.on(Hls.Events.FRAG_BUFFERED, (_, { part }) => { told.parts += part ? 1 : 0; });
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
      if (told.playlists.at(-1) !== details.m3u8) told.playlists.push(details.m3u8);
      told.latency = hls.targetLatency;
    });
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { willReadFrequently: true });
    setInterval(() => {
      if (!video.currentTime) return;
      told.times.push([Date.now(), video.currentTime]);
      if (!video.videoWidth) return; // no picture yet, or none while another is loaded
      [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
      context.drawImage(video, 0, 0);
      const pixels = context.getImageData(0, row, canvas.width, 1).data;
      told.seen.push([Date.now(), Array.from({ length: canvas.width }, (_, x) => pixels[4 * x])]);
    }, 500);
    hls.loadSource(url);
    hls.attachMedia(video);
  }
}
"""

PLAYED = """
(seconds) => Object.values(window.told).every(
  ({ times }) => times.length && times.at(-1)[1] - times[0][1] > seconds - 0.6)
"""


class Pages(SimpleHTTPRequestHandler):
    """The page and hls.js."""

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE.encode())
        return None

    def log_message(self, *_):
        pass


def number_in(row):
    """The number that is drawn in the picture whose line of greys this is."""
    return read_number(Image.frombytes("L", (len(row), 1), bytes(row)).resize(SIZE))


def watch(port, players, seconds):
    complaints = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_headless(), args=chromium_options())
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"http://127.0.0.1:{port}/")
        page.evaluate(PLAY, [players, ROW])
        page.wait_for_function(
            "() => Object.values(window.told).every(({ times }) => times.length)", timeout=40_000
        )
        page.wait_for_function(PLAYED, arg=seconds, timeout=120_000)
        told = page.evaluate("() => window.told")
        browser.close()
    for player in told.values():
        player["seen"] = [[at, number_in(row)] for at, row in player["seen"]]
    return {"players": told, "complaints": complaints}


def main():
    plan = json.load(sys.stdin)
    handler = functools.partial(Pages, directory=str(HLS.parent))
    pages = ThreadingHTTPServer(("127.0.0.1", plan["port"]), handler)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    print(json.dumps(watch(plan["port"], plan["players"], plan["seconds"])))
    pages.shutdown()


if __name__ == "__main__":
    main()
