"""Device, server, HTTP: live video from the terminal's packets to decoded pictures."""

import contextlib
import io
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import av
import httpx
import m3u8
import pytest

from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoControl, LiveVideoRequest
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding

FPS = 25
SECONDS = 12
EPOCH = 1_000_000
"""Of the device's media clock, ms."""


@pytest.fixture(scope="module")
def footage():
    """Twelve seconds of pictures whose brightness counts the frames of each second, with AAC."""
    return make_footage(SECONDS)


def make_footage(seconds):
    units = []
    video = av.CodecContext.create("libx264", "w")
    video.width, video.height, video.pix_fmt = 160, 96, "yuv420p"
    video.time_base, video.framerate, video.gop_size = Fraction(1, FPS), Fraction(FPS), FPS
    video.options = {
        "preset": "ultrafast",
        "tune": "zerolatency",
        "x264-params": "scenecut=0:repeat-headers=1",
    }
    for number in range(seconds * FPS):
        frame = av.VideoFrame(160, 96, "yuv420p")
        for plane, value in zip(frame.planes, (20 + 8 * (number % FPS), 128, 128), strict=True):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts = number
        for packet in video.encode(frame):
            stamp = EPOCH + packet.pts * 1000 // FPS
            units.append(AccessUnit(1, H264, packet.is_keyframe, stamp, bytes(packet), 1000 // FPS))
    audio = av.CodecContext.create("aac", "w")
    audio.sample_rate, audio.layout, audio.format = 8000, "mono", "fltp"
    for index in range(seconds * 8000 // 1024):
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.planes[0].update(bytes(frame.planes[0].buffer_size))
        frame.sample_rate, frame.pts = 8000, index * 1024
        for packet in audio.encode(frame):
            head = adts(len(bytes(packet)))
            stamp = EPOCH + max(0, packet.pts) * 1000 // 8000
            units.append(AccessUnit(1, AudioCoding.AAC, False, stamp, head + bytes(packet)))
    return sorted(units, key=lambda unit: unit.timestamp)


def adts(size):
    """An ADTS head for 8 kHz mono LC, written from ISO/IEC 13818-7 6.2."""
    length = size + 7
    return bytes(
        (
            0xFF,
            0xF1,
            1 << 6 | 11 << 2,
            1 << 6 | length >> 11,
            length >> 3 & 0xFF,
            (length & 7) << 5 | 0x1F,
            0xFC,
        )
    )


class Camera:
    """A terminal that films: answers 0x9101 with a media connection that sends its footage in real time."""

    def __init__(self, server, peer, footage, *, speed=1.0, sim_bytes=6):
        self.server, self.peer, self.footage, self.speed = server, peer, footage, speed
        self.phone = peer.terminal.identity.number
        self.sim_bytes = sim_bytes
        self.sent_frames = 0
        self.started = threading.Event()
        self.stopped = threading.Event()
        self.go_on = threading.Event()

    def hang_up(self):
        with contextlib.suppress(OSError):
            self.media.shutdown(socket.SHUT_RDWR)

    def film_when_asked(self, **options):
        asked = self.peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
        self.peer.send(self.peer.terminal.general_response(asked))
        self.film(asked.host, asked.tcp_port, asked.channel, **options)
        return asked

    def film(self, host, port, channel=1, *, breaks_off_after=None, waits_after=None, units=None):
        """Send the units at their times; after `waits_after` seconds of film only once `go_on` is set."""
        sender = Jt1078Sender(self.phone, self.sim_bytes)
        with socket.create_connection((host, port), timeout=40) as media:
            self.media = media
            self.started.set()
            began = time.monotonic()
            with contextlib.suppress(ConnectionError):
                for unit in units or self.footage:
                    offset = (unit.timestamp - EPOCH) / 1000
                    if breaks_off_after is not None and offset >= breaks_off_after:
                        return
                    if waits_after is not None and offset > waits_after and not self.go_on.is_set():
                        self.go_on.wait(60)
                        began = time.monotonic() - offset / self.speed
                    delay = offset / self.speed - (time.monotonic() - began)
                    if delay > 0.005:
                        time.sleep(delay)
                    media.sendall(sender.encode(unit))
                    self.sent_frames += unit.is_video
                media.settimeout(60)
                while media.recv(1024):
                    pass
            self.stopped.set()


@pytest.fixture(scope="module")
def video_server(start_server):
    settings = {"MOTORPOOL_VIDEO_LINGER_SECONDS": "3", "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1"}
    with start_server(settings) as running:
        yield running


def device_id_of(client, phone):
    (device,) = client.get("/devices", params={"uniqueId": phone}).json()
    return device["id"]


def playlist_of(client, device_id):
    answer = client.get(f"/stream/{device_id}/1/live.m3u8")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/vnd.apple.mpegurl")
    return m3u8.loads(answer.text)


def shade(frame):
    """The mean brightness of a picture."""
    plane = frame.planes[0]
    luma = bytes(plane)
    rows = [luma[row * plane.line_size :][: frame.width] for row in range(frame.height)]
    return round(sum(map(sum, rows)) / (frame.width * frame.height))


def decoded(data):
    """Brightness of each picture, its pts, and the number of sound samples of one segment."""
    with av.open(io.BytesIO(data)) as container:
        pictures = [(shade(frame), frame.pts) for frame in container.decode(video=0)]
    with av.open(io.BytesIO(data)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0)) if container.streams.audio else 0
    return pictures, samples


def follow(client, device_id, until, seconds=40.0):
    """Read like a player: every segment of the playlist once, until `until(segments)`."""
    segments = {}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        playlist = playlist_of(client, device_id)
        for position, entry in enumerate(playlist.segments):
            index = playlist.media_sequence + position
            assert entry.uri == f"{index}.ts"
            assert round(entry.duration) <= playlist.target_duration
            if index not in segments:
                answer = client.get(f"/stream/{device_id}/1/{index}.ts")
                assert answer.status_code == 200
                assert answer.headers["content-type"] == "video/mp2t"
                segments[index] = (entry.duration, entry.discontinuity, answer.content)
        if until(segments):
            return segments
        time.sleep(0.3)
    raise AssertionError(f"only segments {sorted(segments)} after {seconds} s")


def test_the_first_reader_starts_the_camera_and_sees_every_picture(video_server, connected, footage):
    phone = "13922220001"
    with video_server.client() as client, connected(video_server, phone) as peer:
        device_id = device_id_of(client, phone)
        camera = Camera(video_server, peer, footage, speed=2)
        with ThreadPoolExecutor() as pool:
            # The key frame that ends the first segment, and no more.
            filming = pool.submit(camera.film_when_asked, waits_after=1)
            # Held until the first segment is there, not longer (docs/decisions/0024).
            first = playlist_of(client, device_id)
            assert len(first.segments) == 1
            camera.go_on.set()
            segments = follow(client, device_id, lambda found: len(found) >= 5)
            assert client.get(f"/stream/{device_id}/1/999999.ts").status_code == 404
            # Nobody reads any more: the device is told to stop.
            told = peer.messages(lambda message: isinstance(message, LiveVideoControl))[-1]
            assert (told.channel, told.control) == (1, 0)
            camera.hang_up()
            asked = filming.result(60)
            assert asked.host == "127.0.0.1"
            assert asked.channel == 1
    indices = sorted(segments)
    assert indices == list(range(indices[0], indices[0] + len(indices)))
    shades, samples, stamps = [], 0, []
    for index in indices:
        pictures, heard = decoded(segments[index][2])
        shades += [bright for bright, _ in pictures]
        stamps += [pts for _, pts in pictures]
        samples += heard
    expected = [20 + 8 * (number % FPS) for number in range(len(shades))]
    assert all(abs(bright - want) <= 3 for bright, want in zip(shades, expected, strict=True))
    span = stamps[-1] - stamps[0] + 90_000 // FPS
    assert sum(segments[index][0] for index in indices) == pytest.approx(span / 90_000, abs=1e-6)
    assert abs(samples / 8000 - span / 90_000) < 0.3


def test_an_offline_device_has_an_empty_playlist_and_a_stranger_sees_none(video_server, attempts):
    with video_server.client() as client:
        device = client.post("/devices", json={"name": "Off", "uniqueId": "13922220002"}).json()
        for attempt in attempts():
            with attempt, attempt.within(5, must=True):
                assert playlist_of(client, device["id"]).segments == []
        assert client.get("/stream/424242/1/live.m3u8").status_code == 404
        address = f"{video_server.url}/api/stream/{device['id']}/1/live.m3u8"
        assert httpx.get(address).status_code == 401
        stranger = {"name": "Stranger", "email": "stranger@example.org", "password": "not-his-device"}
        assert client.post("/users", json=stranger).status_code == 200
        as_stranger = (stranger["email"], stranger["password"])
        assert httpx.get(address, auth=as_stranger).status_code == 404


def test_a_camera_that_breaks_off_and_comes_back_goes_on_in_the_same_playlist(
    video_server, connected, footage
):
    phone = "13922220003"
    with video_server.client() as client, connected(video_server, phone) as peer:
        device_id = device_id_of(client, phone)
        order = {"deviceId": device_id, "type": "videoStart", "attributes": {"channel": 1}}
        assert client.post("/commands/send", json=order).status_code == 200
        asked = peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
        camera = Camera(video_server, peer, footage, speed=8)
        camera.film(asked.host, asked.tcp_port, breaks_off_after=5.0)
        # The last one is listed once the server has seen the end of the connection.
        before = follow(client, device_id, lambda found: len(found) >= 5)
        with ThreadPoolExecutor() as pool:
            # The terminal reconnects unasked: the request still stands.
            filming = pool.submit(camera.film, asked.host, asked.tcp_port)
            after = follow(client, device_id, lambda found: max(found) > max(before) + 2)
            # The second connection begins anew behind what the first one left.
            marked = [index for index in sorted(after) if index > max(before) and after[index][1]]
            assert len(marked) == 1
            stop = {"deviceId": device_id, "type": "videoStop", "attributes": {"channel": 1}}
            assert client.post("/commands/send", json=stop).status_code == 200
            filming.result(60)
            assert camera.stopped.is_set()


def test_media_that_nobody_asked_for_is_told_to_stop_and_closed(video_server, connected, footage):
    phone = "13922220004"
    with connected(video_server, phone) as peer:
        camera = Camera(video_server, peer, footage)
        with ThreadPoolExecutor() as pool:
            filming = pool.submit(camera.film, "127.0.0.1", 5263 + video_server.offset)
            told = peer.messages(lambda message: isinstance(message, LiveVideoControl))[-1]
            assert told.control == 0
            filming.result(60)
            assert camera.stopped.is_set()


@pytest.mark.parametrize("sim_bytes", [6, 10])
def test_the_media_sequence_never_goes_back_across_a_restart_of_the_server(
    start_server, database_url, tmp_path, connected, footage, sim_bytes
):
    settings = {"MOTORPOOL_DATABASE": database_url, "MOTORPOOL_DATA": str(tmp_path / "data")}
    phone, last, password = "13922220005", -1, None
    for _ in range(2):
        with start_server(settings) as server:
            password = server.password = password or server.password
            with server.client() as client, connected(server, phone) as peer:
                device_id = device_id_of(client, phone)
                camera = Camera(server, peer, footage, speed=8, sim_bytes=sim_bytes)
                with ThreadPoolExecutor() as pool:
                    filming = pool.submit(camera.film_when_asked, breaks_off_after=7)
                    segments = follow(client, device_id, lambda found: len(found) >= 3)
                    filming.result(60)
                assert min(segments) > last
                last = max(segments)
            server.process.kill()
            server.process.wait()


def test_ffmpeg_plays_the_live_playlist_in_real_time(video_server, connected):
    phone = "13922220006"
    seconds = 10
    with video_server.client() as client, connected(video_server, phone) as peer:
        device_id = device_id_of(client, phone)
        camera = Camera(video_server, peer, make_footage(seconds))
        token = client.post("/session/token").text
        with ThreadPoolExecutor() as pool:
            pool.submit(camera.film_when_asked)
            playlist_of(client, device_id)
            played = subprocess.run(
                [
                    "ffmpeg",
                    "-nostdin",
                    "-loglevel",
                    "warning",
                    "-headers",
                    f"Authorization: Bearer {token}\r\n",
                    "-i",
                    f"{video_server.url}/api/stream/{device_id}/1/live.m3u8",
                    "-t",
                    "6",
                    "-f",
                    "null",
                    "-",
                ],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            camera.hang_up()
    assert played.returncode == 0, played.stderr
    complaints = [line for line in played.stderr.splitlines() if "error" in line.lower() or "corrupt" in line]
    assert not complaints
