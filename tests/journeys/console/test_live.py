"""Live video in the console: pictures, and what is said without one (docs/console.md#live)."""

import contextlib
import re
import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from PIL import Image
from playwright.sync_api import expect

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.devices.jt808.platform_messages import LiveVideoRequest
from motorpool.codecs.media.jt1078.sender import Jt1078Sender

FPS = 10
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
FORMAT = VideoFormat(width=320, height=180, frames_per_second=FPS, kbps=200)
DRIVE = Drive(ROUND_TRIPS[0], seed=1)
# The line of greys in which the picture's number is drawn, of each video that plays.
ROWS = """
() => [...document.querySelectorAll("video")].map((video) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  if (!canvas.width) return null;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const row = context.getImageData(0, Math.round(canvas.height * 0.95), canvas.width, 1).data;
  return Array.from({ length: canvas.width }, (_, x) => row[4 * x]);
})
"""


@pytest.fixture(scope="module")
def server(start_server):
    """The first reader of a playlist waits for two seconds instead of ten."""
    with start_server({"MOTORPOOL_VIDEO_START_SECONDS": "2"}) as running:
        yield running


class Vehicle:
    """A terminal that films with each camera that it is asked for and that works."""

    def __init__(self, server, peer, working):
        self.peer = peer
        self.working = set(working)
        self.asked = []
        """Cameras, in the order of the requests."""
        self._ended = threading.Event()
        with server.client() as client:
            number = peer.terminal.identity.number.lstrip("0")
            (self.device,) = client.get("/devices", params={"uniqueId": number}).json()
            self.device["name"] = f"Van {number[-3:]}"
            self.device["attributes"]["channels"] = 2
            assert client.put(f"/devices/{self.device['id']}", json=self.device).status_code == 200
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    @property
    def name(self):
        return self.device["name"]

    @property
    def path(self):
        return f"/vehicles/{self.device['id']}/live"

    def end(self):
        self._ended.set()
        # Closed by one thread, a socket does not wake another one that reads.
        with contextlib.suppress(OSError):
            self.peer.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)

    def _serve(self):
        # The socket ends with the test.
        with contextlib.suppress(OSError, AssertionError):
            while True:
                asked = self.peer.messages(
                    lambda message: isinstance(message, LiveVideoRequest), seconds=120
                )[-1]
                self.peer.send(self.peer.terminal.general_response(asked))
                self.asked.append(asked.channel)
                if asked.channel in self.working:
                    self._threads.append(threading.Thread(target=self._film, args=(asked,), daemon=True))
                    self._threads[-1].start()

    def _film(self, asked):
        camera = Camera(self.name, asked.channel, FORMAT)
        sender = Jt1078Sender(self.peer.terminal.identity.number, 6)
        began, first = time.monotonic(), START
        # The server closes the connection when nobody watches.
        with (
            contextlib.suppress(OSError),
            socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media,
        ):
            while not self._ended.is_set():
                at = camera.frames / FPS
                self._ended.wait(max(0.0, began + at - time.monotonic()))
                media.sendall(
                    b"".join(
                        map(sender.encode, camera.encode_frame(DRIVE.at(at), first + timedelta(seconds=at)))
                    )
                )


@pytest.fixture
def vehicle(server, connected):
    """`vehicle(phone, cameras)`: a signed-in terminal of which these cameras work."""
    with contextlib.ExitStack() as stack:

        def come(phone, *working):
            made = Vehicle(server, stack.enter_context(connected(server, phone)), working)
            stack.callback(made.end)
            return made

        yield come


def numbers(page):
    """The number in the picture of each video; None where there is none yet."""
    rows = page.evaluate(ROWS)
    return [
        row and read_number(Image.frombytes("L", (len(row), 1), bytes(row)).resize((640, 360)))
        for row in rows
    ]


def tile(page, vehicle, camera):
    return page.get_by_role("article", name=f"{vehicle.name}, camera {camera}")


def test_live_video_in_two_clicks_with_sound_from_one(server, visitor, vehicle, eventually):
    van = vehicle("013900000301", 1, 2)
    guest = visitor(server)
    page = guest.page
    guest.log_in("/fleet")
    page.get_by_role("link", name=re.compile(van.name)).click()
    page.get_by_role("complementary", name="Vehicle").get_by_role("link", name="Live").click()

    def both_play():
        seen = numbers(page)
        return seen if len(seen) == 2 and None not in seen else None

    first = eventually(both_play)
    eventually(lambda: all(now >= then + 3 * FPS for now, then in zip(numbers(page), first, strict=True)))
    expect(page.get_by_role("article").get_by_role("status")).to_have_count(0)
    assert sorted(van.asked) == [1, 2]
    guest.assert_accessible()

    muted = "() => [...document.querySelectorAll('video')].map((video) => video.muted)"
    assert page.evaluate(muted) == [True, True]
    tile(page, van, 2).get_by_role("button", name="Sound on").click()
    eventually(lambda: page.evaluate(muted) == [True, False])
    tile(page, van, 1).get_by_role("button", name="Sound on").click()
    eventually(lambda: page.evaluate(muted) == [False, True])
    # What is seen has an address, and one camera is one key away.
    page.keyboard.press("2")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page).to_have_url(re.compile("channel=2"))
    with page.expect_download() as download:
        tile(page, van, 2).get_by_role("button", name="Save a still").click()
    with Image.open(download.value.path()) as still:
        assert still.size == (320, 180)

    # Nothing is read any more once the place is left.
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_timeout(1500)
    assert [url for url in requests if "/stream/" in url] == []


def test_each_tile_says_what_it_waits_for_and_goes_on_by_itself(server, visitor, vehicle, connected):
    van = vehicle("013900000302", 1)
    guest = visitor(server)
    page = guest.page
    guest.log_in(van.path)
    expect(tile(page, van, 2)).to_contain_text("The vehicle sends no picture from camera 2. Asked again in")
    van.working.add(2)
    expect(tile(page, van, 2).get_by_role("status")).to_have_count(0)
    expect(tile(page, van, 1).get_by_role("status")).to_have_count(0)

    van.end()
    expect(tile(page, van, 1)).to_contain_text("Offline since")
    guest.open(van.path)
    expect(tile(page, van, 1)).to_contain_text("Starts by itself when it is back.")
    guest.assert_accessible()
    back = vehicle("013900000302", 1, 2)
    expect(tile(page, back, 1).get_by_role("status")).to_have_count(0)
    expect(tile(page, back, 2).get_by_role("status")).to_have_count(0)


def test_a_wall_is_put_together_and_saved(server, visitor, vehicle, eventually):
    one, other = vehicle("013900000303", 1, 2), vehicle("013900000304", 1, 2)
    guest = visitor(server)
    page = guest.page
    guest.log_in("/live")
    for van in (one, other):
        page.get_by_label("Add a vehicle").fill(van.name)
        page.get_by_role("option", name=re.compile(van.name)).click()
        expect(tile(page, van, 2)).to_be_visible()
    eventually(lambda: len(found := numbers(page)) == 4 and None not in found)
    guest.assert_accessible()
    guest.assert_fits()
    address = page.url
    page.get_by_role("button", name="Save this wall").click()
    page.get_by_label("Name of the wall").fill("Depot")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Empty the wall").click()
    expect(page.get_by_text("No cameras on the wall yet")).to_be_visible()
    page.get_by_label("Saved walls").select_option("Depot")
    expect(tile(page, other, 2)).to_be_visible()
    expect(page).to_have_url(address)

    guest.open("/live?tile=999999.1")
    guest.expected.add((404, "/api/stream/999999/1/live.m3u8"))
    expect(page.get_by_role("article")).to_contain_text("Not yours, or no such camera.")
