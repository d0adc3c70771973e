"""Device, server, HTTP: terminals with odd channels, with media under another number, with one connection."""

import contextlib
import io
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import av
import m3u8
import msgspec
import pytest

from motorpool.bench.vehicles.jt808.platform_messages import (
    LiveVideoControl,
    LiveVideoRequest,
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import Recording

FPS = 10
ALONE = "127.0.0.2"
"""An address of this machine that no other terminal comes from."""
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def film():
    """Six seconds with a key frame each second."""
    coder = av.CodecContext.create("libx264", "w")
    coder.width, coder.height, coder.pix_fmt = 64, 64, "yuv420p"
    coder.time_base, coder.framerate = Fraction(1, FPS), Fraction(FPS)
    keys = f"keyint={FPS}:min-keyint={FPS}:scenecut=0:repeat-headers=1"
    coder.options = {"preset": "ultrafast", "tune": "zerolatency", "x264-params": keys}
    units = []
    for number in range(6 * FPS):
        frame = av.VideoFrame(64, 64, "yuv420p")
        for plane in frame.planes:
            plane.update(bytes([60 + number]) * plane.buffer_size)
        frame.pts = number
        for packet in coder.encode(frame):
            stamp = 1000 * packet.pts // FPS
            units.append(AccessUnit(1, H264, packet.is_keyframe, stamp, bytes(packet), 1000 // FPS))
    return units


@pytest.fixture
def server(playback_server):
    return playback_server


def device_of(client, phone):
    (device,) = client.get("/devices", params={"uniqueId": phone}).json()
    return device


def order(client, device, kind, **attributes):
    command = {"deviceId": device["id"], "type": kind, "attributes": attributes}
    assert client.post("/commands/send", json=command).status_code == 200


def told(peer, kind):
    return peer.messages(lambda message: isinstance(message, kind))[-1]


def playlist(client, device, channel, name="live"):
    answer = client.get(f"/stream/{device['id']}/{channel}/{name}.m3u8")
    assert answer.status_code == 200, answer.text
    return m3u8.loads(answer.text)


def pictures(client, device, channel, listed):
    count = 0
    for entry in listed.segments:
        data = client.get(f"/stream/{device['id']}/{channel}/{entry.uri}").content
        with av.open(io.BytesIO(data)) as container:
            count += len([packet for packet in container.demux(video=0) if packet.size])
    return count


def eventually_listed(client, device, channel, wanted, name="live"):
    deadline = time.monotonic() + 40
    while not wanted(found := playlist(client, device, channel, name)):
        assert time.monotonic() < deadline, found.dumps()
        time.sleep(0.1)
    return found


def media_connection(asked):
    return socket.create_connection((asked.host, asked.tcp_port), timeout=40, source_address=(ALONE, 0))


def test_a_terminal_that_counts_from_nought_and_signs_its_media_with_noughts(server, connected, film):
    phone = "13944440001"
    with server.client() as client, connected(server, phone, address=ALONE) as peer:
        device = device_of(client, phone)
        device["attributes"]["jt1078.channels"] = "0:1,1:2"
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200

        order(client, device, "videoPlaybackList", channel=2)
        asked = told(peer, RecordingListQuery)
        assert asked.channel == 1
        kept = [Recording(number, START, START + timedelta(seconds=6), 0, 2, 1, 1, 1000) for number in (0, 1)]
        peer.send(peer.terminal.recordings(asked.serial, kept))
        deadline = time.monotonic() + 60
        while not (listed := client.get(f"/recordings/{device['id']}").json()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [each["channel"] for each in listed] == [1, 2]

        # Its media says nothing of whose it is; the one open request of its address does.
        sender = Jt1078Sender("0")
        order(client, device, "videoStart", channel=1)
        asked = told(peer, LiveVideoRequest)
        assert asked.channel == 0
        with media_connection(asked) as media:
            for unit in film:
                media.sendall(sender.encode(msgspec.structs.replace(unit, channel=0)))
            found = eventually_listed(client, device, 1, lambda listed: len(listed.segments) >= 5)
            assert pictures(client, device, 1, found) == 5 * FPS
            order(client, device, "videoStop", channel=1)
            assert (stopped := told(peer, LiveVideoControl)).channel == 0
            assert stopped.control == 0

        order(client, device, "videoPlayback", channel=2, startTime=START.isoformat())
        asked = told(peer, PlaybackRequest)
        assert asked.channel == 1
        with media_connection(asked) as media:
            sender = Jt1078Sender("0")
            media.sendall(b"".join(map(sender.encode, film)))
            found = eventually_listed(client, device, 2, lambda listed: len(listed.segments) >= 5, "playback")
            order(client, device, "videoPlaybackControl", channel=2, control="stop")
            assert told(peer, PlaybackControl).channel == 1
        found = eventually_listed(client, device, 2, lambda listed: listed.is_endlist, "playback")
        assert pictures(client, device, 2, found) == len(film)


def test_two_cameras_share_a_connection_and_one_is_stopped(server, connected, film):
    phone = "13944440002"
    with server.client() as client, connected(server, phone) as peer:
        device = device_of(client, phone)
        for channel in (1, 2):
            order(client, device, "videoStart", channel=channel)
            asked = told(peer, LiveVideoRequest)
        sender = Jt1078Sender(phone)
        other = [msgspec.structs.replace(unit, channel=2) for unit in film]

        def both(first, last):
            for one, two in zip(film[first:last], other[first:last], strict=True):
                media.sendall(sender.encode(one) + sender.encode(two))

        with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
            both(0, 25)
            eventually_listed(client, device, 2, lambda listed: len(listed.segments) >= 2)
            order(client, device, "videoStop", channel=2)
            assert told(peer, LiveVideoControl).channel == 2
            # It goes on sending both, and only what is asked for is taken; past the time of its closing.
            both(25, 30)
            time.sleep(6)
            both(30, 60)
            found = eventually_listed(client, device, 1, lambda listed: len(listed.segments) >= 5)
            assert pictures(client, device, 1, found) == 5 * FPS
            order(client, device, "videoStop", channel=1)
            media.settimeout(60)
            with contextlib.suppress(ConnectionError):
                assert media.recv(1024) == b""
            # What came of the second camera while it was on its way out, and nothing of later.
            assert pictures(client, device, 2, playlist(client, device, 2)) <= 30


def test_a_playback_of_before_a_restart_is_gone_and_the_next_goes_on_above_it(
    start_server, database_url, tmp_path, connected, film
):
    settings = {
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_DATA": str(tmp_path / "data"),
        "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
    }
    phone, password, last = "13944440003", None, -1
    for _ in range(2):
        with start_server(settings) as server:
            password = server.password = password or server.password
            with server.client() as client, connected(server, phone) as peer:
                device = device_of(client, phone)
                # Nothing is left of an earlier life, nor does anybody wait for it.
                before = playlist(client, device, 1, "playback")
                assert (before.segments, before.is_endlist) == ([], False)
                assert before.media_sequence > last
                if last >= 0:
                    gone = client.get(f"/stream/{device['id']}/1/playback/{last}.ts")
                    assert gone.status_code == 404
                order(client, device, "videoPlayback", channel=1, startTime=START.isoformat())
                asked = told(peer, PlaybackRequest)
                sender = Jt1078Sender(phone)
                with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
                    media.sendall(b"".join(map(sender.encode, film)))
                    with ThreadPoolExecutor() as pool:
                        read = pool.submit(
                            eventually_listed,
                            client,
                            device,
                            1,
                            lambda listed: len(listed.segments) >= 5,
                            "playback",
                        )
                        found = read.result(60)
                assert found.media_sequence > last
                assert found.segments[0].discontinuity == (last >= 0)
                last = found.media_sequence + len(found.segments) - 1
                assert client.get(f"/stream/{device['id']}/1/playback/{last}.ts").status_code == 200
            server.process.kill()
            server.process.wait()
