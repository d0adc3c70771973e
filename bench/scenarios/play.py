"""Minutes of live video in Chromium with hls.js and in ffmpeg at once; stalls are counted (decisions 35)."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from motorpool.bench.figures import Goal, Report
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.players import Played, play_in_chromium, play_in_ffmpeg
from motorpool.bench.server import EMAIL, Server, run_server

NAME = "play"
TITLE = "Chromium with hls.js and ffmpeg play a simulated vehicle's camera for --minutes; stalls are counted"
STEPS = 2
VEHICLES = 2
MISSING_SECONDS = 15.0
"""A player may be so much behind at the end: it starts late and stays some segments behind the camera."""


def run(options: Options, report: Report, step: Step) -> None:
    """Play, with two vehicles on the road."""
    seconds = options.span(options.minutes * 60)
    step("starting the fleet")
    with run_server() as server, _fleet(server):
        device = _second_online(server)
        step(f"playing for {seconds / 60:g} minutes")
        playlist = f"{server.url}/api/stream/{device}/1/live.m3u8"
        with ThreadPoolExecutor(2) as pool:
            chromium = pool.submit(play_in_chromium, server.url, EMAIL, server.password, seconds)
            ffmpeg = pool.submit(play_in_ffmpeg, playlist, EMAIL, server.password, seconds)
            _report(report, "Chromium", seconds, chromium.result())
            _report(report, "ffmpeg", seconds, ffmpeg.result())


def _report(report: Report, player: str, seconds: float, played: Played) -> None:
    least = Goal(max(1.0, seconds - MISSING_SECONDS), at_least=True)
    report.add(NAME, f"{player} played", played.seconds, "s", goals=(least,))
    report.add(NAME, f"{player} stalls", played.stalls, "stalls", goals=(Goal(0),))
    report.add(NAME, f"{player} complaints", len(played.complaints), "lines")
    for complaint in played.complaints[:3]:
        report.note(f"{player}: {complaint}")


@contextlib.contextmanager
def _fleet(server: Server) -> Iterator[None]:
    """Let the simulated vehicles drive, in a process of their own."""
    login = server.folder / "login.json"
    login.touch(mode=0o600)
    login.write_text(json.dumps({"email": EMAIL, "password": server.password}), encoding="utf-8")
    arguments = ["--server", server.url, "--port-offset", str(server.offset), "--vehicles", str(VEHICLES)]
    with subprocess.Popen(
        [sys.executable, "-m", "motorpool", "simulate", *arguments, "--credentials", str(login)],
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


def _second_online(server: Server) -> int:
    """Wait for the vehicles, and find the id of the second: Chromium plays the first."""
    with server.client() as client:
        for _ in range(60):
            devices = client.get("/devices", params={"all": "true"}).json()
            online: list[int] = [device["id"] for device in devices if device["status"] == "online"]
            if len(online) == VEHICLES:
                return max(online)
            time.sleep(0.5)
    raise BenchError("the simulated vehicles do not come online")
