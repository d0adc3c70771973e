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

    # A wall keeps its cameras: the focus goes to those of the vehicle, and one that gets it is chosen.
    other.goto(f"{server.url}/live?tile={bus}.1&tile={taxi}.1&layout=2x2")
    of_taxi = other.get_by_role("article", name=re.compile("^Taxi"))
    expect(of_taxi).to_be_visible()
    page.get_by_role("link", name=re.compile("^Taxi")).click()
    expect(of_taxi.get_by_role("button").first).to_be_focused()
    other.get_by_role("article", name=re.compile("^Bus")).get_by_role("button").first.focus()
    expect(page).to_have_url(re.compile(f"/vehicles/{bus}"))
    assert "/live?tile=" in other.url

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
    assert "/live?tile=" in other.url


def test_on_a_window_of_middle_width_the_list_is_a_drawer_and_the_panel_lies_below_the_map(server, visitor):
    with server.client() as client:
        truck = client.post("/devices", json={"name": "Truck", "uniqueId": "truck"}).json()["id"]
    guest = visitor(server, webgl=False, viewport={"width": 900, "height": 800})
    page = guest.page
    guest.log_in("/fleet")
    drawer = page.get_by_role("region", name="Vehicles")
    row = drawer.get_by_role("link", name=re.compile("^Truck"))
    expect(row).to_be_visible()
    guest.assert_fits()

    row.click()
    expect(page).to_have_url(re.compile(f"/vehicles/{truck}"))
    panel = page.get_by_role("complementary", name="Vehicle")
    expect(panel).to_contain_text("Truck")
    expect(drawer).to_be_hidden()
    stage, below = page.locator(".list-stage").bounding_box(), panel.bounding_box()
    assert stage["y"] + stage["height"] <= below["y"] + 1
    assert stage["width"] == below["width"]
    guest.assert_fits()
    guest.assert_accessible()

    page.get_by_role("button", name="Vehicles").click()
    expect(row).to_be_visible()
    page.get_by_role("button", name="Fold the list").click()
    expect(drawer).to_be_hidden()
    # The fleet has its list again.
    page.get_by_role("button", name="Close the vehicle").click()
    expect(row).to_be_visible()


def test_on_a_window_of_middle_width_the_list_of_zones_is_a_drawer_too(server, visitor):
    with server.client() as client:
        zone = {"name": "Airport", "area": "CIRCLE (41.24 -8.68, 900)"}
        assert client.post("/geofences", json=zone).status_code == 200
    guest = visitor(server, webgl=False, viewport={"width": 900, "height": 800})
    page = guest.page
    guest.log_in("/zones")
    drawer = page.get_by_role("region", name="Zones", exact=True)
    row = drawer.get_by_role("link", name=re.compile("^Airport"))
    expect(row).to_be_visible()
    # It lies over the map, which has the whole width.
    assert page.locator(".list-stage").bounding_box()["width"] > 900 - drawer.bounding_box()["width"]
    guest.assert_fits()
    drawer.get_by_role("button", name="Fold the list").click()
    expect(drawer).to_be_hidden()
    page.locator(".list-stage").get_by_role("button", name="Zones", exact=True).click()
    row.click()

    # The zone is beside the map, and the list comes back with its key and with the place.
    panel = page.get_by_role("complementary", name="Zone")
    expect(panel.get_by_label("Name", exact=True)).to_have_value("Airport")
    expect(drawer).to_be_hidden()
    guest.assert_fits()
    page.get_by_role("heading", name="Airport").click()
    page.keyboard.press("/")
    expect(drawer.get_by_role("searchbox")).to_be_focused()
    guest.assert_accessible()
    page.go_back()
    expect(row).to_be_visible()
