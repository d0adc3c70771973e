"""Journey 15 and job 10: a tracker is connected (docs/console.md#connect-a-tracker)."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
TYPED = "013900000770"
SENT = "013900000777"


@pytest.fixture(scope="module")
def server(start_server):
    """A server that registers no unknown device."""
    with start_server({"MOTORPOOL_REGISTER_UNKNOWN": "false"}) as running:
        yield running


class Clicks:
    """Counts those of a budget."""

    def __init__(self):
        self.count = 0

    def __call__(self, target):
        self.count += 1
        target.click()


def knock(connected, server, phone):
    """A terminal that is not let in: it registers, and is gone when it was answered."""
    with connected(server, phone, sign_in=False) as peer:
        peer.send(peer.terminal.register())
        peer.messages(lambda message: True)


def send_until_said(send, said, text):
    """Send as a tracker does, again and again: the page may begin to listen after the first time."""
    for _ in range(20):
        send()
        with contextlib.suppress(AssertionError):
            expect(said).to_contain_text(text, timeout=3000)
            return
    expect(said).to_contain_text(text)


def test_a_tracker_that_sends_another_number_first(server, visitor, connected):
    guest = visitor(server, viewport={"width": 390, "height": 844}, has_touch=True)
    page = guest.page
    click = Clicks()
    guest.log_in("/fleet")
    click(page.get_by_role("region", name="Vehicles").get_by_role("link", name="Connect a tracker").last)
    expect(page.get_by_role("link", name="GT06")).to_be_visible()
    guest.assert_fits()
    page.get_by_label("Make, model or protocol").fill("cameras 1078")
    guest.assert_accessible()
    guest.assert_fits()
    click(page.get_by_role("link", name="JT/T 808"))
    expect(page.get_by_label("Server address")).to_have_value("127.0.0.1")
    expect(page.get_by_label("Port (TCP, UDP)")).to_have_value(str(server.jt808_port))
    page.get_by_label("Number of the terminal").fill(TYPED)
    guest.assert_accessible()
    guest.assert_fits()
    click(page.get_by_role("button", name="Add it and wait"))

    expect(page.get_by_role("heading", name=f"Waiting for {TYPED}")).to_be_visible()
    said = page.get_by_role("region", name="Wait for it").get_by_role("status")
    expect(said).to_contain_text("Nothing heard yet")
    send_until_said(lambda: knock(connected, server, SENT), said, f"Heard under another number: {SENT}")
    expect(said).to_contain_text("JT/T 808, from 127.0.0.1")
    guest.assert_accessible()
    guest.assert_fits()
    click(said.get_by_role("button", name="Take it"))
    expect(page.get_by_role("heading", name=f"Waiting for {SENT}")).to_be_visible()

    with connected(server, SENT) as peer:
        expect(said).to_contain_text("It has logged in, and sent no position yet")
        peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now(), valid=False)))
        expect(said).to_contain_text("It reports, without a place")
        peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now())))
        expect(said).to_contain_text("It reports")
        expect(page.get_by_role("region", name="Map")).to_be_visible()
        expect(page.get_by_role("article", name=re.compile("camera 1", re.IGNORECASE))).to_be_visible()
        click(page.get_by_role("link", name="Open the vehicle"))
        expect(page.get_by_role("complementary", name="Vehicle")).to_contain_text(SENT)
    # Job 10: five clicks, one of them for the number.
    assert click.count == 5
