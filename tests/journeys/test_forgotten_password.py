"""Somebody who has forgotten his password: the page, the mail, the link, the new password."""

import json
import os
import re
import subprocess
import sys

import pytest
import trio

from motorpool.bench.load.browser import find_chromium
from motorpool.bench.server import EMAIL

# A program of its own: Playwright's loop wants a process for itself.
BROWSER = """
import json, os, sys
from playwright.sync_api import sync_playwright
url, email, picture, chromium = sys.argv[1:]
complaints = []
with sync_playwright() as playwright:
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    browser = playwright.chromium.launch(executable_path=chromium or None, args=[*sandbox, "--disable-gpu"])
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    page.fill("#login input[name=email]", email)
    page.click("#forgotten")
    page.wait_for_function("() => document.querySelector('#greeting').textContent.includes('on its way')")
    print(json.dumps("asked"), flush=True)
    page.goto(sys.stdin.readline().strip())
    page.fill("#reset input[name=password]", "a new one")
    page.fill("#reset input[name=again]", "another")
    page.screenshot(path=picture)
    page.click("#reset button[type=submit]")
    differ = page.wait_for_selector("#reset-refusal:not(:empty)").inner_text()
    page.fill("#reset input[name=again]", "a new one")
    page.click("#reset button[type=submit]")
    page.wait_for_selector("#login:visible")
    told = page.inner_text("#greeting")
    address = page.url
    page.fill("#login input[name=email]", email)
    page.fill("#login input[name=password]", "a new one")
    page.click("#login button[type=submit]")
    page.wait_for_selector("#fleet:visible")
    print(json.dumps({"differ": differ, "told": told, "address": address, "complaints": complaints}))
    browser.close()
"""


@pytest.mark.skipif(
    find_chromium() is None and os.environ.get("CI") != "true", reason="no Chromium on this machine"
)
async def test_a_forgotten_password_is_set_anew_in_a_browser(start_server, mail_server, tmp_path):
    letters = await mail_server()
    mail = {
        "HOST": "127.0.0.1",
        "PORT": str(letters.port),
        "SECURITY": "none",
        "ADDRESS": "fleet@example.org",
    }
    with start_server({f"MOTORPOOL_MAIL_{key}": value for key, value in mail.items()}) as server:
        picture = tmp_path / "reset.png"
        command = [sys.executable, "-c", BROWSER, server.url, EMAIL, str(picture), find_chromium() or ""]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, text=True, **pipes) as browser:  # noqa: ASYNC220 - nothing runs beside it
            assert json.loads(await trio.to_thread.run_sync(browser.stdout.readline)) == "asked"
            _, message = await letters.next()
            (link,) = re.findall(r"http://\S+", message.get_body(("plain",)).get_content())
            assert link.startswith(f"{server.url}/reset-password?passwordReset=")
            told, _ = await trio.to_thread.run_sync(browser.communicate, link + "\n")
            assert browser.returncode == 0
        seen = json.loads(told)
        assert seen["differ"] == "The two are not the same."
        assert seen["told"] == "The new password is set. Log in with it."
        assert seen["address"] == f"{server.url}/"
        assert seen["complaints"] == []
        assert picture.stat().st_size > 5_000
