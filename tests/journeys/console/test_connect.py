"""Journey 15 and job 10: a tracker is connected (docs/console.md#connect-a-tracker)."""

import contextlib
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from motorpool.codecs.devices.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
TYPED = "013900000770"
SENT = "013900000777"
PASSWORD = "parking garage 7"


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


def knock(connected, server, phone, damage: Callable[[bytes], bytes] = bytes):
    """A terminal that is not let in: it registers, and is gone when it was answered."""
    with connected(server, phone, sign_in=False) as peer:
        peer.send(damage(peer.terminal.register()) + peer.terminal.register())
        peer.messages(lambda message: True)


def send_until_said(send, said, text):
    """Send as a tracker does, again and again: the page may begin to listen after the first time."""
    for _ in range(20):
        send()
        with contextlib.suppress(AssertionError):
            expect(said).to_contain_text(text, timeout=3000)
            return
    expect(said).to_contain_text(text)


def damaged(frame):
    """The frame with a wrong check byte."""
    return frame[:-2] + bytes([frame[-2] ^ 1]) + frame[-1:]


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


def test_what_is_wrong_is_said(server, visitor, connected):
    with server.client() as client:
        made = client.post("/devices", json={"name": "Van 5", "uniqueId": "13900000555"}).json()
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/connect?protocol=gt06&deviceId={made['id']}")
    said = page.get_by_role("region", name="Wait for it").get_by_role("status")
    expect(said).to_contain_text("Nothing heard yet")
    with connected(server, "013900000555", sign_in=False) as peer:
        send_until_said(
            lambda: peer.send(damaged(peer.terminal.register())),
            said,
            "Its messages are dropped: wrong check value",
        )
    knock(connected, server, "018800000001")
    others = page.get_by_role("region", name="Heard, and of no vehicle")
    expect(others).to_contain_text("018800000001")
    guest.assert_accessible()

    with server.client() as client:
        assert client.put(f"/devices/{made['id']}", json={**made, "disabled": True}).status_code == 200
    expect(said).to_contain_text("This vehicle must not report")


def test_who_sees_no_traffic_is_told_what_to_check(server, visitor, connected):
    with server.client() as client:
        fitter = {"name": "Fitter", "email": "fitter@example.org", "password": PASSWORD, "deviceLimit": 5}
        assert client.post("/users", json=fitter).status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet", fitter["email"], PASSWORD)
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    page.get_by_role("status").get_by_role("link", name="Connect a tracker").click()
    page.get_by_label("Make, model or protocol").fill("13900000666")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Number of the tracker")).to_have_value("13900000666")
    page.get_by_label("Name").fill("Van 6")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="If it stays silent")).to_contain_text("send 13900000666")
    expect(page.get_by_role("button", name="Copy a link for the administrator")).to_be_visible()
    guest.assert_accessible()
    with connected(server, "13900000666") as peer:
        peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now())))
        expect(page.get_by_role("heading", name="Van 6")).to_be_visible()
    # It can be found again by its number.
    page.get_by_role("link", name="Connect another one").click()
    page.get_by_label("Make, model or protocol").fill("13900000666")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="You have it already: wait for Van 6")).to_be_visible()


def test_who_may_not_add_vehicles_is_not_offered_it(server, visitor):
    with server.client() as client:
        clerk = {"name": "Clerk", "email": "clerk@example.org", "password": PASSWORD, "deviceLimit": 0}
        assert client.post("/users", json=clerk).status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet", clerk["email"], PASSWORD)
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    expect(page.get_by_role("link", name="Connect a tracker")).to_have_count(0)
    guest.open("/connect")
    expect(page.get_by_text("You may not add vehicles.")).to_be_visible()
