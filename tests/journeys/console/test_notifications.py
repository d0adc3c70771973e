"""Notifications: what one would have sent, and its ways (docs/console.md#notifications)."""

from datetime import timedelta

import httpx
import pytest
from playwright.sync_api import expect

from motorpool.runtime import SystemClock

ONCE = "1 \u00d7"


@pytest.fixture(scope="module")
def alarmed(server):
    """A vehicle that called for help yesterday at noon."""
    with server.client() as client:
        assert client.post("/devices", json={"name": "Van 401", "uniqueId": "van401"}).status_code == 200
        noon = SystemClock().now().replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
        at = int(noon.timestamp())
        values = {"id": "van401", "lat": 52.5, "lon": 13.4, "timestamp": at, "alarm": "sos"}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200
        yield client


def test_a_notification_is_tried_before_it_is_saved_and_reaches_its_reader(server, alarmed, visitor):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/notifications")
    expect(page.get_by_role("heading", name="Notifications", level=1)).to_be_visible()
    page.get_by_role("button", name="New notification").click()
    dialog = page.get_by_role("dialog", name="New notification")
    trial = dialog.get_by_role("region", name="What would it have sent?")
    trial.get_by_role("button", name="Yesterday").click()
    expect(trial).to_contain_text(f"It concerns 1 event: {ONCE} This page.")
    expect(trial.get_by_role("figure")).to_contain_text("Van 401")
    expect(trial.get_by_role("list", name="Events that it concerns").get_by_role("link")).to_have_count(1)
    guest.assert_accessible()
    # Of the alarms in the form only those that it names.
    dialog.get_by_role("combobox", name="Alarms").fill("jamming")
    page.get_by_role("listbox").get_by_role("option").first.click()
    expect(trial).to_contain_text("The form was changed since.")
    trial.get_by_role("button", name="Yesterday").click()
    expect(trial).to_contain_text("It concerns no event.")
    dialog.get_by_role("list", name="Alarms").get_by_role("button").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    table = page.get_by_role("region", name="Notifications", exact=True).get_by_role("table")
    row = table.get_by_role("row", name="All alarms")
    expect(row).to_contain_text("critical")
    (stored,) = alarmed.get("/notifications").json()
    assert (stored["type"], stored["notificators"]) == ("alarm", "web")

    page.get_by_role("button", name="What would yesterday have sent?").click()
    expect(row).to_contain_text(f"{ONCE} This page")
    switch = row.get_by_role("button", name="This page")
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert alarmed.get(f"/notifications/{stored['id']}").json()["web"] is False
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Test This page").click()
    expect(page.get_by_text("A test is on its way: This page")).to_be_visible()
    guest.assert_accessible()

    page.set_viewport_size({"width": 390, "height": 844})
    guest.assert_fits()
    guest.open("/account?section=notifications")
    own = page.get_by_role("region", name="Notifications", exact=True).first
    expect(own.get_by_role("row", name="All alarms")).to_be_visible()
    guest.assert_fits()
