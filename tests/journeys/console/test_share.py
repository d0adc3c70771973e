"""Journey 19: a share link shows what is shared, nothing else, and until it ends (docs/console.md#share)."""

import httpx
import pytest
from playwright.sync_api import expect

PHONE_SIZE = {"width": 390, "height": 844}
OVER = "This link has ended"


@pytest.fixture(scope="module")
def report(server):
    """`report(number, speed)`: what a vehicle sends, in knots."""

    def send(number, speed):
        values = {"id": number, "lat": 41.15, "lon": -8.61, "speed": speed}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200

    return send


@pytest.fixture(scope="module")
def fleet(server, report):
    """Ids of two vehicles of a group, by name."""
    with server.client() as client:
        group = client.post("/groups", json={"name": "South"}).json()["id"]
        ids = {}
        for number in ("1", "2"):
            device = {"name": f"Van {number}", "uniqueId": f"van{number}", "groupId": group}
            device["attributes"] = {"channels": 2}
            ids[device["name"]] = client.post("/devices", json=device).json()["id"]
            report(f"van{number}", 20)
    return ids


def test_a_link_shows_one_vehicle_until_it_is_ended(server, visitor, fleet, report):
    shared, other = fleet["Van 1"], fleet["Van 2"]
    owner = visitor(server, webgl=False)
    owner.log_in(f"/vehicles/{shared}")
    owner.page.get_by_role("button", name="More: Van 1").click()
    owner.page.get_by_role("menuitem", name="Share").click()
    dialog = owner.page.get_by_role("dialog", name="Share Van 1")
    expect(dialog).to_contain_text("Live video of its cameras")
    expect(dialog).to_contain_text("Nothing is shared.")
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.get_by_label("Link", exact=True).get_by_role("textbox").input_value()
    expect(dialog.get_by_role("img", name="The link as a QR code")).to_be_visible()
    expect(dialog.get_by_role("listitem").filter(has_text="until")).to_contain_text("Van 1")
    owner.assert_accessible()

    guest = visitor(server, viewport=PHONE_SIZE)
    page = guest.page
    asked = []
    page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
    guest.open(link.removeprefix(server.url))
    expect(page.get_by_role("heading", name="Van 1")).to_be_visible()
    # No log of a proxy shows the token, nor does the history of the browser.
    token = link.partition("#token=")[2]
    assert token
    assert not any(token in address for address in asked)
    # Where the page is open already, the link changes the fragment alone.
    with page.expect_response("**/api/session/token/login") as answered:
        page.evaluate("link => { window.location.href = link }", link)
    assert answered.value.status == 200
    expect(page).to_have_url(f"{server.url}/share")
    expect(page.get_by_text("37 km/h")).to_be_visible()
    expect(page.get_by_role("region", name="Map of the vehicles")).to_be_visible()
    assert "token" not in page.url
    report("van1", 30)
    expect(page.get_by_text("56 km/h")).to_be_visible()
    guest.assert_accessible()
    guest.assert_fits()
    page.get_by_role("link", name="Live").click()
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Live"])

    # No place of users, and no other vehicle.
    guest.draw_no_maps()
    for path in ("/fleet", "/account", f"/vehicles/{other}", f"/vehicles/{shared}/commands", "/share"):
        guest.open(path)
        expect(page.get_by_role("heading", name="Van 1")).to_be_visible()
        expect(page.get_by_role("navigation")).to_have_count(0)
        expect(page.get_by_text("Van 2")).to_have_count(0)
    api = guest.context.request
    for path in (f"/devices/{other}", f"/stream/{other}/1/live.m3u8"):
        assert api.get(f"{server.url}/api{path}").status == 404
    assert api.get(f"{server.url}/api/recordings/{other}").status == 400
    assert [each["id"] for each in api.get(f"{server.url}/api/devices").json()] == [shared]

    guest.expected |= {(401, f"/api/devices{path}") for path in ("", "/motion", f"/{shared}")}
    dialog.get_by_role("button", name="End").click()
    expect(dialog).to_contain_text("Nothing is shared.")
    expect(dialog.get_by_role("img")).to_have_count(0)
    expect(page.get_by_role("heading", name=OVER)).to_be_visible()
    expect(page.get_by_text("Van 1")).to_have_count(0)
    guest.expected.add((404, "/api/session/token/login"))
    guest.open(link.removeprefix(server.url))
    expect(page.get_by_role("heading", name=OVER)).to_be_visible()
    guest.assert_accessible()
