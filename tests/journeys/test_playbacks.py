"""Device, server, HTTP: a recording from the terminal's memory to a playlist that ends, and its frames."""

import contextlib
import io
import os
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import av
import httpx
import m3u8
import msgspec
import pytest

from motorpool.bench.vehicles.jt808.platform_messages import (
    LiveVideoRequest,
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import Recording

FPS = 10
CODERS = {H264: ("libx264", "x264-params"), H265: ("libx265", "x265-params")}
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
PARAMETER_SETS = {H264: {7, 8}, H265: {32, 33, 34}}


def recording(seconds, coding=H264, start=START):
    """What a terminal has in its memory: pictures with a key frame a second, stamped with the time of day."""
    name, parameters = CODERS[coding]
    coder = av.CodecContext.create(name, "w")
    coder.width, coder.height, coder.pix_fmt = 160, 96, "yuv420p"
    coder.time_base, coder.framerate, coder.gop_size = Fraction(1, FPS), Fraction(FPS), FPS
    options = f"keyint={FPS}:min-keyint={FPS}:scenecut=0:repeat-headers=1:log-level=none:bframes=0"
    coder.options = {"preset": "ultrafast", "tune": "zerolatency", parameters: options}
    origin = round(start.timestamp() * 1000)
    units = []
    frames = [av.VideoFrame(160, 96, "yuv420p") for _ in range(seconds * FPS)]
    for number, frame in enumerate(frames):
        for plane, value in zip(frame.planes, (20 + number % 200, 128, 128), strict=True):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts = number
    for packet in [packet for frame in [*frames, None] for packet in coder.encode(frame)]:
        stamp = origin + packet.pts * 1000 // FPS
        units.append(AccessUnit(1, coding, packet.is_keyframe, stamp, bytes(packet), 1000 // FPS))
    return units


def pictures_of(payload, coding):
    """The NAL units of an access unit that are pictures."""
    kinds = []
    for nal in payload.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")[1:]:
        kind = nal[0] & 31 if coding is H264 else nal[0] >> 1 & 63
        if kind not in PARAMETER_SETS[coding] | ({6, 9} if coding is H264 else {35, 39, 40}):
            kinds.append(nal.rstrip(b"\0"))
    return kinds


class Recorder:
    """The media side of a terminal with one recording in its memory."""

    def __init__(self, peer, units, *, sim_bytes=6):
        self.peer, self.units = peer, units
        self.sim_bytes = sim_bytes
        self.asked = None

    def tell_what_there_is(self, client):
        """Answer the query for recordings with the only one."""
        device_id = device_of(client, self.peer)
        order = {"deviceId": device_id, "type": "videoPlaybackList", "attributes": {"channel": 1}}
        assert client.post("/commands/send", json=order).status_code == 200
        asked = self.peer.messages(lambda message: isinstance(message, RecordingListQuery))[-1]
        assert asked.channel == 1
        only = Recording(
            channel=1,
            start_time=START,
            end_time=START + timedelta(seconds=len(self.units) // FPS),
            alarm_flag=0,
            type=2,
            stream_type=1,
            memory_type=1,
            size=sum(len(unit.payload) for unit in self.units),
        )
        self.peer.send(self.peer.terminal.recordings(asked.serial, [only]))
        return only

    def answer(self):
        """Wait for the request and answer it as the standard wants."""
        self.asked = self.peer.messages(lambda message: isinstance(message, PlaybackRequest))[-1]
        self.peer.send(self.peer.terminal.recordings(self.asked.serial, []))

    def connect(self):
        address = self.asked.host, self.asked.tcp_port
        return socket.create_connection(address, timeout=40)

    def sender(self):
        return Jt1078Sender(self.peer.terminal.identity.number, self.sim_bytes)

    def play(self, units=None, *, hangs_up=True):
        """Send all of it in one burst; then close, or keep the connection until the server closes."""
        sender = self.sender()
        with self.connect() as media:
            media.sendall(b"".join(sender.encode(unit) for unit in units or self.units))
            if not hangs_up:
                until_closed(media)


def until_closed(media):
    media.settimeout(60)
    with contextlib.suppress(ConnectionError):
        while media.recv(1024):
            pass


@pytest.fixture
def server(playback_server):
    return playback_server


def device_of(client, peer):
    phone = peer.terminal.identity.number
    (device,) = client.get("/devices", params={"uniqueId": phone.lstrip("0")}).json()
    return device["id"]


def ask(client, peer, **attributes):
    """DeviceCommand a playback of channel 1; the device's id."""
    device_id = device_of(client, peer)
    span = {"startTime": START.isoformat(), "endTime": (START + timedelta(minutes=5)).isoformat()}
    attributes = {"channel": 1, **span, **attributes}
    order = {"deviceId": device_id, "type": "videoPlayback", "attributes": attributes}
    assert client.post("/commands/send", json=order).status_code == 200
    return device_id


def steer(client, device_id, **attributes):
    order = {
        "deviceId": device_id,
        "type": "videoPlaybackControl",
        "attributes": {"channel": 1, **attributes},
    }
    assert client.post("/commands/send", json=order).status_code == 200


def playlist_of(client, device_id):
    answer = client.get(f"/stream/{device_id}/1/playback.m3u8")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/vnd.apple.mpegurl")
    assert "no-cache" in answer.headers["cache-control"]
    return m3u8.loads(answer.text)


def until(client, device_id, wanted, seconds=60.0):
    """The playlist once it is as wanted; on the way it only grows."""
    deadline, before = time.monotonic() + seconds, None
    while True:
        playlist = playlist_of(client, device_id)
        entries = [(entry.uri, entry.duration) for entry in playlist.segments]
        if before is not None:
            assert entries[: len(before)] == before
        if wanted(playlist):
            return playlist
        assert time.monotonic() < deadline, playlist.dumps()
        before = entries
        time.sleep(0.1)


def segments_of(client, device_id, playlist):
    found = []
    for index, entry in enumerate(playlist.segments, playlist.media_sequence):
        assert entry.uri == f"playback/{index}.ts"
        answer = client.get(f"/stream/{device_id}/1/{entry.uri}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "video/mp2t"
        assert "immutable" in answer.headers["cache-control"]
        found.append(answer.content)
    return found


def coded_pictures(segments, coding):
    """The picture NAL units of each access unit, in order."""
    found = []
    for data in segments:
        with av.open(io.BytesIO(data)) as container:
            found += [
                pictures_of(bytes(packet), coding) for packet in container.demux(video=0) if packet.size
            ]
    return found


def ffmpeg_frames(server, client, device_id):
    """How many pictures FFmpeg decodes of the playlist, from its first to its end."""
    token = client.post("/session/token").text
    played = subprocess.run(
        [
            *("ffprobe", "-v", "warning", "-count_frames", "-select_streams", "v"),
            *("-headers", f"Authorization: Bearer {token}\r\n"),
            *("-show_entries", "stream=nb_read_frames", "-of", "csv=p=0"),
            f"{server.url}/api/stream/{device_id}/1/playback.m3u8",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "http_proxy": ""},
    )
    assert played.returncode == 0, played.stderr
    assert not [line for line in played.stderr.splitlines() if "rror" in line or "corrupt" in line]
    return int(played.stdout.split()[0].strip(","))


@pytest.mark.parametrize("coding", [H264, H265])
@pytest.mark.parametrize("version", [2013, 2019])
def test_a_burst_is_a_playlist_that_ends_and_holds_every_picture(server, connected, version, coding):
    phone = f"1393333{version}"[:7] + ("1" if coding is H264 else "2") + f"{version}"[2:] + "0"
    units = recording(20, coding)
    with server.client() as client, connected(server, phone, version=version) as peer:
        recorder = Recorder(peer, units, sim_bytes=6 if version == 2013 else 10)
        listed = recorder.tell_what_there_is(client)
        device_id = ask(client, peer, startTime=listed.start_time.isoformat())
        recorder.answer()
        assert (recorder.asked.channel, recorder.asked.start_time) == (1, START)
        with ThreadPoolExecutor() as pool:
            playing = pool.submit(recorder.play)
            first = playlist_of(client, device_id)
            assert len(first.segments) >= 1
            assert (first.playlist_type, first.media_sequence) == ("event", 0)
            playlist = until(client, device_id, lambda found: found.is_endlist)
            playing.result(60)
        assert sum(entry.duration for entry in playlist.segments) == pytest.approx(20.0, abs=0.001)
        got = coded_pictures(segments_of(client, device_id, playlist), coding)
        assert got == [pictures_of(unit.payload, coding) for unit in units]
        assert ffmpeg_frames(server, client, device_id) == len(units)
        # Live of the same channel knows nothing of it.
        assert client.get(f"/stream/{device_id}/1/{playlist.media_sequence}.ts").status_code == 404


def test_a_long_recording_comes_as_fast_as_the_terminal_can_send_it(server, connected, attempts):
    filler = b"\0\0\0\1\x0c" + b"\xff" * 50_000 + b"\x80"
    units = [msgspec.structs.replace(unit, payload=unit.payload + filler) for unit in recording(20)]
    for attempt in attempts():
        phone = f"1393334{attempt.number}007"
        with attempt, server.client() as client, connected(server, phone) as peer:
            device_id = ask(client, peer)
            recorder = Recorder(peer, units)
            recorder.answer()
            # Ten megabytes at the pace of a live camera's reads would take half a minute.
            with attempt.within(25, must=True):
                recorder.play()
                playlist = until(client, device_id, lambda found: found.is_endlist)
                assert sum(entry.duration for entry in playlist.segments) == pytest.approx(20.0, abs=0.001)
                assert sum(len(segment) for segment in segments_of(client, device_id, playlist)) > 10_000_000


def test_a_pause_is_no_end_and_a_seek_is_a_discontinuity_of_the_same_playlist(server, connected, attempts):
    before = recording(6)
    later = recording(8, start=START + timedelta(minutes=20))
    for attempt in attempts():
        phone = f"1393334{attempt.number}001"
        with attempt, server.client() as client, connected(server, phone) as peer:
            device_id = ask(client, peer)
            recorder = Recorder(peer, before)
            recorder.answer()
            sender = recorder.sender()
            with recorder.connect() as media:
                # Silence ends it.
                with attempt.within(1.5):
                    media.sendall(b"".join(map(sender.encode, before[:55])))
                    until(client, device_id, lambda found: len(found.segments) >= 5)
                    steer(client, device_id, control="pause")
                    told = peer.messages(lambda message: isinstance(message, PlaybackControl))[-1]
                assert told.control == 1
                time.sleep(4)  # twice the silence that would be its end
                assert not playlist_of(client, device_id).is_endlist
                with attempt.within(1.5):
                    steer(client, device_id, control="seek", time=(START + timedelta(minutes=20)).isoformat())
                    steer(client, device_id, control="resume")
                    told = peer.messages(
                        lambda message: isinstance(message, PlaybackControl) and not message.control
                    )
                    # Other messages may come between.
                    controls = [each.control for each in told if isinstance(each, PlaybackControl)]
                    assert controls == [5, 0]
                    # Some of the old was on its way; the new begins inside a group of pictures.
                    media.sendall(b"".join(map(sender.encode, [*before[55:], *later[5:]])))
                    until(client, device_id, lambda found: len(found.segments) >= 10 or found.is_endlist)
            playlist = until(client, device_id, lambda found: found.is_endlist)
            marks = [entry.discontinuity for entry in playlist.segments]
            assert marks == [False] * 6 + [True] + [False] * 6
            got = coded_pictures(segments_of(client, device_id, playlist), H264)
            assert got == [pictures_of(unit.payload, H264) for unit in [*before, *later[10:]]]
            assert ffmpeg_frames(server, client, device_id) == len(got)


def test_a_connection_that_drops_and_comes_back_goes_on_in_the_same_playlist(server, connected, attempts):
    units = recording(8)
    for attempt in attempts():
        phone = f"1393334{attempt.number}002"
        with attempt, server.client() as client, connected(server, phone) as peer:
            device_id = ask(client, peer)
            recorder = Recorder(peer, units)
            recorder.answer()
            sender = recorder.sender()
            cut_off = sender.encode(units[40])
            # It may be away for a second.
            with attempt.within(0.8):
                with recorder.connect() as media:
                    # The last picture breaks off in the middle of a packet.
                    media.sendall(b"".join(map(sender.encode, units[:40])) + cut_off[: len(cut_off) // 2])
                until(client, device_id, lambda found: len(found.segments) >= 4)
                recorder.play(units[40:])
                until(client, device_id, lambda found: len(found.segments) >= 5 or found.is_endlist)
            playlist = until(client, device_id, lambda found: found.is_endlist)
            assert [entry.discontinuity for entry in playlist.segments] == [False] * 4 + [True] + [False] * 3
            got = coded_pictures(segments_of(client, device_id, playlist), H264)
            assert got == [pictures_of(unit.payload, H264) for unit in units]


def test_a_terminal_that_never_closes_is_told_to_stop_and_then_closed(server, connected):
    units = recording(4)
    with server.client() as client, connected(server, "13933340003") as peer:
        device_id = ask(client, peer)
        recorder = Recorder(peer, units)
        recorder.answer()
        with ThreadPoolExecutor() as pool:
            playing = pool.submit(recorder.play, hangs_up=False)
            told = peer.messages(lambda message: isinstance(message, PlaybackControl))[-1]
            assert (told.channel, told.control) == (1, 2)
            playlist = until(client, device_id, lambda found: found.is_endlist)
            assert len(playlist.segments) == 4
            playing.result(60)


def test_a_new_playback_begins_a_new_playlist_above_the_last_one(server, connected):
    with server.client() as client, connected(server, "13933340004") as peer:
        device_id = ask(client, peer)
        recorder = Recorder(peer, recording(4))
        recorder.answer()
        recorder.play()
        first = until(client, device_id, lambda found: found.is_endlist)
        # EncodingRefused: the one before stays.
        order = {"deviceId": device_id, "type": "videoPlayback", "attributes": {"channel": 1}}
        assert client.post("/commands/send", json=order).status_code == 400
        assert playlist_of(client, device_id).dumps() == first.dumps()
        ask(client, peer)
        recorder.answer()
        with ThreadPoolExecutor() as pool:
            pool.submit(recorder.play)
            second = playlist_of(client, device_id)
        assert second.media_sequence == first.media_sequence + 4
        assert second.segments[0].discontinuity
        assert client.get(f"/stream/{device_id}/1/playback/{first.media_sequence}.ts").status_code == 404
        steer(client, device_id, control="stop")
        assert playlist_of(client, device_id).is_endlist


def test_recordings_that_nobody_asked_for_are_told_to_stop(server, connected):
    with server.client() as client, connected(server, "13933340005") as peer:
        (device,) = client.get("/devices", params={"uniqueId": "13933340005"}).json()
        assert playlist_of(client, device["id"]).segments == []
        assert not playlist_of(client, device["id"]).is_endlist
        sender = Jt1078Sender("13933340005")
        address = "127.0.0.1", 5363 + server.offset
        with socket.create_connection(address, timeout=40) as media:
            media.sendall(b"".join(map(sender.encode, recording(2))))
            told = peer.messages(lambda message: isinstance(message, PlaybackControl))[-1]
            assert (told.channel, told.control) == (1, 2)
        assert playlist_of(client, device["id"]).segments == []


def test_live_and_playback_of_one_channel_run_side_by_side_for_those_who_may_see_it(server, connected):
    live, old = recording(4)[5:], recording(4, H265)
    with server.client() as client, connected(server, "13933340006") as peer:
        (device,) = client.get("/devices", params={"uniqueId": "13933340006"}).json()
        order = {"deviceId": device["id"], "type": "videoStart", "attributes": {"channel": 1}}
        assert client.post("/commands/send", json=order).status_code == 200
        asked = peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
        ask(client, peer)
        recorder = Recorder(peer, old)
        recorder.answer()
        assert asked.tcp_port != recorder.asked.tcp_port
        one, other = recorder.sender(), recorder.sender()
        with (
            recorder.connect() as playing,
            socket.create_connection((asked.host, asked.tcp_port), timeout=40) as filming,
        ):
            for number, unit in enumerate(old):
                playing.sendall(one.encode(unit))
                filming.sendall(b"".join(map(other.encode, live[number : number + 1])))
        playlist = until(client, device["id"], lambda found: found.is_endlist)
        got = coded_pictures(segments_of(client, device["id"], playlist), H265)
        assert got == [pictures_of(unit.payload, H265) for unit in old]
        filmed = m3u8.loads(client.get(f"/stream/{device['id']}/1/live.m3u8").text)
        segments = [client.get(f"/stream/{device['id']}/1/{entry.uri}").content for entry in filmed.segments]
        assert coded_pictures(segments, H264) == [pictures_of(unit.payload, H264) for unit in live[5:]]
        stranger = {"name": "Stranger", "email": "stranger@example.org", "password": "not-his-device"}
        assert client.post("/users", json=stranger).status_code == 200
        for path in ("playback.m3u8", "playback/0.ts"):
            address = f"{server.url}/api/stream/{device['id']}/1/{path}"
            assert httpx.get(address, auth=("stranger@example.org", "not-his-device")).status_code == 404
            assert httpx.get(address).status_code == 401
