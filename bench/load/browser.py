"""A viewer: opens the page in Chromium, plays a vehicle's camera, and counts what a person would see.

A program of its own (`python -m motorpool.bench.load.browser`): Playwright's loop wants a process for itself.
Tells one JSON object when it is done.
"""

import argparse
import json
import os
import shutil
import sys
import time

__all__ = ["find_chromium", "watch"]

# Looks twice a second: a picture that stands still although the page wants to play is a stall.
_WATCH = """
() => {
  const video = document.querySelector("#screens video");
  window.stalls = 0;
  setInterval(() => {
    if (video.currentTime === window.lastTime && !video.paused) window.stalls += 1;
    window.lastTime = video.currentTime;
  }, 500);
  return video.currentTime;
}
"""
_START_MS = 60_000


def find_chromium() -> str | None:
    """The browser's path, if this machine has one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def watch(
    url: str,
    email: str,
    password: str,
    seconds: float,
    *,
    vehicles: int = 1,
    row: int = 0,
    picture: str | None = None,
) -> dict[str, object]:
    """Play the camera of the `row`th online vehicle that has one; `picture` names a file for a screenshot.

    Waits until `vehicles` are online. Says what a wrong password gets, the picture's size, seconds played and
    waited, stalls, and errors of the page.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needs the dev extra, as said above

    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(),
            args=[
                *(["--no-sandbox"] if os.getuid() == 0 else []),
                "--disable-gpu",
                "--disable-quic",
                "--disable-background-networking",
                "--disable-component-update",
            ],
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        page.fill("input[name=email]", email)
        page.fill("input[name=password]", "wrong " + password)
        page.click("#login button[type=submit]")
        refusal = page.wait_for_selector("#refusal:not(:empty)")
        refused = refusal.inner_text() if refusal is not None else ""
        page.fill("input[name=password]", password)
        page.click("#login button[type=submit]")
        page.wait_for_function(
            "count => document.querySelectorAll('#devices li .status.online').length >= count",
            arg=vehicles,
            timeout=_START_MS,
        )
        # Functions, not expressions: the page's security policy forbids evaluating text.
        page.wait_for_function("() => document.querySelector('#line').textContent === 'live'")
        page.wait_for_selector("#devices li .where a")
        rows = page.locator("#devices li:has(.status.online):has(button.channel:visible)")
        asked = time.monotonic()
        rows.nth(row).locator("button.channel").first.click()
        page.wait_for_function(
            "() => document.querySelector('#screens video')?.currentTime > 0.2", timeout=_START_MS
        )
        started = time.monotonic() - asked
        began = page.evaluate(_WATCH)
        page.wait_for_timeout(seconds * 1000)
        ended, stalls, width, height = page.evaluate(
            "() => { const video = document.querySelector('#screens video');"
            " return [video.currentTime, window.stalls, video.videoWidth, video.videoHeight]; }"
        )
        online = page.locator("#devices li .status.online").count()
        if picture is not None:
            page.screenshot(path=picture)
        page.click("#screens article button")
        page.click("#leave")
        page.wait_for_selector("#login", state="visible")
        browser.close()
    return {
        "refused": refused,
        "online": online,
        "size": [width, height],
        "started_seconds": started,
        "played_seconds": ended - began,
        "stalls": stalls,
        "complaints": complaints,
    }


def main() -> int:
    """Watch as the command line says; the password comes from the environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("email")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--vehicles", type=int, default=1)
    parser.add_argument("--row", type=int, default=0)
    parser.add_argument("--picture")
    args = parser.parse_args()
    found = watch(
        args.url,
        args.email,
        os.environ["MOTORPOOL_BROWSER_PASSWORD"],
        args.seconds,
        vehicles=args.vehicles,
        row=args.row,
        picture=args.picture,
    )
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
