"""Does the jobs in Chromium: by mouse and keys at a desk, and with a finger on a phone.

A program of its own (`python -m motorpool.bench.jobs.program`), as `bench.load.browser` is. Writes what was
done as a JSON list at its end.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

import httpx
import msgspec

from motorpool.bench.jobs.budgets import JOBS, NUMBERS, Done, Way
from motorpool.bench.jobs.hand import NOTE_ACTS, Hand
from motorpool.bench.jobs.scene import Scene
from motorpool.bench.load.browser import chromium_options, find_headless

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PATIENCE_MS = 60_000


def do_jobs(browser: "Browser", scene: Scene, login: dict[str, str], numbers: tuple[int, ...]) -> list[Done]:
    """Do jobs one after the other in each way."""
    done = []
    chosen = [job for job in JOBS if job.number in numbers]
    for finger in (False, True):
        page = _open(browser, scene.url, login, finger=finger)
        for job in chosen:
            ways = [("touch" if finger else "mouse", job.by_hand)]
            if not finger and job.by_keys:
                ways.append(("keys", job.by_keys))
            for way, do in ways:
                done.append(_do(job.number, way, do, Hand(page, finger=finger), scene))
        page.context.close()
    return done


def _do(number: int, way: str, do: Way, hand: Hand, scene: Scene) -> Done:
    from playwright.sync_api import Error  # noqa: PLC0415 - needs the dev extra

    try:
        seconds = do(hand, scene)
        return Done(number, way, hand.acts, seconds)
    except (Error, httpx.HTTPError, LookupError) as error:
        return Done(number, way, hand.acts, 0.0, " ".join(str(error).split()))


def _open(browser: "Browser", url: str, login: dict[str, str], *, finger: bool) -> "Page":
    context = browser.new_context(
        viewport={"width": 390, "height": 844} if finger else {"width": 1280, "height": 800},
        has_touch=finger,
        is_mobile=finger,
        locale="en-US",
        timezone_id="UTC",
    )
    context.add_init_script(NOTE_ACTS)
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    answer = page.request.post(f"{url}/api/session", form=dict(login))
    if not answer.ok:
        raise SystemExit(f"Error: the login was refused with {answer.status}")
    return page


def main() -> int:
    """Run the command line; the password comes from the environment."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needs the dev extra

    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("email")
    parser.add_argument("report_url", help="address of OsmAnd reports")
    parser.add_argument("--jobs", type=int, nargs="+", default=NUMBERS)
    args = parser.parse_args()
    password = os.environ["MOTORPOOL_BROWSER_PASSWORD"]
    scene = Scene(args.url, args.email, password, args.report_url)
    scene.await_vehicles()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_headless(), args=chromium_options())
        done = do_jobs(browser, scene, {"email": args.email, "password": password}, tuple(args.jobs))
        browser.close()
    sys.stdout.write(msgspec.json.encode(done).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
