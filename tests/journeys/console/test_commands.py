"""Journey 10: commands that are sent, kept and refused (docs/console.md#commands)."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from motorpool.codecs.devices.jt808.platform_messages import TerminalControl
from motorpool.codecs.devices.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
PHONE = "013900000401"
STOP = 0x64
"""Oil and power off (docs/protocols/jt808.md#commands)."""
QUERY_POSITION = 0x8201


class Gateway(ThreadingHTTPServer):
    """Takes text messages over HTTP, and keeps their bodies."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Gateway.Request)
        self.taken = []

    class Request(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.taken.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass


@pytest.fixture(scope="module")
def gateway():
    with Gateway() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(scope="module")
def server(start_server, gateway):
    """A server that sends text messages by the gateway."""
    with start_server({"MOTORPOOL_SMS_URL": f"http://127.0.0.1:{gateway.server_port}/"}) as running:
        yield running


@pytest.fixture
def van(server, connected):
    """A terminal on the line, and its device."""
    with connected(server, PHONE) as peer, server.client() as client:
        (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        device |= {"name": "Van 401", "phone": "+351900000401"}
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        yield peer, device


def report(peer, kmh):
    peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now(), speed_kmh=kmh)))


def choose(page, name):
    # By its beginning: a saved command has the name of its type behind its own.
    page.get_by_role("option", name=re.compile(f"^{name}")).click()


def test_an_engine_is_stopped_after_a_question(server, visitor, van):
    peer, _ = van
    report(peer, 60)
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet")
    # Job 7: four clicks, the answer to the question among them.
    page.get_by_role("link", name=re.compile("Van 401")).click()
    page.get_by_role("complementary", name="Vehicle").get_by_role("link", name="Commands").click()
    choose(page, "Stop the engine")
    question = page.get_by_role("dialog", name="Stop the engine?")
    expect(question).to_contain_text("Van 401 is driving at 60 km/h.")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    guest.assert_accessible()
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    expect(page.get_by_text("What you send appears here")).to_be_visible()

    report(peer, 0)
    page.get_by_role("link", name="Overview").click()
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
    report(peer, 30)
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    report(peer, 0)
    expect(question).to_contain_text("Van 401 stands")
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    expect(page.get_by_label("What should the vehicle do?")).to_be_focused()
    page.keyboard.press("Enter")
    expect(send).to_be_focused()
    page.keyboard.press("Enter")
    asked = peer.messages(lambda message: isinstance(message, TerminalControl))[-1]
    assert asked.command == STOP
    expect(page.get_by_text("Handed to the vehicle")).to_be_visible()
    peer.send(peer.terminal.general_response(asked))
    expect(page.get_by_text("The vehicle answers:")).to_be_visible()
    guest.assert_accessible()


def test_commands_are_kept_cancelled_and_refused_in_words(server, visitor, van, connected, gateway):
    peer, device = van
    report(peer, 0)
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{device['id']}/commands")
    choose(page, "Set the speed limit")
    limit = page.get_by_label("Speed limit, km/h")
    expect(limit).to_be_focused()
    limit.fill("300")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This number is not possible here.")
    page.keyboard.press("Escape")
    guest.expected.add((400, "/api/commands/send"))
    choose(page, "Own text")
    page.get_by_label("Text of the command").fill("engine off")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Refused: Data must be hex digits")).to_be_visible()
    choose(page, "Own text")
    page.get_by_label("Text of the command").fill("engine off")
    page.get_by_label("Send as a text message to +351900000401").check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Handed to the gateway of text messages")).to_be_visible()
    assert gateway.taken == ['{"to": "+351900000401", "text": "engine off"}']

    peer.close()
    queue = page.get_by_role("region", name="Kept until the vehicle comes")
    expect(page.get_by_text("Offline", exact=True)).to_be_visible()
    choose(page, "Report the position now")
    expect(queue).to_contain_text("by you")
    queue.get_by_role("button", name="Cancel Report the position now").click()
    expect(queue).to_contain_text("Nothing is kept for this vehicle.")
    expect(page.get_by_text("Cancelled", exact=True)).to_be_visible()
    choose(page, "Report the position now")
    expect(queue.get_by_role("listitem")).to_have_count(1)
    guest.assert_accessible()
    guest.assert_fits()

    with connected(server, PHONE, sign_in=False) as back:
        # What is kept comes with the response to the login, which is therefore not waited for.
        back.send(back.terminal.register() + back.terminal.authenticate())
        asked = back.messages(lambda message: message.message_id == QUERY_POSITION)[-1]
        expect(queue).to_contain_text("Nothing is kept for this vehicle.")
        place = encode_location(52.6, 13.5, CLOCK.now())
        back.send(back.terminal.position_response(asked, place))
        expect(page.get_by_text("The vehicle answers:")).to_be_visible()


def test_who_may_send_saved_commands_only_sees_no_others(server, visitor, van):
    _, device = van
    with server.client() as client:
        saved = client.post(
            "/commands", json={"type": "positionSingle", "description": "Where are you"}
        ).json()
        clerk = {
            "name": "Clerk",
            "email": "clerk@example.org",
            "password": "parking garage 7",
            "limitCommands": True,
        }
        clerk["id"] = client.post("/users", json=clerk).json()["id"]
        for link in (
            {"userId": clerk["id"], "deviceId": device["id"]},
            {"userId": clerk["id"], "commandId": saved["id"]},
            {"deviceId": device["id"], "commandId": saved["id"]},
        ):
            assert client.post("/permissions", json=link).status_code == 204
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{device['id']}/commands", clerk["email"], clerk["password"])
    expect(page.get_by_text("You may send saved commands only.")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(1)
    choose(page, "Where are you")
    expect(page.get_by_text("Handed to the vehicle")).to_be_visible()
