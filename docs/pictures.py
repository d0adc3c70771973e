"""Makes pictures of every place of the console, of a demonstration that it starts, into build/pictures.

    .venv/bin/python docs/pictures.py              all places, 1400, 900 and 390 pixels wide, light and dark
    .venv/bin/python docs/pictures.py fleet live   some places
    .venv/bin/python docs/pictures.py --server http://127.0.0.1:8082 --email demo@motorpool.local

The password for a server that runs is read from MOTORPOOL_PASSWORD.

Each place also gets a sheet with all its pictures side by side. Errors of the page are printed.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, sync_playwright

from motorpool.bench.load.browser import find_chromium
from motorpool.bench.server import LOG_FILE, run_server

TARGET = Path(__file__).resolve().parent.parent / "build" / "pictures"
SIZES = ((1400, 900), (900, 1000), (390, 844))
SCHEMES = ("light", "dark")
PHONE = 700
"""Narrower windows are those of a phone, with touch."""
PLACES = {
    "login": "/login",
    "fleet": "/fleet",
    "vehicle": "/vehicles/{device}",
    "live": "/vehicles/{device}/live",
    "wall": "/live",
    "history": "/vehicles/{device}/history?from=now/d&to=now",
    "events": "/events",
    "vehicle-events": "/vehicles/{device}/events",
    "commands": "/vehicles/{device}/commands",
    "settings": "/vehicles/{device}/settings",
    "zones": "/zones",
    "account": "/account",
}
WITHOUT_LOGIN = {"login"}
SETTLE_MS = 3000
START_SECONDS = 90
SHEET_HEIGHT = 700


@dataclass(frozen=True)
class Access:
    """A server and a login."""

    url: str
    email: str
    password: str


@contextlib.contextmanager
def demonstration() -> Iterator[Access]:
    """Start the demonstration in a folder of its own, and wait until its vehicles are online."""

    def start(folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        known = {name: text for name, text in environment.items() if "ADMIN" not in name}
        command = [sys.executable, "-m", "motorpool", "serve", "--demo"]
        with (folder / LOG_FILE).open("ab") as log:
            return subprocess.Popen(command, cwd=folder, env=known, stdout=log, stderr=log)  # noqa: S603

    with run_server({}, start) as server:
        login = json.loads(next((server.folder / "data").rglob("login.json")).read_text(encoding="utf-8"))
        yield Access(server.url, login["email"], login["password"])


def log_in(context: BrowserContext, access: Access) -> None:
    """Give the browser a session."""
    form: dict[str, str | float | bool] = {"email": access.email, "password": access.password}
    answer = context.request.post(f"{access.url}/api/session", form=form)
    if not answer.ok:
        sys.exit(f"the login was refused: {answer.text()}")


def find_device(context: BrowserContext, access: Access) -> int:
    """Return an online vehicle, as soon as there is one."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        devices: list[dict[str, Any]] = context.request.get(f"{access.url}/api/devices").json()
        for device in devices:
            if device["status"] == "online" and device["positionId"]:
                return int(device["id"])
        time.sleep(1)
    sys.exit("no vehicle is online")


def picture(browser: Browser, access: Access, name: str, device: int) -> None:
    """Write the pictures of a place."""
    files = []
    for width, height in SIZES:
        for scheme in SCHEMES:
            phone = width < PHONE
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                has_touch=phone,
                is_mobile=phone,
                locale="en-US",
            )
            if name not in WITHOUT_LOGIN:
                log_in(context, access)
            page = context.new_page()
            watch(page, f"{name} {width} {scheme}")
            page.goto(access.url + PLACES[name].format(device=device))
            page.wait_for_timeout(SETTLE_MS)
            files.append(TARGET / f"{name}-{width}-{scheme}.png")
            page.screenshot(path=files[-1])
            context.close()
    write_sheet(files, TARGET / f"{name}.png")


def watch(page: Page, place: str) -> None:
    """Print the errors of a page."""

    def print_message(message: ConsoleMessage) -> None:
        # That a session is asked for in vain is no fault on the page of the login.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            print(f"{place}: {message.text}")

    def print_refusal(response: Response) -> None:
        if response.status >= 400 and not response.url.endswith("/api/session"):
            print(f"{place}: {response.status} {response.url}")

    page.on("pageerror", lambda error: print(f"{place}: {error}"))
    page.on("console", print_message)
    page.on("response", print_refusal)


def write_sheet(files: list[Path], target: Path) -> None:
    """Put pictures side by side, scaled to one height."""
    pictures = [Image.open(file).convert("RGB") for file in files]
    scaled = [each.resize((each.width * SHEET_HEIGHT // each.height, SHEET_HEIGHT)) for each in pictures]
    # Light ones above, dark ones below.
    rows = [scaled[0::2], scaled[1::2]]
    sheet = Image.new("RGB", (sum(each.width for each in rows[0]) + 20 * len(rows[0]), 2 * SHEET_HEIGHT + 20))
    for number, row in enumerate(rows):
        left = 0
        for each in row:
            sheet.paste(each, (left, number * (SHEET_HEIGHT + 20)))
            left += each.width + 20
    sheet.save(target)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Make pictures of the console's places.")
    parser.add_argument("places", nargs="*", choices=[*PLACES, []], help="which; none: all")
    parser.add_argument("--server", help="URL of a server that runs; without it a demonstration is started")
    parser.add_argument("--email", default="demo@motorpool.local")
    options = parser.parse_args()
    TARGET.mkdir(parents=True, exist_ok=True)
    running = (
        contextlib.nullcontext(
            Access(options.server, options.email, os.environ.get("MOTORPOOL_PASSWORD", ""))
        )
        if options.server
        else demonstration()
    )
    with running as access, sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        context = browser.new_context()
        log_in(context, access)
        device = find_device(context, access)
        for name in options.places or PLACES:
            picture(browser, access, name, device)
            print(TARGET / f"{name}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
