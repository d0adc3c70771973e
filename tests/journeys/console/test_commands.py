"""Journey 10: a command that is asked about, sent and answered (docs/console.md#commands)."""

import re

import pytest
from playwright.sync_api import expect

from motorpool.bench.vehicles.jt808.platform_messages import TerminalControl
from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
PHONE = "013900000401"
STOP = 0x64
"""Oil and power off (docs/protocols/jt808.md#commands)."""


@pytest.fixture
def van(server, connected):
    """A terminal on the line."""
    with connected(server, PHONE) as peer, server.client() as client:
        (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        device["name"] = "Van 401"
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        yield peer


def report(peer, kmh):
    peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now(), speed_kmh=kmh)))


def choose(page, name):
    # By its beginning: a saved command has the name of its type behind its own.
    page.get_by_role("option", name=re.compile(f"^{name}")).click()


def test_an_engine_is_stopped_after_a_question(server, visitor, van):
    report(van, 60)
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet")
    # Job 7: four clicks, the answer to the question among them.
    page.get_by_role("link", name=re.compile("^Van 401")).click()
    page.get_by_role("complementary", name="Vehicle").get_by_role("link", name="Commands").click()
    choose(page, "Stop the engine")
    question = page.get_by_role("dialog", name="Stop the engine?")
    expect(question).to_contain_text("Van 401 is driving at 60 km/h.")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    guest.assert_accessible()
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    expect(page.get_by_text("What you send appears here")).to_be_visible()

    report(van, 0)
    page.get_by_role("main").get_by_role("link", name="Overview").click()
    expect(page.get_by_role("complementary", name="Vehicle")).not_to_contain_text("km/h")
    # By keys: c, the type, Enter, Enter.
    page.keyboard.press("c")
    expect(page.get_by_label("What should the vehicle do?")).to_be_focused()
    page.keyboard.type("stop the eng")
    page.keyboard.press("Enter")
    expect(question).to_contain_text("Van 401 stands")
    send = question.get_by_role("button", name="Stop the engine")
    expect(send).to_be_focused()
    # It drives off while the question is open.
    report(van, 30)
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    report(van, 0)
    expect(question).to_contain_text("Van 401 stands")
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    expect(page.get_by_label("What should the vehicle do?")).to_be_focused()
    page.keyboard.press("Enter")
    expect(send).to_be_focused()
    page.keyboard.press("Enter")
    asked = van.messages(lambda message: isinstance(message, TerminalControl))[-1]
    assert asked.command == STOP
    log = page.get_by_role("region", name="Sent commands").get_by_role("listitem")
    expect(page.get_by_role("region", name="Sent from here")).to_contain_text("Handed to the vehicle")
    expect(log).to_contain_text("Handed to the vehicle")
    van.send(van.terminal.general_response(asked))
    expect(page.get_by_text("The vehicle answers:")).to_be_visible()
    expect(log).to_contain_text("Done, says the vehicle")
    guest.assert_accessible()

    # The log over all vehicles tells it live, also on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="All commands of the vehicle").click()
    rows = page.get_by_role("list", name="Sent commands").get_by_role("listitem")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Van 401")
    with server.client() as client:
        (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        command = {"deviceId": device["id"], "type": "engineResume"}
        assert client.post("/commands/send", json=command).status_code == 200
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Handed to the vehicle")
    asked = van.messages(lambda message: isinstance(message, TerminalControl))[-1]
    van.send(van.terminal.general_response(asked, 1))
    expect(rows.first).to_contain_text("Not done, says the vehicle")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    guest.assert_accessible()
