"""Device, server, HTTP: recordings are listed, one is played back, watched, and kept as a file."""

import contextlib
import io
import math
import re
import signal
import socket
import struct
import subprocess
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import av
import httpx
import m3u8
import pytest

from motorpool.actors.video.capture_records import SERVER_ENDED
from motorpool.bench.server import EMAIL
from motorpool.bench.vehicles.jt808.platform_messages import (
    LiveVideoControl,
    LiveVideoRequest,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.codecs.reports import Recording

FPS = 10
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
CODERS = {H264: ("libx264", "x264-params"), H265: ("libx265", "x265-params")}
SETTINGS = {
    "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
    "MOTORPOOL_VIDEO_PLAYBACK_RETURN_SECONDS": "0",
    "MOTORPOOL_VIDEO_LINGER_SECONDS": "1",
    "MOTORPOOL_CAPTURES_START_SECONDS": "3",
}


def footage(seconds, coding=H264):
    """Pictures with a key frame a second, and AAC beside them, stamped with the time of day."""
    name, parameters = CODERS[coding]
    coder = av.CodecContext.create(name, "w")
    coder.width, coder.height, coder.pix_fmt = 160, 96, "yuv420p"
    coder.time_base, coder.framerate = Fraction(1, FPS), Fraction(FPS)
    options = f"keyint={FPS}:min-keyint={FPS}:scenecut=0:repeat-headers=1:log-level=none:bframes=0"
    coder.options = {"preset": "ultrafast", "tune": "zerolatency", parameters: options}
    origin = round(START.timestamp() * 1000)
    packets = []
    for number in range(seconds * FPS):
        frame = av.VideoFrame(160, 96, "yuv420p")
        for plane, value in zip(frame.planes, (20 + number % 200, 128, 128), strict=True):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts = number
        packets += coder.encode(frame)
    units = [
        AccessUnit(
            1, coding, packet.is_keyframe, origin + packet.pts * 1000 // FPS, bytes(packet), 1000 // FPS
        )
        for packet in [*packets, *coder.encode(None)]
    ]
    microphone = av.CodecContext.create("aac", "w")
    microphone.sample_rate, microphone.layout, microphone.format = 8000, "mono", "fltp"
    for index in range(seconds * 8000 // 1024):
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        tone = struct.pack("1024f", *(math.sin(step * (index % 7 + 1) / 50) / 2 for step in range(1024)))
        frame.planes[0].update(tone.ljust(frame.planes[0].buffer_size, b"\0"))
        frame.sample_rate, frame.pts = 8000, index * 1024
        for packet in microphone.encode(frame):
            length = packet.size + 7
            head = (0xFF, 0xF1, 0x6C, 0x40 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC)
            stamp = origin + max(0, packet.pts) // 8
            units.append(AccessUnit(1, AudioCoding.AAC, False, stamp, bytes(head) + bytes(packet)))
    return sorted(units, key=lambda unit: unit.timestamp)


def nal_units(annex_b):
    return re.split(b"\0?\0\0\1", annex_b)[1:]


def without_sets(units, coding):
    """The NAL units that are no parameter sets: the server may repeat those."""
    kinds = {7, 8} if coding is H264 else {32, 33, 34}
    return [unit for unit in units if (unit[0] & 31 if coding is H264 else unit[0] >> 1 & 63) not in kinds]


def captured(data, coding):
    """What a demuxer finds: pictures as NAL units without parameter sets, and frames of sound."""
    pictures, frames = [], []
    with av.open(io.BytesIO(data)) as container:
        for packet in container.demux():
            content = bytes(packet)
            if packet.stream.type != "video":
                frames += [content] if content else []
                continue
            units = []
            while content:
                size = int.from_bytes(content[:4])
                units.append(content[4 : 4 + size])
                content = content[4 + size :]
            if units:
                pictures.append(without_sets(units, coding))
    return pictures, frames


def sent(units, coding):
    pictures = [without_sets(nal_units(unit.payload), coding) for unit in units if unit.coding is coding]
    return pictures, [unit.payload[7:] for unit in units if unit.coding is AudioCoding.AAC]


def complaints(data, path):
    """What FFmpeg says when it plays the file."""
    path.write_bytes(data)
    command = ["ffmpeg", "-v", "warning", "-i", str(path), "-f", "null", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.fixture(scope="module")
def server(start_server):
    with start_server(SETTINGS) as running:
        yield running


def device_of(client, peer):
    unique_id = peer.terminal.identity.number.lstrip("0")
    (device,) = client.get("/devices", params={"uniqueId": unique_id}).json()
    return device["id"]


def command(client, device_id, kind, **attributes):
    order = {"deviceId": device_id, "type": kind, "attributes": {"channel": 1, **attributes}}
    answer = client.post("/commands/send", json=order)
    assert answer.status_code == 200, answer.text


def capture_of(client, device_id, **query):
    answer = client.post("/captures", params={"deviceId": device_id, "channel": 1, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ended(client, capture, eventually, seconds=40):
    """The record once it is no longer recording; on the way the file only grows."""
    sizes = [0]

    def poll():
        record = client.get(f"/captures/{capture['id']}").json()
        assert record["size"] >= sizes[-1]
        sizes.append(record["size"])
        return record["status"] != "RECORDING" and record

    return eventually(poll, seconds)


def fetched(client, record):
    answer = client.get(record["url"].removeprefix("/api"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "video/mp4"
    assert len(answer.content) == record["size"]
    return answer.content


def play_back(peer, units, *, hangs_up=True, sim_bytes=6):
    """The terminal's part: answer the request, connect, send all at once."""
    asked = peer.messages(lambda message: isinstance(message, PlaybackRequest))[-1]
    peer.send(peer.terminal.general_response(asked))
    sender = Jt1078Sender(peer.terminal.identity.number, sim_bytes)
    with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
        media.sendall(b"".join(map(sender.encode, units)))
        if not hangs_up:
            media.settimeout(60)
            with contextlib.suppress(ConnectionError):
                while media.recv(1024):
                    pass


@pytest.mark.parametrize("coding", [H264, H265])
@pytest.mark.parametrize("version", [2013, 2019])
def test_a_recording_is_listed_played_back_watched_and_kept_as_it_was_sent(
    server, connected, eventually, version, coding, tmp_path
):
    phone = f"139444{version}{'1' if coding is H264 else '2'}"
    units = footage(8, coding)
    listed = Recording(1, START, START + timedelta(seconds=8), 0, 0, 1, 1, 123_456)
    with server.client() as client, connected(server, phone, version=version) as peer:
        device_id = device_of(client, peer)
        assert client.get(f"/recordings/{device_id}").json() == []
        command(client, device_id, "videoPlaybackList", startTime=START.isoformat())
        asked = peer.messages(lambda message: isinstance(message, RecordingListQuery))[-1]
        peer.send(peer.terminal.recordings(asked.serial, [listed] * 60, 200))
        recordings = eventually(lambda: client.get(f"/recordings/{device_id}").json())
        assert len(recordings) == 60
        assert recordings[0] == {
            "channel": 1,
            "startTime": "2026-05-01T10:00:00Z",
            "endTime": "2026-05-01T10:00:08Z",
            "alarmFlag": 0,
            "type": 0,
            "streamType": 1,
            "memoryType": 1,
            "size": 123_456,
        }

        capture = capture_of(client, device_id)
        assert (capture["status"], capture["url"]) == ("RECORDING", None)
        span = {key: recordings[0][key] for key in ("startTime", "endTime", "streamType", "memoryType")}
        command(client, device_id, "videoPlayback", **span)
        play_back(peer, units, sim_bytes=6 if version == 2013 else 10)

        record = ended(client, capture, eventually)
        assert record["status"] == "COMPLETE", record
        assert (record["startTime"], record["endTime"][:17]) == ("2026-05-01T10:00:00Z", "2026-05-01T10:00:")
        length = datetime.fromisoformat(record["endTime"]) - START
        assert length.total_seconds() == pytest.approx(8.0, abs=0.3)
        film = fetched(client, record)
        assert captured(film, coding) == sent(units, coding)
        assert complaints(film, tmp_path / "film.mp4") == ""
        tail = client.get(record["url"].removeprefix("/api"), headers={"Range": "bytes=-100"})
        assert (tail.status_code, tail.content) == (206, film[-100:])
        playlist = m3u8.loads(client.get(f"/stream/{device_id}/1/playback.m3u8").text)
        assert playlist.is_endlist
        assert sum(entry.duration for entry in playlist.segments) == pytest.approx(8.0, abs=0.3)
        listing = client.get("/captures", params={"deviceId": device_id}).json()
        assert listing == [record]


def test_a_capture_that_nobody_streams_into_fails(server, connected, eventually):
    with server.client() as client, connected(server, "13944450001") as peer:
        capture = capture_of(client, device_of(client, peer))
        record = ended(client, capture, eventually)
        assert record["status"] == "FAILED"
        assert record["reason"] == "nothing came that can be kept: the stream never started"
        assert (record["url"], record["size"]) == (None, 0)


def test_deleted_while_the_terminal_still_sends_it_keeps_what_came(server, connected, eventually):
    units = footage(6)
    with server.client() as client, connected(server, "13944450002") as peer:
        device_id = device_of(client, peer)
        capture = capture_of(client, device_id)
        command(client, device_id, "videoPlayback", startTime=START.isoformat())
        asked = peer.messages(lambda message: isinstance(message, PlaybackRequest))[-1]
        sender = Jt1078Sender(peer.terminal.identity.number)
        with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
            media.sendall(b"".join(map(sender.encode, units)))
            eventually(lambda: client.get(f"/captures/{capture['id']}").json()["size"])
            record = client.delete(f"/captures/{capture['id']}").json()
            assert (record["status"], record["reason"]) == ("COMPLETE", "ended by a user")
        pictures, _ = captured(fetched(client, record), H264)
        expected, _ = sent(units, H264)
        assert pictures
        assert pictures == expected[: len(pictures)]


def test_live_video_is_captured_for_its_time_and_holds_the_stream_meanwhile(
    server, connected, eventually, attempts
):
    units = footage(5)
    for attempt in attempts():
        phone = f"1394445{attempt.number}003"
        with attempt, server.client() as client, connected(server, phone) as peer:
            device_id = device_of(client, peer)
            # Two seconds; nobody reads the stream, which then ends after one.
            with attempt.within(0.5):
                capture = capture_of(client, device_id, live="true", minutes=0.034)
                asked = peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
                sender = Jt1078Sender(peer.terminal.identity.number)
                media = socket.create_connection((asked.host, asked.tcp_port), timeout=40)
            with media:
                began = time.monotonic()
                with contextlib.suppress(ConnectionError):
                    for unit in units:
                        at = (unit.timestamp - units[0].timestamp) / 1000
                        with attempt.within(0.7):
                            time.sleep(max(0.0, began + at - time.monotonic()))
                            media.sendall(sender.encode(unit))
            record = ended(client, capture, eventually)
            assert (record["status"], record["live"]) == ("COMPLETE", True)
            assert (record["startTime"], record["endTime"]) == (None, None)
            assert record["reason"] == "the time it was to last is over"
            pictures, frames = captured(fetched(client, record), H264)
            expected, sounds = sent(units, H264)
            assert 10 <= len(pictures) <= 45
            assert pictures == expected[: len(pictures)]
            assert frames == sounds[: len(frames)]
            told = peer.messages(lambda message: isinstance(message, LiveVideoControl))[-1]
            assert told.control == 0


@pytest.mark.parametrize(
    ("end", "cluster"), [(signal.SIGTERM, None), (signal.SIGKILL, None), (signal.SIGKILL, "north")]
)
@pytest.mark.timeout(300)
def test_after_the_end_of_its_server_a_capture_is_found_and_its_file_plays(
    start_server, connected, eventually, database_url, end, cluster
):
    units = footage(10)
    settings = {**SETTINGS, "MOTORPOOL_DATABASE": database_url}
    if cluster is not None:
        settings["MOTORPOOL_CLUSTER_NAME"] = cluster
    with start_server(settings) as server, connected(server, "13944450004") as peer:
        with server.client() as client:
            device_id = device_of(client, peer)
            capture = capture_of(client, device_id)
            command(client, device_id, "videoPlayback", startTime=START.isoformat())
            asked = peer.messages(lambda message: isinstance(message, PlaybackRequest))[-1]
            sender = Jt1078Sender(peer.terminal.identity.number)
            with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
                media.sendall(b"".join(map(sender.encode, units)))
                # Most of it is written: at least 40 pictures, whatever the sizes of the last ones.
                enough = 0.7 * sum(len(unit.payload) for unit in units)
                eventually(lambda: client.get(f"/captures/{capture['id']}").json()["size"] > enough)
                server.process.send_signal(end)
                server.process.wait(60)
        (path,) = (server.folder / "data" / "media").rglob(capture["fileName"])
        expected, _ = sent(units, H264)

        def check(film):
            pictures, _ = captured(film, H264)
            assert len(pictures) >= 40
            assert pictures == expected[: len(pictures)]

        check(path.read_bytes())
        if end == signal.SIGTERM:
            with av.open(str(path)) as container:
                assert container.duration > 4_000_000
        # The same server again, or another one once the first one is known to be dead.
        shared = {**settings, "MOTORPOOL_DATA": str(server.folder / "data")}
        with (
            start_server(shared) as other,
            httpx.Client(base_url=f"{other.url}/api", auth=(EMAIL, server.password), timeout=60) as client,
        ):
            record = ended(client, capture, eventually)
            reason = "the server was stopped" if end == signal.SIGTERM else SERVER_ENDED
            assert (record["status"], record["reason"]) == ("COMPLETE", reason)
            check(fetched(client, record))

            def listed(**query):
                return client.get("/captures", params=query).json()

            assert listed() == listed(deviceId=device_id, to=capture["startedAt"]) == [record]
            assert listed(deviceId=device_id) == ([] if cluster is None else [record])
