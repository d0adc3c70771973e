"""Minutes of live video and playback in Chromium with hls.js and in ffmpeg at once (docs/decisions/0035)."""

import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.players import Played, play_in_chromium, play_in_ffmpeg
from motorpool.bench.server import EMAIL, Server, run_server
from motorpool.runtime.clock import SystemClock

Play = Callable[[], Played]

NAME = "play"
TITLE = (
    "Chromium with hls.js and ffmpeg play live and playback for --minutes; stalls, errors, age of pictures"
)
SERVER = "own"
STEPS = 5
VEHICLES = 3
"""The last one sends H.265."""
LIVE, PLAYBACK = 1, 2
"""Channels for live video and for playback."""
MISSING_SECONDS = 15.0
"""Allowed delay of a player at the end: it starts late and stays some segments behind the camera."""
PART_SECONDS = 0.5
"""Setting of the Low-Latency HLS phase."""
LOW_LATENCY_SECONDS = 60.0
"""Longest duration of that phase."""
FIRST_PICTURE_SECONDS = 4.0
"""Longest time from the first request to a camera's picture; segments are 2 s long."""
FIRST_PART_SECONDS = 1.5
"""Longest time until a camera whose key frames are a second apart can be played from its parts."""
AGED_SECONDS = 3.0
"""Largest age of a picture with Low-Latency HLS."""
RECORDED = timedelta(hours=3)
"""Age of the recording that is played back."""
FIRST_SEGMENT_SECONDS = 20.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Play everything at once, then live video with Low-Latency HLS."""
    seconds = options.span(options.minutes * 60)
    step("starting the fleet")
    with run_server() as server, _fleet(server, VEHICLES):
        devices = _online(server, VEHICLES)
        step(f"playing for {seconds / 60:g} minutes")
        plays = _plays(server, devices, seconds)
        with ThreadPoolExecutor(len(plays)) as pool:
            playing = {name: pool.submit(play) for name, play in plays.items()}
            for name, future in playing.items():
                _report(summary, name, seconds, future.result())
    step(f"hls.js with its default settings for {seconds / 60:g} minutes")
    with run_server() as server, _fleet(server, 1):
        (device,) = _online(server, 1)
        path = f"/api/stream/{device}/{LIVE}/live.m3u8"
        played = play_in_chromium(server.url, EMAIL, server.password, seconds, playlist=path, stock=True)
        _report(summary, "stock hls.js", seconds, played)
        summary.add(NAME, "stock hls.js started", played.started, "s", goals=(Goal(FIRST_PICTURE_SECONDS),))
    step("Low-Latency HLS")
    settings = {"MOTORPOOL_VIDEO_PART_SECONDS": f"{PART_SECONDS:g}"}
    with run_server(settings) as server, _fleet(server, 1):
        (device,) = _online(server, 1)
        first = _time_first_part(server, device)
        summary.add(NAME, "first part after videoStart", first, "s", goals=(Goal(FIRST_PART_SECONDS),))
        seconds = min(seconds, LOW_LATENCY_SECONDS)
        played = play_in_chromium(server.url, EMAIL, server.password, seconds)
        _report(summary, "Chromium, low latency", seconds, played, oldest=(Goal(AGED_SECONDS),))
        least = Goal(max(0.0, seconds - MISSING_SECONDS) / PART_SECONDS, at_least=True)
        summary.add(NAME, "Chromium, low latency parts", played.parts, "parts", goals=(least,))
    step("done")


def _plays(server: Server, devices: list[int], seconds: float) -> dict[str, Play]:
    """Return the players by name."""
    with server.client() as client:
        for device in devices:
            _order_playback(client, device, seconds)
        for device in devices:
            _await_playback(client, device)
    first, second, third = (f"/api/stream/{device}" for device in devices)
    live, playback = f"{LIVE}/live.m3u8", f"{PLAYBACK}/playback.m3u8"

    def chromium(playlist: str | None = None) -> Play:
        return lambda: play_in_chromium(server.url, EMAIL, server.password, seconds, playlist=playlist)

    def ffmpeg(playlist: str) -> Play:
        return lambda: play_in_ffmpeg(f"{server.url}{playlist}", EMAIL, server.password, seconds)

    return {
        "Chromium live": chromium(),
        "Chromium playback": chromium(f"{first}/{playback}"),
        "ffmpeg live": ffmpeg(f"{second}/{live}"),
        "ffmpeg playback": ffmpeg(f"{second}/{playback}"),
        "ffmpeg live, H.265": ffmpeg(f"{third}/{live}"),
        "ffmpeg playback, H.265": ffmpeg(f"{third}/{playback}"),
    }


def _report(
    summary: Summary, player: str, seconds: float, played: Played, *, oldest: tuple[Goal, ...] = ()
) -> None:
    least = Goal(max(1.0, seconds - MISSING_SECONDS), at_least=True)
    summary.add(NAME, f"{player} played", played.seconds, "s", goals=(least,))
    summary.add(NAME, f"{player} stalls", played.stalls, "stalls", goals=(Goal(0),))
    summary.add(NAME, f"{player} errors", len(played.complaints), "lines", goals=(Goal(0),))
    if played.ages and "playback" not in player:
        summary.add(NAME, f"{player} glass to glass, median", statistics.median(played.ages), "s")
        summary.add(NAME, f"{player} glass to glass, worst", max(played.ages), "s", goals=oldest)
    for complaint in played.complaints[:3]:
        summary.note(f"{player}: {complaint}")


def _order_playback(client: httpx.Client, device: int, seconds: float) -> None:
    begin = SystemClock().now() - RECORDED
    # The recording is longer than the play, so no player reaches its end.
    end = begin + timedelta(seconds=seconds + 120)
    span = {"startTime": begin.isoformat(), "endTime": end.isoformat()}
    order = {"deviceId": device, "type": "videoPlayback", "attributes": {"channel": PLAYBACK, **span}}
    answer = client.post("/commands/send", json=order)
    if answer.status_code != 200:
        raise BenchError(f"videoPlayback answered {answer.status_code}: {answer.text[:200]}")


def _time_first_part(server: Server, device: int) -> float:
    """Return the seconds from videoStart, with whose answer the first key frame comes, to the first part."""
    with server.client() as client:
        begun = time.monotonic()
        order = {"deviceId": device, "type": "videoStart", "attributes": {"channel": LIVE}}
        client.post("/commands/send", json=order)
        while ".ts" not in client.get(f"/stream/{device}/{LIVE}/live.m3u8").text:
            if time.monotonic() - begun > FIRST_SEGMENT_SECONDS:
                raise BenchError(f"device {device} sends no live video")
        return time.monotonic() - begun


def _await_playback(client: httpx.Client, device: int) -> None:
    deadline = time.monotonic() + FIRST_SEGMENT_SECONDS
    while ".ts" not in client.get(f"/stream/{device}/{PLAYBACK}/playback.m3u8").text:
        if time.monotonic() > deadline:
            raise BenchError(f"device {device} sends no playback")
        time.sleep(0.2)


@contextlib.contextmanager
def _fleet(server: Server, vehicles: int) -> Iterator[None]:
    """Run the simulated vehicles as a process."""
    login = server.folder / "login.json"
    login.touch(mode=0o600)
    login.write_text(json.dumps({"email": EMAIL, "password": server.password}), encoding="utf-8")
    arguments = ["--server", server.url, "--port-offset", str(server.offset), "--credentials", str(login)]
    arguments += ["--vehicles", str(vehicles), "--h265", str(vehicles // VEHICLES), "--stamped"]
    with subprocess.Popen(
        [sys.executable, "-m", "motorpool", "simulate", *arguments],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _online(server: Server, vehicles: int) -> list[int]:
    """Wait for the vehicles and return their ids in the order of their names; Chromium plays the first."""
    with server.client() as client:
        for _ in range(60):
            devices = client.get("/devices", params={"all": "true"}).json()
            online = {device["name"]: device["id"] for device in devices if device["status"] == "online"}
            if len(online) == vehicles:
                return [online[name] for name in sorted(online)]
            time.sleep(0.5)
    raise BenchError("the simulated vehicles do not come online")
