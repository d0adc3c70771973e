"""Live video in the console: pictures, and what is said without one (docs/console.md#live)."""

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.journeys.console.filming import FPS, picture_numbers, tile_of

from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

EMPTY_MS = 8000
"""How often a vehicle is asked again for a picture (src/video/states.ts)."""
SILENT_OFFLINE_MS = 5000
"""After such a silence the stream of a vehicle that is offline has ended (src/video/player.ts)."""
PICTURE_ON_CLIPBOARD = """async () => {
    const [item] = await navigator.clipboard.read();
    const [type] = item.types;
    const { width, height } = await createImageBitmap(await item.getType(type));
    return [type, width, height];
}"""


@pytest.fixture(scope="module")
def server(start_server):
    """The first reader of a playlist waits for two seconds instead of ten, and segments are short."""
    settings = {"MOTORPOOL_VIDEO_START_SECONDS": "2", "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1"}
    with start_server(settings) as running:
        yield running


def test_live_video_in_two_clicks_with_sound_from_one(server, visitor, vehicle, eventually):
    van = vehicle("013900000301", 1, 2)
    with server.client() as client:
        company = client.post("/companies", json={"name": "North"}).json()["id"]
        assert client.post("/tickets/defaults", json={"companyId": company}).status_code == 200
        asked = {"companyId": company, "deviceId": van.id, "subject": "Look at camera 2"}
        ticket = client.post("/tickets", json=asked).json()["id"]
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/")
    # By what can be read alone: the name of the vehicle, then a word of its panel that the rail has too.
    page.get_by_text(van.name, exact=True).first.click()
    expect(page.get_by_text("Live", exact=True)).to_have_count(2)
    page.get_by_text("Live", exact=True).last.click()

    def both_play():
        seen = picture_numbers(page)
        return seen if len(seen) == 2 and None not in seen else None

    first = eventually(both_play)
    eventually(
        lambda: all(now >= then + 3 * FPS for now, then in zip(picture_numbers(page), first, strict=True))
    )
    expect(page.get_by_role("article").get_by_role("status")).to_have_count(0)
    assert sorted(van.asked) == [1, 2]
    guest.assert_accessible()

    muted = "() => [...document.querySelectorAll('video')].map((video) => video.muted)"
    assert page.evaluate(muted) == [True, True]
    tile_of(page, van, 2).get_by_role("button", name="Sound on").click()
    eventually(lambda: page.evaluate(muted) == [True, False])
    tile_of(page, van, 1).get_by_role("button", name="Sound on").click()
    eventually(lambda: page.evaluate(muted) == [False, True])
    # What is seen has an address, and one camera is one key away.
    page.keyboard.press("2")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page).to_have_url(re.compile("channel=2"))
    with page.expect_download() as download:
        tile_of(page, van, 2).get_by_role("button", name="Save a still").click()
    with Image.open(download.value.path()) as still:
        assert still.size == (320, 180)
    # The same picture on the clipboard.
    guest.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate(PICTURE_ON_CLIPBOARD) == ["image/png", 320, 180]
    tile_of(page, van, 2).get_by_role("button", name="Save a still").click()
    # And for a ticket.
    page.get_by_role("button", name="Attach to ticket").click()
    page.get_by_role("dialog").get_by_role("button", name="Look at camera 2").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    with server.client() as client:
        entries = client.get(f"/tickets/{ticket}/events").json()
        (evidence,) = [each for each in entries if each["type"] == "evidence"]
        kept = client.get(evidence["attributes"]["url"].removeprefix("/api"))
    with Image.open(io.BytesIO(kept.content)) as still:
        assert (still.format, still.size) == ("JPEG", (320, 180))
    assert any("Still of camera 2" in str(each) for each in entries)

    # Nothing is read any more once the place is left.
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_timeout(1500)
    assert [url for url in requests if "/stream/" in url] == []


def test_a_vehicle_is_followed_beside_its_cameras_which_are_named_and_recorded(
    server, visitor, vehicle, eventually
):
    van = vehicle("013900000303", 1, 2)

    def drive_to(longitude):
        van.peer.send(van.peer.terminal.location(encode_location(52.5, longitude, SystemClock().now())))

    drive_to(13.3)
    guest, other = visitor(server), visitor(server, webgl=False)
    page = guest.page
    other.log_in(van.path)
    # Job 4: from the vehicle on the map one click or key leads to its cameras and the map beside them.
    guest.log_in(f"/vehicles/{van.id}")
    expect(page.get_by_role("heading", name=van.name)).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.press("v")
    beside = page.get_by_role("complementary", name="Where it is now")
    expect(beside.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "true")
    expect(beside).to_contain_text("Berlin")
    seen = beside.locator("time")
    first = seen.get_attribute("datetime")
    drive_to(13.301)
    expect(seen).not_to_have_attribute("datetime", first)
    expect(beside).to_contain_text(re.compile("just now|s ago"))
    page.keyboard.press("f")
    expect(beside.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "false")
    guest.assert_accessible()
    page.set_viewport_size({"width": 390, "height": 844})
    map_box, last = beside.bounding_box(), tile_of(page, van, 2).bounding_box()
    assert map_box["y"] >= last["y"] + last["height"]
    guest.assert_fits()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("button", name="Map", exact=True).click()
    expect(beside).to_have_count(0)

    # What one reader calls a camera, others see.
    tile = tile_of(page, van, 1)
    tile.hover()
    tile.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Rename the camera").click()
    page.get_by_label("Name of camera 1").fill("front")
    page.get_by_role("button", name="Save", exact=True).click()
    tile = page.get_by_role("article", name=f"{van.name}, front")
    expect(tile).to_be_visible()
    expect(other.page.get_by_role("article", name=f"{van.name}, front")).to_be_visible()

    # What is recorded from a tile is kept, and plays in the history.
    eventually(lambda: None not in picture_numbers(page))
    tile.get_by_role("button", name="Record now").click()
    expect(tile).to_contain_text("Recording")
    expect(tile).to_contain_text(re.compile(r"0:(0[3-9]|[1-5]\d)"))
    expect(tile.get_by_role("link", name="Kept in the library")).to_have_attribute(
        "href", f"/library?deviceId={van.id}"
    )
    tile.get_by_role("button", name="End").click()
    expect(page.get_by_text("is kept")).to_be_visible()
    expect(tile.get_by_role("button", name="Record now")).to_be_visible()
    page.keyboard.press("h")
    kept = page.get_by_role("region", name="Kept of this day").get_by_role("button")
    expect(kept).to_contain_text("front")
    kept.click()
    eventually(lambda: picture_numbers(page)[0] is not None)
    assert "/media/" in page.evaluate("() => document.querySelector('.film video').src")


def test_each_tile_says_what_it_waits_for_and_goes_on_by_itself(server, visitor, vehicle, connected):
    van = vehicle("013900000302", 1)
    guest = visitor(server, webgl=False)
    page = guest.page
    page.clock.install()
    guest.log_in(van.path)
    expect(tile_of(page, van, 2)).to_contain_text(
        "The vehicle sends no picture from camera 2. Asked again in"
    )
    van.working.add(2)
    page.clock.fast_forward(EMPTY_MS)
    expect(tile_of(page, van, 2).get_by_role("status")).to_have_count(0)
    expect(tile_of(page, van, 1).get_by_role("status")).to_have_count(0)

    van.end()
    expect(page.get_by_text("Offline", exact=True)).to_be_visible()
    page.clock.fast_forward(SILENT_OFFLINE_MS)
    expect(tile_of(page, van, 1)).to_contain_text("Offline since")
    guest.open(van.path)
    expect(tile_of(page, van, 1)).to_contain_text("Starts by itself when it is back.")
    guest.assert_accessible()
    back = vehicle("013900000302", 1, 2)
    expect(tile_of(page, back, 1).get_by_role("status")).to_have_count(0)
    expect(tile_of(page, back, 2).get_by_role("status")).to_have_count(0)


def test_of_a_camera_that_the_browser_cannot_play_a_minute_is_kept_as_a_file(
    server, visitor, vehicle, eventually
):
    van = vehicle("013900000305", 1, cameras=1)
    guest = visitor(server, webgl=False)
    # As a browser does that has no decoder for H.265.
    guest.context.add_init_script(
        """MediaSource.prototype.addSourceBuffer = () => {
          throw new DOMException("no such coding", "NotSupportedError");
        };"""
    )
    guest.log_in(van.path)
    tile = tile_of(guest.page, van, 1)
    expect(tile).to_contain_text("H.265: this browser cannot play it.")
    tile.get_by_role("button", name="Download a minute").click()
    expect(tile.get_by_role("button", name="Keeping a minute")).to_be_disabled()
    with server.client() as client:
        of_van = {"deviceId": van.id}
        eventually(lambda: client.get("/captures", params=of_van).json())
        (capture,) = client.get("/captures", params=of_van).json()
        assert (capture["live"], capture["channel"]) == (True, 1)
        eventually(lambda: client.get(f"/captures/{capture['id']}").json()["size"] > 0)
        # Not after a minute, to save time.
        assert client.delete(f"/captures/{capture['id']}").status_code == 200
    with guest.page.expect_download() as download:
        tile.get_by_role("link", name="Download").click()
    begun = capture["startedAt"][:19].replace("T", "_").replace(":", ".")
    assert download.value.suggested_filename == f"{van.name.replace(' ', '-')}_camera-1_{begun}.mp4"
    assert download.value.path().stat().st_size > 0
