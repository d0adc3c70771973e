"""A newcomer in a browser: logs in, sees vehicles drive, plays their cameras."""

import os
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import sync_playwright

from motorpool.bench.server import EMAIL, run_server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PLAY_SECONDS = 30

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("CI") != "true", reason="no Chromium on this machine"
    ),
    pytest.mark.timeout(180),
]

# Counts what a viewer would notice: the picture standing still although the page wants to play.
WATCH = """
() => {
  const video = document.querySelector("#screens video");
  window.stalls = 0;
  window.watching = setInterval(() => {
    if (video.currentTime === window.lastTime && !video.paused) window.stalls += 1;
    window.lastTime = video.currentTime;
  }, 500);
  return video.currentTime;
}
"""


@pytest.fixture(scope="module")
def fleet():
    """A server with two simulated vehicles."""
    with run_server({"MOTORPOOL_REGISTER_UNKNOWN": "false"}) as server:
        arguments = ["--server", server.url, "--port-offset", str(server.offset), "--vehicles", "2"]
        arguments += ["--phones", "1", "--seed", "7"]
        secrets = {"MOTORPOOL_SIMULATE_EMAIL": EMAIL, "MOTORPOOL_SIMULATE_PASSWORD": server.password}
        vehicles = subprocess.Popen(
            [sys.executable, "-m", "motorpool", "simulate", *arguments],
            env={**os.environ, **secrets},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield server
        finally:
            vehicles.terminate()
            vehicles.wait(20)


@pytest.fixture(scope="module")
def page():
    assert CHROMIUM is not None, "CI needs Chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-background-networking",
                "--disable-component-update",
                "--autoplay-policy=no-user-gesture-required",
            ],
        )
        yield browser.new_page()
        browser.close()


def test_a_newcomer_logs_in_sees_vehicles_and_a_live_picture_that_plays(fleet, page):
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(fleet.url)
    page.fill("input[name=email]", EMAIL)
    page.fill("input[name=password]", "wrong")
    page.click("#login button[type=submit]")
    page.wait_for_selector("#refusal:not(:empty)")
    page.fill("input[name=password]", fleet.password)
    page.click("#login button[type=submit]")
    page.wait_for_selector("#devices li .status.online", timeout=60_000)
    page.wait_for_function("document.querySelectorAll('#devices li .status.online').length >= 3")
    page.wait_for_function("document.querySelector('#line').textContent === 'live'")
    page.wait_for_selector("#devices li .where a")

    page.click("#devices li button.channel")
    page.wait_for_function("document.querySelector('#screens video')?.currentTime > 0.5", timeout=30_000)
    size = page.evaluate(
        "[...'wh'].map(x => document.querySelector('#screens video')"
        "[x === 'w' ? 'videoWidth' : 'videoHeight'])"
    )
    assert size == [640, 360]
    start = page.evaluate(WATCH)
    page.wait_for_timeout(PLAY_SECONDS * 1000)
    played = page.evaluate("document.querySelector('#screens video').currentTime") - start
    assert page.evaluate("window.stalls") == 0
    assert played == pytest.approx(PLAY_SECONDS, abs=2)
    folder = os.environ.get("MOTORPOOL_TEST_PICTURES")
    if folder:
        page.screenshot(path=f"{folder}/live.png")
    page.click("#screens article button")
    page.click("#leave")
    page.wait_for_selector("#login", state="visible")
    assert complaints == []
