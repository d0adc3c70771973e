"""The pages about the server itself, by mouse and by keys, with a backup that is fetched and read."""

import re

import pytest
from playwright.sync_api import expect
from tests.journeys.console.test_phone import SIZE

from motorpool.api.exports.backup_archive import VerifiedArchive

PLACES = ("status", "storage", "audit", "backup", "announcement", "statistics", "actors")


@pytest.fixture
def guest(server, visitor):
    found = visitor(server, webgl=False)
    found.log_in("/admin")
    expect(found.page.get_by_role("heading", name="Administration", level=1)).to_be_visible()
    return found


def test_each_page_is_reached_and_can_be_read_by_everybody(guest, server):
    page = guest.page
    for place in PLACES:
        page.goto(f"{server.url}/admin")
        link = page.locator(f".admin-sections a[href='/admin/{place}']")
        title = link.inner_text()
        link.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        guest.assert_accessible()


def test_a_backup_is_fetched_with_the_password_and_stands_in_the_audit_log(guest, server, tmp_path):
    page = guest.page
    page.goto(f"{server.url}/admin/backup")
    guest.expected.add((400, "/api/server/backup"))
    page.get_by_role("button", name="Fetch a backup").click()
    password = page.get_by_label("Current password")
    expect(password).to_have_attribute("aria-invalid", "true")
    password.fill(server.password)
    with page.expect_download() as begun:
        page.keyboard.press("Enter")
    file = tmp_path / "fetched.backup"
    begun.value.save_as(file)
    assert re.fullmatch(r"motorpool-[\d_.-]+\.backup", begun.value.suggested_filename)
    archive = VerifiedArchive(file)
    assert len(b"".join(archive.dump())) > 10_000
    expect(page.get_by_text("The download has begun")).to_be_visible()
    page.goto(f"{server.url}/admin/audit")
    page.get_by_label("Did what").select_option("backupEnd")
    lines = page.locator(".audit-list > li")
    expect(lines).to_have_count(1)
    page.get_by_text("Details").click()
    expect(lines).to_contain_text("true")
    assert "actionType=backupEnd" in page.url
    lines.get_by_role("link", name="server").click()
    expect(page.get_by_text("The server works.")).to_be_visible()


def test_an_announcement_reaches_who_is_logged_in_and_is_hidden_by_them(guest, server, visitor):
    page = guest.page
    page.goto(f"{server.url}/admin/announcement")
    page.get_by_label("Words").first.fill("Down from 2 to 3")
    page.get_by_role("button", name="Show it").click()
    expect(page.get_by_text("All pages show it now")).to_be_visible()
    other = visitor(server, webgl=False)
    other.log_in("/account")
    bar = other.page.get_by_role("region", name="Announcement")
    expect(bar).to_contain_text("Down from 2 to 3")
    other.assert_accessible()
    bar.get_by_role("button", name="Hide the announcement").click()
    expect(bar).to_have_count(0)
    page.get_by_role("button", name="Take it down").click()
    expect(page.get_by_text("The announcement is taken down")).to_be_visible()


def test_the_pages_fit_a_phone(server, visitor):
    guest = visitor(server, webgl=False, viewport=SIZE, has_touch=True)
    page = guest.page
    guest.log_in("/admin/status")
    expect(page.get_by_text("The server works.")).to_be_visible()
    for place in PLACES:
        page.goto(f"{server.url}/admin/{place}")
        expect(page.locator(".section .card").first).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
        assert page.evaluate(
            "[...document.querySelectorAll('.page')].every(e => e.scrollWidth <= e.clientWidth)"
        ), place
        guest.assert_accessible()
