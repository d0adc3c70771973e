"""Users, groups and links by their pages, with the eyes of a user, and the first steps of a new fleet."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from tests.journeys.console.test_phone import SIZE, assert_for_fingers

PASSWORD = "a password of Ana's own"


@pytest.fixture(scope="module")
def made(server):
    """`made(path, body)`: the id of a record that the administrator makes."""
    with server.client() as client:

        def make(path, body):
            answer = client.post(path, json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()["id"]

        yield make


def report(server, unique_id):
    values = {"id": unique_id, "lat": 52.5, "lon": 13.4}
    assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200


def test_five_steps_lead_to_the_first_vehicle_on_the_map(server, visitor, made):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in()
    steps = page.get_by_role("list").filter(has_text="You can log in").get_by_role("listitem")
    expect(steps).to_have_count(5)
    expect(steps.nth(0)).to_contain_text("(done)")
    expect(steps.nth(1)).to_have_attribute("aria-current", "step")
    expect(page.get_by_role("link", name="Connect a tracker").last).to_have_attribute("href", "/connect")
    guest.assert_accessible()
    number = made("/devices", {"name": "Van 7", "uniqueId": "van7"})
    # Of itself, by the socket.
    waiting = page.get_by_role("link", name="Wait for Van 7")
    expect(waiting).to_have_attribute("href", f"/connect?deviceId={number}")
    expect(steps.nth(2)).to_have_attribute("aria-current", "step")
    report(server, "van7")
    expect(steps).to_have_count(0)
    expect(page.get_by_role("list", name="Vehicles").get_by_text("Van 7")).to_be_visible()


def test_a_user_is_made_sees_what_is_linked_at_once_and_is_looked_at_by_their_eyes(server, visitor, made):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/users")
    expect(page.get_by_text("Nobody else yet")).to_be_visible()
    guest.assert_accessible()
    page.get_by_role("link", name="New user").click()
    page.get_by_label("Name", exact=True).fill("Ana")
    page.get_by_label("E-mail", exact=True).fill("ana@example.org")
    page.get_by_label("Password", exact=True).fill("short")
    guest.expected.add((400, "/api/users"))
    page.get_by_role("button", name="Make user").click()
    # The server's sentence, beside the field.
    expect(page.get_by_label("Password", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make user").click()
    expect(page.get_by_role("heading", name="Ana", level=1)).to_be_visible()
    expect(page.get_by_text("Sees 0 vehicles.")).to_be_visible()
    guest.assert_accessible()

    ana = visitor(server, webgl=False)
    ana.log_in(email="ana@example.org", password=PASSWORD)
    expect(ana.page.get_by_text("No vehicles yet")).to_be_visible()
    page.get_by_role("link", name="Change links").click()
    page.get_by_role("checkbox", name=re.compile("Van 7")).click()
    expect(page.get_by_text("1 change", exact=True).last).to_be_visible()
    guest.assert_accessible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("1 link changed")).to_be_visible()
    # Journey 16: at once, in a browser that was open before.
    expect(ana.page.get_by_role("list", name="Vehicles").get_by_text("Van 7")).to_be_visible()

    page.get_by_role("link", name="Users", exact=True).first.click()
    page.get_by_role("searchbox").fill("ana")
    row = page.get_by_role("list", name="Users").get_by_role("link")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("May log in")
    row.click()
    expect(page.get_by_text("Sees 1 vehicle.")).to_be_visible()
    page.get_by_role("button", name="What does Ana see?").click()
    bar = page.get_by_role("region", name="You are acting as Ana.")
    expect(bar).to_contain_text("You see what Ana sees. Nothing can be changed.")
    expect(page.get_by_role("list", name="Vehicles").get_by_text("Van 7")).to_be_visible()
    guest.assert_accessible()
    # What changes something is not there, and refused by the server.
    expect(page.get_by_role("link", name="Connect a tracker")).to_have_count(0)
    guest.expected.add((403, "/api/devices/1"))
    refused = page.evaluate(
        """async () => {
          const [device] = await (await fetch("/api/devices")).json();
          const answer = await fetch(`/api/devices/${device.id}`, {
            method: "PUT",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ ...device, name: "Other" }),
          });
          return [answer.status, await answer.text()];
        }"""
    )
    assert refused == [403, "this session only shows what the user sees"]
    bar.get_by_role("button", name=re.compile("Back to ")).click()
    expect(page.get_by_role("heading", name="Ana", level=1)).to_be_visible()
    expect(bar).to_have_count(0)

    # Signed out everywhere, she is asked to log in.
    ana.expect_end_of_session()
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_text("Logged in nowhere.")).to_be_visible()
    expect(ana.page.get_by_role("dialog", name="Your session has ended")).to_be_visible()


def test_groups_are_moved_by_mouse_and_keys_and_what_they_give_is_told_apart(server, visitor, made):
    made("/users", {"name": "Ben", "email": "ben@example.org", "password": "a password of Ben's"})
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/groups")
    for name in ("North", "Harbour", "Depot"):
        page.get_by_role("button", name="New group").click()
        page.get_by_role("dialog").get_by_label("Name", exact=True).fill(name)
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
    rows = page.get_by_role("list", name="Groups").get_by_role("listitem")
    expect(rows).to_have_text([re.compile("Depot"), re.compile("Harbour"), re.compile("North")])
    guest.assert_accessible()
    rows.nth(1).drag_to(rows.nth(2))
    expect(page.get_by_text("Harbour is now in North")).to_be_visible()
    expect(rows.nth(2)).to_have_attribute("style", re.compile("--depth: 1"))
    # By keys: the one before it is the group that it goes into.
    page.get_by_role("link", name="North", exact=True).focus()
    page.keyboard.press("Alt+ArrowRight")
    expect(page.get_by_text("North is now in Depot")).to_be_visible()
    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("North is now in Top level")).to_be_visible()
    expect(rows.nth(1)).to_have_attribute("style", re.compile("--depth: 0"))
    page.get_by_role("button", name="What to do with Harbour").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("Port")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Port", exact=True)).to_be_visible()

    with server.client() as client:
        groups = {each["name"]: each["id"] for each in client.get("/groups", params={"all": True}).json()}
        made("/devices", {"name": "Boat 3", "uniqueId": "boat3", "groupId": groups["Port"]})
        user_id = next(each["id"] for each in client.get("/users").json() if each["name"] == "Ben")
        link = {"userId": user_id, "groupId": groups["North"]}
        assert client.post("/permissions", json=link).status_code == 204
    page.reload()
    expect(rows.nth(1)).to_contain_text("0 vehicles · 1 with those in it")
    page.get_by_role("link", name="Links", exact=True).first.click()
    page.get_by_role("searchbox", name="Search Users").fill("Ben")
    page.get_by_role("list", name="Users").get_by_role("link", name=re.compile("Ben")).click()
    boat = page.get_by_role("listitem").filter(has_text="Boat 3")
    expect(boat).to_contain_text("by the group North")
    expect(boat.get_by_role("checkbox")).not_to_be_checked()

    # Of several changes one is refused: it is named, and the others are saved.
    gone = made("/devices", {"name": "Gone", "uniqueId": "gone"})
    made("/devices", {"name": "Van 9", "uniqueId": "van9"})
    page.reload()
    page.get_by_role("checkbox", name=re.compile("^Gone")).press("Space")
    page.get_by_role("checkbox", name=re.compile("^Van 9")).press("Space")
    with server.client() as client:
        assert client.delete(f"/devices/{gone}").status_code == 204
    guest.expected.add((400, "/api/permissions/bulk"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("1 was refused: Gone")).to_be_visible()
    expect(page.get_by_text("No access to it, or no such")).to_be_visible()
    expect(page.get_by_role("checkbox", name=re.compile("^Van 9"))).to_be_checked()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("1 was refused")).to_have_count(0)
    guest.assert_accessible()


def test_all_of_it_fits_a_phone(server, visitor):
    guest = visitor(server, webgl=False, viewport=SIZE, has_touch=True)
    page = guest.page
    guest.log_in("/admin/users")
    rows = page.get_by_role("list", name="Users").get_by_role("link")
    expect(rows.first).to_be_visible()
    with server.client() as client:
        user_id = next(each["id"] for each in client.get("/users").json() if each["name"] == "Ben")
    for path in (
        "/admin/users",
        "/admin/users/new",
        f"/admin/users/{user_id}",
        "/admin/groups",
        f"/admin/links?id={user_id}",
    ):
        guest.open(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        assert_for_fingers(guest)
    guest.assert_accessible()
    guest.open(f"/admin/links?id={user_id}")
    expect(page.get_by_role("checkbox").first).to_be_visible()
    page.get_by_role("link", name="Links of").click()
    expect(page.get_by_role("list", name="Users").get_by_role("link").first).to_be_visible()
