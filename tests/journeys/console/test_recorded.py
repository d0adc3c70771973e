"""Recorded video in the console: asked for, played, sought, kept (docs/console.md#recorded-video)."""

import contextlib
import re
import socket
import threading
from datetime import datetime, timedelta
from types import SimpleNamespace

import av
import httpx
import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.journeys.console.filming import CameraVehicle

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.frame_numbers import NUMBER_BITS, read_number
from motorpool.bench.vehicles.jt808.platform_messages import (
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.reports import Recording
from motorpool.runtime import SystemClock

FPS = 10
FORMAT = VideoFormat(width=320, height=180, frames_per_second=FPS, kbps=200, sound=None, stamped=True)
DRIVE = Drive(ROUND_TRIPS[0], seed=1)
RESUME, FORWARD, SEEK = 0, 3, 5
CODE_OF_8 = 4
"""Code of eight times the speed (docs/protocols/jt808.md#video-requests)."""
TO = "\N{EN DASH}"
# The instant that the page shows, and the line of greys in which a picture says its time.
SHOWN = """
(index) => {
  const video = document.querySelectorAll(".film video")[index];
  const at = Date.parse(document.querySelector(".film-bar time").dateTime);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video?.videoWidth ?? 0, video?.videoHeight ?? 0];
  if (!canvas.width) return null;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const row = context.getImageData(0, Math.round(canvas.height * 0.95), canvas.width, 1).data;
  return { at, row: Array.from({ length: canvas.width }, (_, x) => row[4 * x]), paused: video.paused };
}
"""


@pytest.fixture(scope="module")
def server(start_server):
    settings = {
        "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
        "MOTORPOOL_VIDEO_START_SECONDS": "2",
        "MOTORPOOL_VIDEO_PLAYBACK_RETURN_SECONDS": "0",
        # A busy machine takes long from one key to the next.
        "MOTORPOOL_VIDEO_PLAYBACK_SILENCE_SECONDS": "300",
    }
    with start_server(settings) as running:
        yield running


class Recorder(CameraVehicle):
    """A terminal that has recorded all the time, and sends `seconds` of what it is asked for at once."""

    def __init__(self, server, peer, seconds):
        super().__init__(server, peer)
        self.seconds = seconds
        self.hangs_up = True
        self.asked = []
        """What the server said, in order."""
        self.sent = {}
        """Pictures that were sent, by the start of the request."""
        self._sought = threading.Event()
        self._seek_to = None
        self._run(self._serve)

    def history(self, at):
        return f"/vehicles/{self.id}/history?at={at:%Y-%m-%dT%H:%M:%SZ}"

    def end(self):
        self._ended.set()
        self._sought.set()
        super().end()

    def of(self, kind):
        return [each for each in self.asked if isinstance(each, kind)]

    def _serve(self):
        wanted = (RecordingListQuery, PlaybackRequest, PlaybackControl)
        # The socket ends with the test.
        with contextlib.suppress(OSError, AssertionError):
            while True:
                told = self.peer.messages(lambda message: isinstance(message, wanted), seconds=120)[-1]
                terminal = self.peer.terminal
                if isinstance(told, RecordingListQuery):
                    self.peer.send(terminal.recordings(told.serial, self._recordings(told)))
                elif isinstance(told, PlaybackRequest):
                    self.peer.send(terminal.recordings(told.serial, []))
                    self._run(self._play, told)
                else:
                    self.peer.send(terminal.general_response(told))
                    if told.control == SEEK:
                        self._seek_to = told.time
                        self._sought.set()
                self.asked.append(told)

    def _recordings(self, query):
        """Files of a quarter of an hour, 9 MB each, from noon to three."""
        noon = query.start_time.replace(hour=12, minute=0, second=0)
        quarter = timedelta(minutes=15)
        return [
            Recording(camera, noon + part * quarter, noon + (part + 1) * quarter, 0, 2, 1, 1, 9_000_000)
            for part in range(12)
            for camera in (1, 2)
        ]

    def _play(self, asked):
        sender = Jt1078Sender(self.peer.terminal.identity.number, 6)
        with (
            contextlib.suppress(OSError),
            socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media,
        ):
            self._film(media, sender, asked.channel, asked.start_time)
            if self.hangs_up:
                return
            self._sought.wait()
            if not self._ended.is_set():
                self._film(media, sender, asked.channel, self._seek_to)
            self._ended.wait()

    def _film(self, media, sender, channel, start):
        camera = Camera(self.name, channel, FORMAT)
        units = []
        for number in range(self.seconds * FPS):
            at = number / FPS
            units += camera.encode_frame(DRIVE.at(at), start + timedelta(seconds=at))
        self.sent[start] = len(units)
        media.sendall(b"".join(map(sender.encode, units)))


@pytest.fixture
def recorder(server, connected):
    """`recorder(phone, seconds)`: a signed-in terminal with recordings."""
    with contextlib.ExitStack() as stack:

        def come(phone, seconds=8):
            made = Recorder(server, stack.enter_context(connected(server, phone)), seconds)
            stack.callback(made.end)
            return made

        yield come


def shown(page, index=0):
    """The instant under the film and the time in one of its pictures, in milliseconds; None without one."""
    found = page.evaluate(SHOWN, index)
    if found is None:
        return None
    row = found["row"]
    stamp = read_number(Image.frombytes("L", (len(row), 1), bytes(row)).resize((640, 360)))
    if stamp is None:
        return None
    # The picture has the low bits of its time.
    whole = 1 << NUMBER_BITS
    near = round((found["at"] - stamp) / whole) * whole + stamp
    return SimpleNamespace(at=found["at"], stamp=near, paused=found["paused"])


def in_step(page, index=0):
    """What is shown of a paused film whose picture is of the instant that the page shows."""
    now = shown(page, index)
    return now if now and now.paused and abs(now.at - now.stamp) <= 300 else None


def yesterday(hour, minute):
    day = SystemClock().now() - timedelta(days=1)
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


def cursor(page):
    """The instant of the playhead, in milliseconds, as precise as the film's bar says it."""
    return page.evaluate('() => Date.parse(document.querySelector(".film-bar time").dateTime)')


def drag(page, head, pixels):
    """Drag the playhead by its knob."""
    box = head.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 2
    page.mouse.move(x, y)
    page.mouse.down()
    for part in range(1, 6):
        page.mouse.move(x + pixels * part / 5, y)
    page.mouse.up()


class Clicks:
    """Clicks on what people can read, and how many."""

    def __init__(self, page):
        self.page = page
        self.count = 0

    def on(self, words):
        words.first.click()
        self.count += 1


def test_what_happened_at_a_time_is_fetched_played_and_kept(server, visitor, recorder, eventually):
    van = recorder("013900000401")
    guest = visitor(server, webgl=False)
    page = guest.page
    asked = []
    page.on("request", lambda request: asked.append((request.method, request.url, request.post_data)))
    at = yesterday(14, 32)
    guest.log_in("/fleet")
    clicks = Clicks(page)
    clicks.on(page.get_by_text(van.name, exact=True))
    clicks.on(page.get_by_text("History"))
    clicks.on(page.get_by_label("Time", exact=True))
    page.keyboard.type("yesterday 14:32\n")
    film = page.get_by_role("region", name="Recorded video")
    expect(film).to_contain_text(f"14:31:30 {TO} 14:33:30")
    page.get_by_role("button", name="Ask the vehicle what it has of this day").click()
    expect(film).to_contain_text("The vehicle has 3 h of camera 1 on this day.")
    expect(film).to_contain_text("about 1.2 MB of the vehicle's data")
    guest.assert_accessible()

    clicks.on(page.get_by_text("Fetch video"))
    begin = round((at - timedelta(seconds=30)).timestamp() * 1000)
    eventually(lambda: (now := shown(page)) and now.stamp > begin + 1000)
    film.get_by_role("button", name="Pause").click()
    eventually(lambda: in_step(page))
    # What comes before the capture is not kept, and without a command the playlist is empty.
    order = [
        part
        for method, url, body in asked
        for part, matches in (
            ("capture", method == "POST" and "/api/captures" in url),
            ("command", body is not None and '"videoPlayback"' in body),
            ("playlist", "playback.m3u8" in url),
        )
        if matches
    ]
    assert order[:3] == ["capture", "command", "playlist"]
    assert van.of(PlaybackRequest)[0].start_time == at - timedelta(seconds=30)

    with page.expect_download() as download:
        clicks.on(film.get_by_text("Download"))
    assert clicks.count == 5
    with av.open(str(download.value.path())) as file:
        pictures = sum(packet.size > 0 for packet in file.demux(video=0))
    assert [pictures] == list(van.sent.values())

    # What is kept is what Play plays, without asking the vehicle again.
    kept = page.get_by_role("region", name="Kept of this day")
    expect(kept.get_by_role("button")).to_contain_text(["Camera 1"])
    guest.open(van.history(at - timedelta(seconds=28)))
    expect(kept.get_by_role("button")).to_be_visible()
    page.get_by_role("group", name="Replay").get_by_role("button", name="Play", exact=True).click()
    eventually(lambda: (now := shown(page)) and begin + 2000 < now.stamp < begin + 8000)
    assert "/media/" in page.evaluate("() => document.querySelector('.film video').src")

    # Nothing pulls the cursor back from where a hand puts it while the film plays.
    kept.get_by_role("button").click()
    eventually(lambda: (now := shown(page)) and not now.paused)
    box = page.locator(".timeline-plot").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] - 8)
    put = eventually(lambda: (now := cursor(page)) > begin + 600_000 and now)
    for _ in range(12):
        page.wait_for_timeout(100)
        assert cursor(page) == put
    expect(film).to_contain_text("No video of this time is open.")

    # The playhead is dragged by mouse, and by its own keys.
    head = page.get_by_role("slider", name="Time that is shown")
    drag(page, head, -box["width"] * 0.3)
    dragged = cursor(page)
    hour = 3_600_000
    assert abs(put - dragged - 0.3 * 24 * hour) < hour / 2
    page.wait_for_timeout(300)
    assert cursor(page) == dragged
    head.press("PageUp")
    assert cursor(page) == dragged + 600_000
    assert len(van.of(PlaybackRequest)) == 1
    # One press of what is kept plays it.
    kept.get_by_role("button").click()
    eventually(lambda: (now := shown(page)) and not now.paused and now.stamp > begin + 1000)


def test_the_playhead_is_dragged_by_a_finger(server, visitor, recorder):
    van = recorder("013900000406")
    guest = visitor(server, webgl=False, viewport={"width": 390, "height": 844}, has_touch=True)
    page = guest.page
    at = yesterday(14, 32)
    guest.log_in(van.history(at))
    head = page.get_by_role("slider", name="Time that is shown")
    head.scroll_into_view_if_needed()
    expect(head).to_have_attribute("aria-valuenow", str(int(at.timestamp())))
    (box, plot) = (head.bounding_box(), page.locator(".timeline-plot").bounding_box())
    x, y = box["x"] + box["width"] / 2 + 12, box["y"] + 10
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in range(1, 6):
        points = [{"x": x - 20 * part, "y": y + 2 * part}]
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    day = 24 * 3_600_000
    moved = at.timestamp() * 1000 - cursor(page)
    assert abs(moved - 100 / plot["width"] * day) < day / 50
    guest.assert_fits()


def test_a_seek_beyond_what_arrived_moves_the_vehicle(server, visitor, recorder, eventually):
    van = recorder("013900000402", seconds=4)
    van.hangs_up = False
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet")
    expect(page.get_by_text(van.name)).to_be_visible()
    page.keyboard.type("/")
    page.keyboard.type(f"{van.name}\n")
    expect(page.get_by_role("heading", name=van.name)).to_be_focused()
    page.keyboard.type("h")
    film = page.get_by_role("region", name="Recorded video")
    expect(film).to_be_visible()
    at = (SystemClock().now() - timedelta(hours=2)).replace(second=0, microsecond=0)
    span = at - timedelta(seconds=30), at + timedelta(seconds=90)
    page.keyboard.type(f"{at:%H:%M}\n")
    expect(film).to_contain_text(f"{span[0]:%H:%M:%S} {TO} {span[1]:%H:%M:%S}")
    page.keyboard.type("k")
    eventually(lambda: shown(page))
    (asked,) = van.of(PlaybackRequest)
    assert (asked.start_time, asked.end_time) == span
    expect(film).to_contain_text("Waiting for more video from the vehicle")

    page.keyboard.press("Shift+ArrowRight")
    later = asked.start_time.timestamp() * 1000 + 60_000
    eventually(lambda: (now := shown(page)) and later <= now.stamp < later + 9000)
    (control,) = van.of(PlaybackControl)
    assert later <= control.time.timestamp() * 1000 < later + 4000
    page.keyboard.press(" ")
    eventually(lambda: in_step(page))
    page.keyboard.press("Shift+ArrowLeft")
    eventually(lambda: (now := in_step(page)) and now.stamp < later - 50_000)
    assert len(van.of(PlaybackControl)) == 1
    expect(page.get_by_role("status", name="1 capture is running")).to_be_visible()


def test_a_playback_of_another_user_is_shown_before_it_is_ended(server, visitor, recorder, eventually):
    van = recorder("013900000403", seconds=4)
    van.hangs_up = False
    at = yesterday(13, 0)
    ana = {"name": "Ana", "email": "ana@example.org", "password": "sees-the-van"}
    with server.client() as client:
        assert client.post("/users", json={**ana, "administrator": True}).status_code == 200
    end = at + timedelta(minutes=5)
    span = {"startTime": at.isoformat(), "endTime": end.isoformat()}
    order = {"deviceId": van.id, "type": "videoPlayback", "attributes": {"channel": 1, **span}}
    answer = httpx.post(f"{server.url}/api/commands/send", json=order, auth=(ana["email"], ana["password"]))
    assert answer.status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(van.history(at))
    film = page.get_by_role("region", name="Recorded video")
    page.get_by_role("button", name="Fetch video").click()
    expect(film.get_by_role("alert")).to_contain_text(f"Ana is watching 13:00:00 {TO} 13:05:00 of camera 1.")
    guest.assert_accessible()
    film.get_by_role("button", name="Watch with them").click()
    eventually(lambda: shown(page))
    assert len(van.of(PlaybackRequest)) == 1
    page.get_by_role("button", name="Fetch video").click()
    film.get_by_role("button", name="End it and fetch mine").click()
    eventually(lambda: len(van.of(PlaybackRequest)) == 2)


@pytest.mark.long
def test_two_cameras_at_once_have_one_clock(server, visitor, recorder, eventually):
    van = recorder("013900000405", seconds=6)
    van.hangs_up = False
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(van.history(yesterday(14, 32)))
    film = page.get_by_role("region", name="Recorded video")
    film.get_by_role("button", name="Several cameras at once").click()
    expect(film).to_contain_text("No video of this camera at this time")
    expect(page).to_have_url(re.compile("channel=1&channel=2"))
    film.get_by_label("Fetch the shown cameras at once").check()
    film.get_by_label("Keep as a file").uncheck()
    film.get_by_role("button", name="Fetch video").click()
    # Before a camera has begun there is nothing that its vehicle could send faster.
    eventually(lambda: shown(page) and shown(page, 1))
    assert [each.channel for each in van.of(PlaybackRequest)] == [1, 2]
    rate = page.get_by_label("Speed of the replay")
    rate.select_option("8")
    expect(film).to_contain_text("The vehicle sends it 8 times as fast, without sound")
    eventually(lambda: len(van.of(PlaybackControl)) == 2)
    rate.select_option("1")
    eventually(lambda: len(van.of(PlaybackControl)) == 4)
    controls = [(each.channel, each.control, each.speed) for each in van.of(PlaybackControl)]
    assert controls == [(1, FORWARD, CODE_OF_8), (2, FORWARD, CODE_OF_8), (1, RESUME, 0), (2, RESUME, 0)]

    # Both rest at one instant, and the other one goes on with the clock.
    film.get_by_role("button", name="Pause").click()
    eventually(lambda: in_step(page) and in_step(page, 1))
    guest.assert_accessible()
    film.get_by_role("button", name="Camera 2 in front").click()
    expect(page).to_have_url(re.compile("channel=2&channel=1"))
    eventually(lambda: in_step(page) and in_step(page, 1))

    # The clock of a camera is moved, and stays so with the vehicle.
    later = film.get_by_role("button", name="Pictures of camera 2 half a second later")
    later.click()
    expect(film.get_by_text("+0.5 s")).to_be_visible()
    later.click()
    expect(film.get_by_text("+1.0 s")).to_be_visible()

    def moved():
        now = shown(page)
        return now and abs(now.at - now.stamp - 1000) <= 300

    eventually(moved)
    with server.client() as client:
        attributes = client.get(f"/devices/{van.id}").json()["attributes"]
    assert attributes["console.clock2"] == 1000

    # The same span of both is asked of each by its own times.
    film.get_by_role("button", name="Fetch video").click()
    eventually(lambda: len(van.of(PlaybackRequest)) == 4)
    second, first = van.of(PlaybackRequest)[2:]
    assert (second.channel, first.channel) == (2, 1)
    assert first.start_time - second.start_time == timedelta(seconds=1)


def test_video_of_an_offline_vehicle_waits_for_it(server, visitor, recorder):
    van = recorder("013900000404", seconds=2)
    van.end()
    # The clock of camera 1 is five seconds behind.
    with server.client() as client:
        row = client.get(f"/devices/{van.id}").json()
        row["attributes"]["console.clock1"] = 5000
        assert client.put(f"/devices/{van.id}", json=row).status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(van.history(yesterday(14, 32)))
    film = page.get_by_role("region", name="Recorded video")
    expect(film).to_contain_text("The vehicle is offline")
    film.get_by_label("Keep the other cameras too").check()
    film.get_by_role("button", name="Fetch when it is back").click()
    expect(film).to_contain_text("Fetched once the vehicle is online, until")
    expect(page.get_by_text("It is fetched once the vehicle is online")).to_be_visible()
    with server.client() as client:
        wanted = client.get("/footagerequests", params={"deviceId": van.id}).json()
        assert [each["channel"] for each in wanted] == [2, 1]
        other, moved = (datetime.fromisoformat(each["startTime"]) for each in wanted)
        assert other - moved == timedelta(seconds=5)
    page.get_by_role("link", name="Library").click()
    entry = page.get_by_role("article").filter(has_text="Camera 1")
    expect(entry).to_contain_text(f"14:31:30 {TO} 14:33:30")
    guest.assert_accessible()
    entry.get_by_role("button", name="Take back").click()
    expect(entry).to_have_count(0)
