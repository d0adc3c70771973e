"""Two windows of the console that show the same vehicle (docs/decisions/0274-linked-windows.md)."""

import re

from playwright.sync_api import expect


def test_the_vehicle_that_is_chosen_in_one_window_is_shown_in_the_other(server, visitor):
    with server.client() as client:
        bus, taxi = (
            client.post("/devices", json={"name": name, "uniqueId": name.lower()}).json()["id"]
            for name in ("Bus", "Taxi")
        )
        zone = {"name": "Harbor", "area": "CIRCLE (41.15 -8.61, 500)"}
        harbor = client.post("/geofences", json=zone).json()["id"]
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{bus}/events")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Second window").click()
    other = opened.value
    expect(other).to_have_url(re.compile(f"/vehicles/{bus}/events"))
    expect(other.get_by_role("button", name="Linked")).to_be_visible()

    # Each keeps its place.
    page.get_by_role("link", name="Fleet", exact=True).click()
    page.get_by_role("link", name=re.compile("^Taxi")).click()
    expect(other).to_have_url(re.compile(f"/vehicles/{taxi}/events"))
    expect(other.get_by_role("heading", name="Taxi")).to_be_visible()
    other.get_by_role("link", name="Fleet", exact=True).click()
    other.get_by_role("link", name=re.compile("^Bus")).click()
    expect(page).to_have_url(re.compile(f"/vehicles/{bus}"))
    expect(page.get_by_role("complementary", name="Vehicle")).to_contain_text("Bus")

    # A place without a vehicle stays; so does a window that is not linked any more.
    page.keyboard.press("Control+k")
    page.keyboard.type("harb")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/zones/{harbor}"))
    other.get_by_role("button", name="Linked").click()
    expect(other.get_by_role("button", name="Second window")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name=re.compile("^Taxi")).click()
    expect(page).to_have_url(re.compile(f"/vehicles/{taxi}"))
    assert f"/vehicles/{bus}" in other.url
