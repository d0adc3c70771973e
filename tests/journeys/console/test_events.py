"""Journey 8: from an alarm to its review, and to a ticket with proof (docs/console.md#events)."""

import contextlib
import hashlib
import re
import threading
import time
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from tests.journeys.test_captures import footage, play_back
from tests.journeys.test_ticket_of_an_alarm import SOS, photo

from motorpool.bench.vehicles.jt808.terminal import encode_location

# Pixels from the middle of the map to the vehicle on it.
FROM_MIDDLE = """
() => {
  const [map, vehicle] = [".proof-map .map-canvas", ".route-marker"]
    .map((each) => document.querySelector(each).getBoundingClientRect())
    .map(({ left, top, width, height }) => ({ x: left + width / 2, y: top + height / 2 }));
  return Math.hypot(vehicle.x - map.x, vehicle.y - map.y);
}
"""


@pytest.fixture(scope="module")
def server(start_server):
    settings = {"MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1", "MOTORPOOL_VIDEO_PLAYBACK_RETURN_SECONDS": "0"}
    with start_server(settings) as running, running.client() as client:
        company = client.post("/companies", json={"name": "North"}).json()
        assert client.post("/tickets/defaults", json={"companyId": company["id"]}).status_code == 200
        yield running


def present():
    """The time of the server's process, in whole seconds."""
    return datetime.fromtimestamp(int(time.time()), UTC)  # noqa: TID251


@pytest.fixture
def van(server, connected):
    """`peer, device_id = van("801")`: a signed-in terminal with one camera, which no other test uses."""

    @contextlib.contextmanager
    def come(number):
        phone = f"013900000{number}"
        with connected(server, phone) as peer:
            with server.client() as client:
                (device,) = client.get("/devices", params={"uniqueId": phone.lstrip("0")}).json()
                device |= {"name": f"Van {number}", "attributes": {"channels": 1}}
                assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
            yield peer, device["id"]

    with contextlib.ExitStack() as stack:
        yield lambda number: stack.enter_context(come(number))


def test_an_alarm_is_proved_and_answered_with_a_ticket_that_has_the_film(server, visitor, van, eventually):
    peer, _ = van("801")
    # Its recording is complete by now.
    pressed = present() - timedelta(seconds=60)
    guest = visitor(server)
    page = guest.page
    page.clock.install()
    with page.expect_websocket() as opened:
        guest.log_in("/events")
    # From its first message on the socket has what arrives.
    opened.value.wait_for_event("framereceived")
    page.get_by_role("button", name="Notices").click()
    page.get_by_role("button", name="Send me all alarms of my vehicles").click()
    expect(page.get_by_text("Alarms of your vehicles are sent to this page.")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Fleet", exact=True).click()
    expect(page.get_by_role("link", name=re.compile("^Van 801"))).to_be_visible()

    peer.send(peer.terminal.location(encode_location(41.15, -8.61, pressed - timedelta(seconds=10))))
    peer.send(peer.terminal.photo(1, photo(), encode_location(41.15, -8.61, pressed - timedelta(seconds=5))))
    peer.send(peer.terminal.location(encode_location(41.151, -8.61, pressed, speed_kmh=36, alarm=SOS)))
    peer.send(peer.terminal.location(encode_location(41.152, -8.61, pressed + timedelta(seconds=10))))

    # One click from the notice to the proof, or one key.
    notice = page.get_by_role("alert").filter(has_text="Alarm: emergency button: Van 801")
    notice.get_by_role("button", name="Show").click()
    heading = page.get_by_role("heading", name="Alarm: emergency button")
    expect(heading).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Events", exact=True)).to_be_visible()
    page.keyboard.press("n")
    expect(heading).to_be_visible()
    values = page.get_by_role("region", name="Values before, then and after")
    expect(values.get_by_role("row", name="Speed 0 km/h 36 km/h 0 km/h")).to_be_visible()
    expect(page.get_by_role("region", name="Where it happened")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Picture of "))).to_be_visible()

    terminal = threading.Thread(target=play_back, args=(peer, footage(3)))
    terminal.start()
    page.get_by_role("button", name="Fetch video of camera 1").click()
    films = page.get_by_role("region", name="Pictures and films")
    terminal.join()

    def listed():
        # What the page asks for again after some seconds.
        page.clock.fast_forward(2000)
        return films.get_by_role("link", name="Download").count() == 2

    eventually(listed)

    page.keyboard.press("t")
    evidence = page.get_by_role("list", name=re.compile(r"^Evidence of ticket #\d+$"))
    expect(evidence.get_by_role("listitem")).to_have_count(3)
    said = evidence.inner_text()
    with server.client() as client:
        (ticket,) = client.get("/tickets", params={"keyword": "emergency button"}).json()
        assert page.url.endswith(f"/events/{ticket['eventId']}")
        assert ticket["subject"] == "Alarm: emergency button: Van 801"
        assert page.get_by_role("list", name=f"Evidence of ticket #{ticket['number']}").is_visible()
        entries = client.get(f"/tickets/{ticket['id']}/events", params={"type": "evidence"}).json()
        files = [entry["attributes"] for entry in entries if "sha256" in entry["attributes"]]
        assert len(files) == 2
        for file in files:
            content = client.get(file["url"].removeprefix("/api")).content
            digest = hashlib.sha256(content).hexdigest()
            assert (len(content), digest) == (file["size"], file["sha256"])
            assert digest in said
        other = {"companyId": ticket["companyId"], "deviceId": ticket["deviceId"], "subject": "Damage"}
        other = client.post("/tickets", json=other).json()
        page.get_by_role("button", name="Attach to ticket").click()
        page.get_by_role("dialog").get_by_role("button", name=f"#{other['number']} Damage").click()
        expect(page.get_by_text(f"Evidence added to ticket #{other['number']}")).to_be_visible()
        added = client.get(f"/tickets/{other['id']}/events", params={"type": "evidence"}).json()
        assert len(added) == 3
    # The answer is there; a second one is not offered.
    expect(page.get_by_role("button", name="Make a ticket")).to_have_count(0)

    # All of it is saved at once, and stands in the library.
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download all (ZIP)").click()
    assert re.fullmatch(r"evidence_Van-801_[-\d]+_[.\d]+\.zip", saved.value.suggested_filename)
    with zipfile.ZipFile(saved.value.path()) as archive:
        sums = [line.split() for line in archive.read("SHA256SUMS").decode().splitlines()]
        assert sorted(name for _, name in sums) == sorted({*archive.namelist()} - {"SHA256SUMS"})
        assert all(hashlib.sha256(archive.read(name)).hexdigest() == digest for digest, name in sums)
        assert {file["sha256"] for file in files} <= {digest for digest, _ in sums}
    guest.assert_fits()
    guest.assert_accessible()

    # The player begins at the event, which is in the middle of the map: within 20 m at 3.6 m a pixel.
    films.get_by_role("button", name="Play what the vehicle has").click()
    expect(page.get_by_role("img", name="The vehicle at this time")).to_be_visible()
    eventually(lambda: page.evaluate(FROM_MIDDLE) <= 5)

    page.get_by_role("link", name="Library").click()
    tile = page.get_by_role("button", name=re.compile("Van 801 ?Photo"))
    expect(tile).to_have_count(1)
    tile.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="Photo")).to_be_visible()
    dialog.get_by_role("button", name="Keep", exact=True).click()
    expect(dialog.get_by_role("button", name="Kept: release it")).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    guest.assert_accessible()


def test_an_alarm_is_answered_by_one_person_and_gone_for_the_other(server, visitor, van):
    """By keyboard, mouse and touch; neither page is loaded anew."""
    peer, van_id = van("802")
    with server.client() as client:
        ben = {"name": "Ben", "email": "ben@example.org", "password": "correct horse"}
        ben |= client.post("/users", json=ben).json() | {"password": ben["password"]}
        link = {"userId": ben["id"], "deviceId": van_id}
        assert client.post("/permissions", json=link).status_code == 204
    desk = visitor(server, webgl=False)
    desk.log_in("/events")
    expect(desk.page.get_by_role("heading", name="Events", exact=True)).to_be_visible()
    phone = visitor(
        server, webgl=False, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    phone.log_in("/fleet", email=ben["email"], password=ben["password"])
    pages = (desk.page, phone.page)
    carries = phone.page.get_by_role("link", name=re.compile("Van 802.*emergency button"))
    expect(phone.page.get_by_role("link", name=re.compile("Van 802"))).to_be_visible()
    for page in pages:
        page.evaluate("window.stays = true")

    pressed = present() - timedelta(seconds=20)
    peer.send(peer.terminal.location(encode_location(41.15, -8.61, pressed - timedelta(seconds=10))))
    peer.send(peer.terminal.photo(1, photo(), encode_location(41.15, -8.61, pressed - timedelta(seconds=5))))
    peer.send(peer.terminal.location(encode_location(41.151, -8.61, pressed, speed_kmh=36, alarm=SOS)))
    row = desk.page.get_by_role("listitem").filter(has_text="Van 802")
    expect(row).to_contain_text("Critical")
    expect(row).to_contain_text("emergency button")
    expect(row.get_by_role("img", name=re.compile("^Picture"))).to_be_visible()
    expect(carries).to_be_visible()
    desk.assert_fits()
    desk.assert_accessible()

    # Keyboard: its place and picture are one key away, and the answer another one.
    desk.page.keyboard.press("n")
    expect(desk.page.get_by_role("heading", name="Alarm: emergency button")).to_be_visible()
    expect(desk.page.get_by_role("img", name=re.compile("^Picture of "))).to_be_visible()
    desk.page.keyboard.press("e")
    expect(desk.page.get_by_text("1 event acknowledged")).to_be_visible()
    expect(carries).to_have_count(0)

    # Mouse: it is undone, for the other as well.
    desk.page.get_by_role("button", name="Undo").click()
    expect(carries).to_be_visible()

    # Touch: the other answers it, and it is gone here.
    desk.page.keyboard.press("Escape")
    expect(row).to_be_visible()
    phone.page.get_by_role("navigation", name="Places").get_by_role("link", name=re.compile("^Events")).tap()
    phone.page.get_by_role("checkbox", name=re.compile("^Select: ")).tap()
    phone.page.get_by_role("button", name="Acknowledge", exact=True).tap()
    expect(phone.page.get_by_text("Nothing waits for review")).to_be_visible()
    expect(row).to_have_count(0)
    phone.assert_fits()
    phone.assert_accessible()

    # The full log is one filter away, and says who did it.
    desk.page.get_by_role("button", name="Acknowledged").click()
    expect(row).to_contain_text("Acknowledged · Ben")
    assert [page.evaluate("window.stays") for page in pages] == [True, True]
    with server.client() as client:
        span = {"from": pressed.isoformat(), "to": (pressed + timedelta(days=1)).isoformat()}
        audit = client.get("/audit", params=span).json()
        done = [each["attributes"]["state"]["after"] for each in audit if each["actionType"] == "review"]
        assert sorted(done) == ["ACKNOWLEDGED", "ACKNOWLEDGED", "OPEN"]
