"""Journey 17: the jobs of an operator by keyboard alone; that of zones is in test_zones.py."""

import contextlib
import re
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from tests.journeys.test_ticket_of_an_alarm import SOS

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse, TerminalControl
from motorpool.bench.vehicles.jt808.terminal import encode_location

PHONE = "013900001701"
NAME = "Van 1701"
STOP = 0x64
"""Oil and power off (docs/protocols/jt808.md#commands)."""
FOCUSED = "() => document.activeElement !== null && document.activeElement !== document.body"


@pytest.fixture(scope="module")
def server(server_with_alarms):
    return server_with_alarms


@pytest.fixture
def van(server, connected):
    """A terminal that grants each request, as peer and what it was asked for."""
    with connected(server, PHONE) as peer, server.client() as client:
        (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        device |= {"name": NAME, "attributes": {"channels": 2}}
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        asked = []

        def grant():
            # The socket ends with the test.
            with contextlib.suppress(OSError, AssertionError):
                while True:
                    message = peer.messages(lambda message: not isinstance(message, GeneralResponse))[-1]
                    asked.append(message)
                    peer.send(peer.terminal.general_response(message))

        threading.Thread(target=grant, daemon=True).start()
        yield peer, asked


class Keys:
    """A keyboard that counts its keys, without the text that is typed."""

    def __init__(self, page):
        self.page = page
        self.count = 0

    def press(self, *names):
        for name in names:
            self.page.keyboard.press(name)
            self.count += 1
            # The focus is somewhere after each key.
            self.page.wait_for_function(FOCUSED)

    def search(self):
        self.count = 0
        self.press("/")
        self.page.keyboard.type(NAME)
        self.press("Enter")
        expect(self.page.get_by_role("heading", name=NAME)).to_be_focused()


def test_the_jobs_of_a_day_take_few_keys_and_the_focus_is_never_lost(server, visitor, van, eventually):
    peer, asked = van
    # In whole seconds of the server's process.
    now = datetime.fromtimestamp(int(time.time()), UTC)  # noqa: TID251
    for minutes in (30, 20, 10):
        peer.send(peer.terminal.location(encode_location(52.5, 13.4, now - timedelta(minutes=minutes))))
    guest = visitor(server, webgl=False)
    page, keys = guest.page, Keys(guest.page)
    with page.expect_websocket() as opened:
        guest.log_in("/fleet")
    opened.value.wait_for_event("framereceived")
    expect(page.get_by_role("link", name=re.compile(NAME))).to_be_visible()
    page.wait_for_function(FOCUSED)

    # Job 1: where it is.
    keys.search()
    panel = page.get_by_role("complementary", name="Vehicle")
    expect(panel).to_contain_text("52.50000, 13.40000")
    assert keys.count == 2

    # Job 2: its cameras; job 4: follow it, then its cameras.
    keys.press("v")
    expect(page.get_by_role("article")).to_have_count(2)
    assert keys.count == 3
    keys.press("Escape")
    expect(panel).to_be_visible()
    keys.press("f")
    expect(page).to_have_url(re.compile("follow=1"))
    keys.press("v")
    expect(page.get_by_role("article")).to_have_count(2)

    # Job 3: what happened at a time, with the film.
    keys.search()
    keys.press("h")
    expect(page.get_by_role("slider", name="Time that is shown")).to_be_visible()
    page.keyboard.type(f"{now - timedelta(minutes=20):%H:%M}")
    keys.press("Enter")
    expect(page.get_by_role("slider", name="Time that is shown")).to_be_focused()
    with page.expect_request(lambda request: request.method == "POST" and "/api/captures" in request.url):
        keys.press("k")
    assert keys.count == 5
    eventually(lambda: any("Playback" in type(message).__name__ for message in asked))

    # Job 6: the day before as a file.
    keys.search()
    keys.press("h", "y")
    expect(page).to_have_url(re.compile("from=now-1d/d"))
    with page.expect_download():
        keys.press("e")
    assert keys.count == 5

    # Job 5: an alarm, and its ticket.
    peer.send(peer.terminal.location(encode_location(52.5, 13.4, now, alarm=SOS)))
    expect(page.get_by_role("alert").filter(has_text="emergency button")).to_be_visible()
    keys.count = 0
    keys.press("n")
    expect(page.get_by_role("heading", name="Alarm: emergency button")).to_be_visible()
    expect(page.get_by_role("button", name="Make a ticket")).to_be_visible()
    keys.press("t")
    expect(page.get_by_role("list", name=re.compile("Evidence of ticket"))).to_be_visible()
    assert keys.count == 2

    # Job 7: stop its engine, which asks first.
    keys.search()
    keys.press("c")
    expect(page.get_by_label("What should the vehicle do?")).to_be_focused()
    page.keyboard.type("stop the eng")
    keys.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Stop the engine")).to_be_focused()
    keys.press("Enter")
    expect(
        page.get_by_role("region", name="Sent from here").get_by_text("Handed to the vehicle")
    ).to_be_visible()
    assert keys.count == 5
    eventually(lambda: STOP in [each.command for each in asked if isinstance(each, TerminalControl)])

    # Everything else is one combination away.
    keys.press("Control+k")
    page.keyboard.type("zones")
    keys.press("Enter")
    expect(page.get_by_label("Search a zone")).to_be_visible()
    keys.press("g", "a")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    # Also what is done with a vehicle; the acts of the open one come first.
    keys.press("Control+k")
    page.keyboard.type("hist 1701")
    keys.press("Enter")
    expect(page).to_have_url(re.compile("/vehicles/.*/history"))
    keys.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_have_text(f"{NAME} · Live")
    page.keyboard.type("share")
    keys.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("heading", name=f"Share {NAME}")).to_be_visible()
    keys.press("Escape")
    page.wait_for_function(FOCUSED)


def test_keys_that_are_pressed_while_a_place_is_loaded_are_its_keys(server, visitor):
    with server.client() as client:
        made = client.post("/devices", json={"name": "Van 1703", "uniqueId": "1703"})
        assert made.status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{made.json()['id']}/events")
    expect(page.get_by_role("heading", name="Van 1703")).to_be_visible()
    held = []

    def hold(route):
        held.append(route)

    page.route("**/assets/History-*.js", hold)
    with page.expect_request("**/assets/History-*.js"):
        page.keyboard.press("h")
    # A key of nobody is no hindrance.
    for key in "qye":
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("/history$"))
    with page.expect_download() as download:
        for route in held:
            route.continue_()
    expect(page).to_have_url(re.compile("from=now-1d/d"))
    # The file of that day, and not of the one that was shown first.
    assert download.value.url.endswith(page.get_by_role("link", name="Excel").get_attribute("href"))
