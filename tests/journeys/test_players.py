"""What players make of the playlists: hls.js in Chromium and FFmpeg, live and playback, side by side."""

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import m3u8
import pytest

from motorpool.bench.load.browser import find_chromium
from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoRequest, PlaybackRequest
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.runtime.clock import SystemClock

SECONDS = 6
"""Longer plays are runs of `motorpool bench play`."""
LOW_LATENCY_SECONDS = 5
FPS = 15
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
CLOCK = SystemClock()
DRIVE = Drive(ROUND_TRIPS[0], seed=1)

needs_chromium = pytest.mark.skipif(
    find_chromium() is None and os.environ.get("CI") != "true", reason="no Chromium on this machine"
)


COMES_LATE = {
    f"{name} false"
    for name in (
        # Its own: it seeks nearer to the end, and no longer wants what it was loading.
        "aborted",
        "bufferStalledError",
        "bufferNudgeOnStall",
        "bufferSeekOverHole",
        "fragLoadTimeOut",
        "levelLoadTimeOut",
    )
}
"""What hls.js reports, as not fatal, where the machine is too busy to play in time."""


@contextlib.contextmanager
def serving(start_server, page_port, **settings):
    """A server whose answers a page of one other origin may read; that page's port is `page_port`."""
    named = {f"MOTORPOOL_{name.upper()}": value for name, value in settings.items()}
    with start_server({"MOTORPOOL_HTTP_CORS_ORIGIN": f"http://127.0.0.1:{page_port}", **named}) as server:
        server.page_port = page_port
        yield server


class Terminal:
    """One device: films what is to be seen when it is asked to, until it is told to end."""

    def __init__(self, peer, coding=H264):
        self.peer = peer
        size = (640, 360) if coding is H264 else (320, 180)  # H.265 is dear, and Chromium plays none
        self.film = VideoFormat(width=size[0], height=size[1], frames_per_second=FPS, coding=coding, kbps=400)
        self.shown_at = {}
        """When each picture was filmed, in seconds since 1970."""
        self.ended = threading.Event()

    def send_live(self):
        asked = self.peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
        self.peer.send(self.peer.terminal.general_response(asked))
        camera = Camera("Bench", 1, self.film)
        sender = Jt1078Sender(self.peer.terminal.identity.number, 6)
        began, first = time.monotonic(), CLOCK.now()
        with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
            while not self.ended.is_set():
                number = camera.frames
                self.ended.wait(max(0.0, began + number / FPS - time.monotonic()))
                self.shown_at[number] = CLOCK.now().timestamp()
                # A steady rate on the camera's own clock, however late this machine is.
                instant = first + timedelta(seconds=number / FPS)
                units = camera.encode_frame(DRIVE.at(number / FPS), instant)
                media.sendall(b"".join(map(sender.encode, units)))

    def send_recording(self, seconds):
        asked = self.peer.messages(lambda message: isinstance(message, PlaybackRequest))[-1]
        self.peer.send(self.peer.terminal.recordings(asked.serial, []))
        camera = Camera("Bench", 1, self.film)
        sender = Jt1078Sender(self.peer.terminal.identity.number, 6)
        with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
            for number in range(seconds * FPS):
                instant = START + timedelta(seconds=number / FPS)
                units = camera.encode_frame(DRIVE.at(number / FPS), instant)
                media.sendall(b"".join(map(sender.encode, units)))


def device_of(client, peer):
    (device,) = client.get("/devices", params={"uniqueId": peer.terminal.identity.number.lstrip("0")}).json()
    return device["id"]


def order(client, device_id, kind, **attributes):
    body = {"deviceId": device_id, "type": kind, "attributes": {"channel": 1, **attributes}}
    assert client.post("/commands/send", json=body).status_code == 200


def until_listed(client, path, count, seconds=30):
    deadline = time.monotonic() + seconds
    while len(m3u8.loads(client.get(path).text).segments) < count:
        assert time.monotonic() < deadline, path
        time.sleep(0.2)


def watch(server, token, paths, seconds, *, nearest=False):
    """Play in Chromium, on a page of another origin; what it tells of each path."""
    common = {"token": token, "nearest": nearest}
    players = [{"name": path, "url": f"{server.url}/api{path}", **common} for path in paths]
    watched = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "watching.py")],
        input=json.dumps({"port": server.page_port, "players": players, "seconds": seconds}),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert watched.returncode == 0, watched.stderr
    told = json.loads(watched.stdout)
    assert told["complaints"] == []
    return told["players"]


def run_ffmpeg(server, token, path, seconds):
    """Decode so many seconds; how many pictures there were, and what FFmpeg complains of."""
    played = subprocess.run(
        [
            *("ffmpeg", "-nostdin", "-loglevel", "warning", "-progress", "pipe:1"),
            *("-headers", f"Authorization: Bearer {token}\r\n", "-i", f"{server.url}/api{path}"),
            # Times as the camera had them: no steady rate is made of them, on which two may fall together.
            *("-fps_mode", "passthrough", "-enc_time_base", "-1"),
            *("-t", str(seconds), "-f", "null", "-"),
        ],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    frames = [int(line[6:]) for line in played.stdout.splitlines() if line.startswith("frame=")]
    return frames[-1], played.stderr.splitlines()


def assert_played(told, seconds):
    """So many seconds were played in order; whether they ever stood still is for `motorpool bench play`."""
    times = told["times"]
    assert times[-1][1] - times[0][1] > seconds - 1
    read = [number for _, number in told["seen"]]
    # Its time may run before the first picture is decoded.
    shown = list(itertools.dropwhile(lambda number: number is None, read))
    numbers = [number for number in shown if number is not None]
    assert len(shown) > len(read) / 2
    assert len(numbers) > 0.9 * len(shown)
    assert numbers == sorted(numbers)
    assert [error for error in told["errors"] if error not in COMES_LATE] == []
    for text in told["playlists"]:
        assert m3u8.loads(text).segments


@needs_chromium
@pytest.mark.timeout(300)
def test_hls_js_and_ffmpeg_play_live_and_playback_side_by_side(start_server, connected, free_port):
    with (
        serving(start_server, free_port(), video_playback_return_seconds="1") as server,
        server.client() as client,
        connected(server, "13955550001") as first,
        connected(server, "13955550002") as second,
        ThreadPoolExecutor() as pool,
    ):
        token = client.post("/session/token").text
        terminals = [Terminal(first), Terminal(second, H265)]
        ids = [device_of(client, terminal.peer) for terminal in terminals]
        span = {"startTime": START.isoformat(), "endTime": (START + timedelta(minutes=5)).isoformat()}
        sending = []
        try:
            for terminal, device_id in zip(terminals, ids, strict=True):
                order(client, device_id, "videoPlayback", **span)
                terminal.send_recording(SECONDS + 4)
                order(client, device_id, "videoStart")
                sending.append(pool.submit(terminal.send_live))
            paths = [
                f"/stream/{device_id}/1/{name}.m3u8" for device_id in ids for name in ("live", "playback")
            ]
            for path in paths:
                until_listed(client, path, 3)
            decoding = [pool.submit(run_ffmpeg, server, token, path, SECONDS) for path in paths]
            told = watch(server, token, paths[:2], SECONDS)
            decoded = [each.result(120) for each in decoding]
        finally:
            for terminal in terminals:
                terminal.ended.set()
        for each in sending:
            each.result(60)
    for path in paths[:2]:
        assert_played(told[path], SECONDS)
    for frames, complaints in decoded:
        assert frames >= FPS * SECONDS - 2
        assert [line for line in complaints if "rror" in line or "orrupt" in line] == []


@needs_chromium
@pytest.mark.timeout(300)
def test_where_there_are_parts_a_viewer_plays_them(start_server, connected, free_port):
    with (
        serving(start_server, free_port(), video_part_seconds="0.4") as server,
        server.client() as client,
        connected(server, "13955550003") as peer,
        ThreadPoolExecutor() as pool,
    ):
        token = client.post("/session/token").text
        terminal = Terminal(peer)
        path = f"/stream/{device_of(client, peer)}/1/live.m3u8"
        order(client, device_of(client, peer), "videoStart")
        sending = pool.submit(terminal.send_live)
        try:
            until_listed(client, path, 4)
            decoding = pool.submit(run_ffmpeg, server, token, path, LOW_LATENCY_SECONDS)
            told = watch(server, token, [path], LOW_LATENCY_SECONDS, nearest=True)[path]
            frames, complaints = decoding.result(120)
        finally:
            terminal.ended.set()
        sending.result(60)
    assert_played(told, LOW_LATENCY_SECONDS)
    behind = [at / 1000 - terminal.shown_at[number] for at, number in told["seen"] if number is not None]
    assert max(behind) > 0
    assert told["parts"] > 0
    assert frames >= FPS * LOW_LATENCY_SECONDS - 2
    assert [line for line in complaints if "rror" in line or "orrupt" in line] == []
