"""The console in a real Chromium, one for all journeys of a worker, against servers of their own."""

import asyncio  # noqa: TID251 - the loop of Playwright
import contextlib
import os
import re
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from tests.journeys.console.filming import FilmingVehicle

from motorpool.bench.load.browser import chromium_options, find_headless
from motorpool.bench.server import EMAIL

CONSOLE = Path(__file__).parents[3] / "api" / "console"
AXE = CONSOLE / "node_modules" / "axe-core" / "axe.min.js"
NOBODY_YET = (404, "/api/session")
"""Whether somebody is logged in; the answer for nobody."""

SOCKET = "/api/socket"
_SEGMENT = re.compile(r"/api/stream/\d+/\d+/\d+\.ts")

# Finds what axe calls serious or critical in each theme, with the elements concerned. The colors are those of
# `light-dark()`; maps, of which axe sees nothing, are not drawn anew for a theme that is set in this way.
_AXE = """
async () => {
  const found = [];
  const { style } = document.documentElement;
  for (const theme of ["light", "dark"]) {
    style.colorScheme = theme;
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    for (const { id, impact, nodes } of violations) {
      if (impact !== "serious" && impact !== "critical") continue;
      found.push(`${theme}: ${id}: ${nodes.slice(0, 5).map(({ html }) => html).join("\\n")}`);
    }
  }
  style.colorScheme = "";
  return found;
}
"""

# Words that are broken, and labels of buttons at less than three pixels from the edge.
_UNFIT = r"""
() => {
  const found = [];
  const told = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 200)}`);
  const range = document.createRange();
  for (const each of document.querySelectorAll("button, .button, .rail-entry, label, strong, dt")) {
    if (!each.checkVisibility({ checkVisibilityCSS: true }) || each.clientWidth <= 1) continue;
    const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) told(`broken ${word}`, each);
      }
    }
    if (!each.matches("button, .button") || !each.textContent.trim()) continue;
    range.selectNodeContents(each);
    const [inner, outer] = [range.getBoundingClientRect(), each.getBoundingClientRect()];
    const side = getComputedStyle(each).borderTopWidth !== "0px" && inner.width > 0;
    if (side && (inner.left < outer.left + 3 || inner.right > outer.right - 3)) told("at its edge", each);
  }
  return found;
}
"""

_NO_WEBGL = """
const { getContext } = HTMLCanvasElement.prototype;
HTMLCanvasElement.prototype.getContext = function (kind, ...options) {
  return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...options);
};
"""


@pytest.fixture(scope="session")
def chromium():
    """A browser for all tests of the worker; its contexts share nothing."""
    missing = [
        what for what, there in (("Chromium", find_headless()), ("axe-core", AXE.exists())) if not there
    ]
    if not (CONSOLE / "dist" / "index.html").exists():
        missing.append("the built console")
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"missing: {', '.join(missing)}")
    # Where trio-asyncio is imported it would make the loop, and wants one of Trio.
    with patch.object(asyncio, "new_event_loop", asyncio.SelectorEventLoop):
        playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=find_headless(), args=chromium_options())
    # Generous, since the machine may be busy: five seconds are the default.
    expect.set_options(timeout=60_000)
    yield browser
    browser.close()
    playwright.stop()


@pytest.fixture
def visitor(chromium):
    """`visitor(server)`: a browser profile of its own; the test fails for errors on its page.

    With `webgl=False` the browser draws no maps, and the page says so: each takes seconds of CPU without a
    graphics card, and most journeys look at other things.
    """
    visitors = []

    def come(server, *, webgl=True, **options):
        visitors.append(Visitor(chromium, server, options))
        if not webgl:
            visitors[-1].draw_no_maps()
        return visitors[-1]

    yield come
    for each in visitors:
        each.context.close()
    assert [complaint for each in visitors for complaint in each.complaints] == []


@pytest.fixture(scope="module")
def server(start_server):
    """A server for the journeys of one file: they count vehicles and change what its administrator reads."""
    with start_server() as running:
        yield running


@pytest.fixture(scope="module")
def server_with_alarms(start_server):
    """A server with a company for tickets, and notices of SOS; cameras are soon given up."""
    with start_server({"MOTORPOOL_VIDEO_START_SECONDS": "2"}) as running, running.client() as client:
        company = client.post("/companies", json={"name": "North"}).json()
        assert client.post("/tickets/defaults", json={"companyId": company["id"]}).status_code == 200
        alarms = {"type": "alarm", "always": True, "notificators": "web", "attributes": {"alarms": "sos"}}
        assert client.post("/notifications", json=alarms).status_code == 200
        yield running


@pytest.fixture
def vehicle(server, connected):
    """`vehicle(phone, 1, 2)`: a signed-in terminal of which these cameras work."""
    with contextlib.ExitStack() as stack:

        def come(phone, *working, cameras=2):
            peer = stack.enter_context(connected(server, phone))
            made = FilmingVehicle(server, peer, working, cameras)
            stack.callback(made.end)
            return made

        yield come


class Visitor:
    """A page of the console and what went wrong on it."""

    def __init__(self, chromium, server, options):
        self.server = server
        self.complaints = []
        self.expected = {NOBODY_YET}
        """Refusals that the journey causes: status and path."""
        self.refused_by = None
        """URL of another server, whose refusals are no complaint."""
        self.server_restarts = False
        """Whether the journey stops the server: what it does not answer then is no complaint."""
        self.context = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 720}, "locale": "en-US", "timezone_id": "UTC", **options}
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("response", self._answered)
        self.page.on("request", self._asked)

    def open(self, path):
        """Go to an address of the console."""
        self.page.goto(self.server.url + path)

    def draw_no_maps(self):
        """Have the browser draw no maps on pages that are loaded from now on."""
        self.context.add_init_script(_NO_WEBGL)

    def log_in(self, path="/fleet", email=EMAIL, password=None):
        """Open an address, and log in where it asks for it."""
        self.open(path)
        self.page.get_by_label("E-mail").fill(email)
        self.page.get_by_label("Password", exact=True).fill(password or self.server.password)
        self.page.get_by_role("button", name="Log in").click()

    def expect_end_of_session(self, *reading):
        """Expect that the session ends, and that what the page may be reading then is refused.

        That is what the fleet's page reads, and the paths `reading`.
        """
        fleet = (
            "/api/devices",
            "/api/devices/motion",
            "/api/events",
            "/api/geofences",
            "/api/groups",
            SOCKET,
        )
        self.expected |= {(401, path) for path in (*fleet, *reading)}

    def assert_accessible(self):
        """Fail for serious findings of axe-core, in both themes."""
        # Colors between two themes are none.
        self.page.emulate_media(reduced_motion="reduce")
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(AXE.read_text())
        assert self.page.evaluate(_AXE) == []

    def assert_fits(self):
        """Fail for a page that scrolls sideways, a field beyond its edge, and texts that do not fit.

        Those are buttons and labels that are cut off, words of them that are broken, and texts that lie on
        the edge of their button.
        """
        assert self.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        beyond = self.page.evaluate(
            """() => [...document.querySelectorAll("input, select, textarea")]
              .filter((each) => each.getBoundingClientRect().right > innerWidth)
              .map((each) => each.outerHTML.slice(0, 200))"""
        )
        assert beyond == []
        cut = self.page.evaluate(
            """() => [...document.querySelectorAll("button, label, h1, h2, dt, th, .badge, .rail-entry span")]
              .filter((each) => each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
              .filter((each) => getComputedStyle(each).textOverflow !== "ellipsis")
              .map((each) => each.outerHTML.slice(0, 200))"""
        )
        assert cut == []
        assert self.page.evaluate(_UNFIT) == []

    def _heard(self, message):
        # Refused requests are in `_answered`, with their paths; the refusal of a WebSocket is not.
        if message.type != "error" or message.text.startswith("Failed to load resource"):
            return
        if self.server_restarts and f"{SOCKET}' failed: " in message.text:
            return
        if (401, SOCKET) in self.expected and f"{SOCKET}' failed: HTTP Authentication" in message.text:
            return
        self.complaints.append(message.text)

    def _asked(self, request):
        # A provider of logins shows pages of its own.
        is_ours = self.page.url.startswith(self.server.url)
        asked = urlsplit(request.url)
        if is_ours and asked.scheme.startswith("http") and asked.hostname != "127.0.0.1":
            self.complaints.append(f"asks {request.url}")

    def _answered(self, response):
        if self.refused_by and response.url.startswith(self.refused_by):
            return
        path = response.url.removeprefix(self.server.url).partition("?")[0]
        if self.server_restarts and response.status >= 500:
            return
        if response.status == 404 and _SEGMENT.fullmatch(path):
            # A busy browser asks for it when it is older than any that a playlist still names.
            return
        if response.status >= 400 and (response.status, path) not in self.expected:
            self.complaints.append(f"{response.status} {path}")
