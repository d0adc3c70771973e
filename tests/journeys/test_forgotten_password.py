"""Somebody who has forgotten his password: the page, the mail, the link, the new password."""

import json
import os
import re
import subprocess
import sys

import pytest
import trio

from motorpool.bench.load.browser import find_headless
from motorpool.bench.server import EMAIL

# A program of its own: Playwright's loop wants a process for itself.
BROWSER = """
import json, sys
from motorpool.bench.load.browser import chromium_options, find_headless
from playwright.sync_api import sync_playwright
url, email, picture = sys.argv[1:]
complaints = []
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=find_headless(), args=chromium_options())
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    page.get_by_role("button", name="Forgot the password?").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Send me a link").click()
    page.get_by_text("a mail with a link is on its way").wait_for()
    print(json.dumps("asked"), flush=True)
    page.goto(sys.stdin.readline().strip())
    page.get_by_label("New password", exact=True).fill("a new password")
    page.get_by_label("The same again", exact=True).fill("another")
    page.screenshot(path=picture)
    page.get_by_role("button", name="Set the password").click()
    differ = page.get_by_role("alert").inner_text()
    page.get_by_label("The same again", exact=True).fill("a new password")
    page.get_by_role("button", name="Set the password").click()
    page.get_by_role("button", name="Log in").wait_for()
    told = page.locator(".login-text").inner_text()
    address = page.url
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill("a new password")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Log out").wait_for()
    print(json.dumps({"differ": differ, "told": told, "address": address, "complaints": complaints}))
    browser.close()
"""


@pytest.mark.skipif(
    find_headless() is None and os.environ.get("CI") != "true", reason="no Chromium on this machine"
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
        command = [sys.executable, "-c", BROWSER, server.url, EMAIL, str(picture)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, text=True, **pipes) as browser:  # noqa: ASYNC220 - nothing runs beside it
            assert json.loads(await trio.to_thread.run_sync(browser.stdout.readline)) == "asked"
            _, message = await letters.next()
            (link,) = re.findall(r"http://\S+", message.get_body(("plain",)).get_content())
            assert link.startswith(f"{server.url}/reset-password#passwordReset=")
            told, _ = await trio.to_thread.run_sync(browser.communicate, link + "\n")
            assert browser.returncode == 0
        seen = json.loads(told)
        assert seen["differ"] == "The two passwords are not the same."
        assert seen["told"] == "The new password is set. Log in with it."
        assert "passwordReset" not in seen["address"]
        assert seen["complaints"] == []
        assert picture.stat().st_size > 5_000
