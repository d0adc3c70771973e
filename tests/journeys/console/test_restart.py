"""Journey 20: the server is restarted, or the computer sleeps (docs/console.md#start-loss-and-end)."""

import re

import pytest
from playwright.sync_api import expect
from tests.journeys.console.filming import picture_numbers, tile_of

PHONE = "013900002001"
# Sockets that bring nothing while `isAsleep`, as if packets were lost, and a clock that can be moved on.
SLEEP = """
(() => {
  const muted = (handler) => (event) => window.isAsleep || handler(event);
  window.opened = [];
  window.WebSocket = class extends WebSocket {
    constructor(...parts) { super(...parts); window.opened.push(this); }
    set onmessage(handler) { super.onmessage = muted(handler); }
    set onclose(handler) { super.onclose = muted(handler); }
  };
  const { now } = Date;
  let slept = 0;
  Date.now = () => now() + slept;
  window.wake = (milliseconds) => { window.isAsleep = false; slept += milliseconds; };
})();
"""
ONE_OPEN = """
() => {
  const [newest, ...older] = window.opened.map((each) => each.readyState).reverse();
  return newest === WebSocket.OPEN && older.length > 0 && older.every((each) => each === WebSocket.CLOSED);
}
"""
FIVE_MINUTES = 300_000
WITHOUT_LINE = "Nothing can be changed until it is back."


def events_taken(page):
    """Take what the browser has said meanwhile, which Playwright does only when it is asked something."""
    return page.evaluate("() => true")


def test_a_page_outlives_a_restart_of_the_server_and_sends_nothing_meanwhile(
    start_server, visitor, connected, eventually
):
    with start_server() as server:
        with connected(server, PHONE), server.client() as client:
            (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        guest = visitor(server, webgl=False)
        page = guest.page
        sockets, changes = [], []
        page.on("websocket", lambda opened: sockets.append(opened))  # noqa: PLW0108
        page.on("request", lambda request: request.method != "GET" and changes.append(request.url))
        guest.log_in(f"/vehicles/{device['id']}/settings")
        name = page.get_by_label("Name", exact=True)
        expect(name).not_to_have_value("")
        name.fill("Night van")
        changes.clear()

        guest.server_restarts = True
        server.stop()
        bar = page.get_by_role("status").filter(has_text=WITHOUT_LINE)
        expect(bar).to_be_visible()
        save = page.get_by_role("button", name="Save", exact=True)
        save.click()
        expect(page.get_by_text("The server does not answer.")).to_be_visible()
        page.get_by_role("button", name="Delete the vehicle").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("Nothing was sent; try again when it is back.")).to_be_visible()
        assert changes == []
        guest.assert_accessible()

        # The next server has another build of the page.
        def other_build(route):
            answer = route.fetch()
            route.fulfill(
                response=answer, body=re.sub(r"assets/index-[^\"]+\.js", "assets/other.js", answer.text())
            )

        page.route(f"{server.url}/fleet", other_build)
        server.restart()
        with server.client() as client:
            record = client.get(f"/devices/{device['id']}").json() | {"phone": "+351 910 000 001"}
            assert client.put(f"/devices/{device['id']}", json=record).status_code == 200
        # A network that is back is not waited for.
        page.evaluate("() => window.dispatchEvent(new Event('online'))")
        expect(bar).to_have_count(0)
        expect(page.get_by_text("There is a new version of this page.")).to_be_visible()
        expect(name).to_have_value("Night van")
        save.click()
        page.get_by_role("button", name="Save mine on top").click()
        expect(page.get_by_role("heading", name="Night van")).to_be_visible()
        assert len([url for url in changes if "/api/devices/" in url]) == 1
        eventually(lambda: events_taken(page) and [each.is_closed() for each in sockets].count(False) == 1)

        # Another session of the same server has what was saved, and what others changed meanwhile stayed.
        with server.client() as client:
            saved = client.get(f"/devices/{device['id']}").json()
        assert (saved["name"], saved["phone"]) == ("Night van", "+351 910 000 001")
        page.unroute(f"{server.url}/fleet")
        page.get_by_role("button", name="Reload").click()
        expect(page.get_by_label("Name", exact=True)).to_have_value("Night van")
        expect(page.get_by_text("There is a new version of this page.")).to_have_count(0)


@pytest.fixture
def server(start_server):
    """Segments are short."""
    with start_server({"MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1"}) as running:
        yield running


def test_a_page_goes_on_after_five_minutes_asleep(server, visitor, vehicle, eventually):
    van = vehicle("013900002002", 1)
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.context.add_init_script(SLEEP)
    asked = []
    guest.log_in(f"{van.path}?channel=1")

    def picture():
        return next(iter(picture_numbers(page)), None)

    eventually(lambda: picture() is not None)
    page.evaluate("() => { window.isSame = true; window.isAsleep = true; }")
    with server.client() as client:
        record = client.get(f"/devices/{van.id}").json() | {"name": "Night van"}
        assert client.put(f"/devices/{van.id}", json=record).status_code == 200
    page.on("request", lambda request: asked.append(request.url))

    page.evaluate("(milliseconds) => window.wake(milliseconds)", FIVE_MINUTES)
    # What the lost socket would have said is read again, and the picture comes by a new player.
    expect(page.get_by_role("heading", name="Night van")).to_be_visible()
    page.wait_for_function(ONE_OPEN, timeout=120_000)
    eventually(lambda: events_taken(page) and len([url for url in asked if url.endswith("live.m3u8")]) >= 2)
    expect(tile_of(page, van, 1).get_by_role("status")).to_have_count(0)
    first = eventually(picture)
    eventually(lambda: (seen := picture()) is not None and seen > first)
    assert page.evaluate("() => window.isSame")
