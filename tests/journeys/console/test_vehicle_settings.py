"""The settings of a vehicle: saved, edited by two, deleted (docs/console.md#settings-of-a-vehicle)."""

import pytest
from playwright.sync_api import expect

PASSWORD = "parking garage 7"


@pytest.fixture
def van(server):
    """`van()`: the vehicle as it is stored; one in a group, with attributes."""
    with server.client() as client:
        group = client.post("/groups", json={"name": "North"}).json()["id"]
        device = {"name": "Van 9", "uniqueId": "van9", "phone": "+351 1", "groupId": group}
        device["attributes"] = {"plate": "007", "seats": 5, "speedLimit": 20}
        made = client.post("/devices", json=device).json()
        yield lambda: client.get(f"/devices/{made['id']}").json()
        # Of a vehicle that its test has deleted as well.
        assert client.delete(f"/devices/{made['id']}").status_code == 204


def test_settings_are_saved_on_top_of_another_edit_and_deleted(server, visitor, van):
    before = van()
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{before['id']}/settings")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    expect(page.get_by_label("Speed limit, km/h")).to_have_value("37.04")
    page.get_by_label("Name", exact=True).fill("Van Nine")
    page.get_by_label("Category").select_option("truck")
    page.get_by_label("Cameras").fill("four")
    expect(page.get_by_role("alert")).to_have_text("A number from 0 to 31 is needed.")
    expect(save).to_be_disabled()
    page.get_by_label("Cameras").fill("4")
    page.get_by_label("Value of seats").fill("6")
    page.get_by_role("button", name="Add an attribute").click()
    page.get_by_label("Name of attribute 3").fill("card")
    page.get_by_label("Value of card").fill("0012")
    guest.assert_accessible()

    with server.client() as client:
        other = {**before, "phone": "+351 2", "contact": "Ana"}
        assert client.put(f"/devices/{before['id']}", json=other).status_code == 200
    save.click()
    conflict = page.get_by_role("dialog", name="Changed meanwhile")
    expect(conflict).to_contain_text("It changed: contact and phone.")
    conflict.get_by_role("button", name="Save mine on top").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Van Nine")).to_be_visible()
    expect(save).to_be_disabled()
    after = van()
    assert after == {
        **before,
        "name": "Van Nine",
        "category": "truck",
        "phone": "+351 2",
        "contact": "Ana",
        "attributes": {"plate": "007", "seats": 6, "speedLimit": 20, "channels": 4, "card": "0012"},
    }

    page.get_by_role("button", name="Delete the vehicle").click()
    question = page.get_by_role("dialog", name="Delete Van Nine?")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    page.get_by_role("button", name="Delete the vehicle").click()
    question.get_by_role("button", name="Delete the vehicle").click()
    expect(page.get_by_text("Van Nine is deleted.")).to_be_visible()
    expect(page.get_by_role("link", name="Van Nine")).to_have_count(0)


def test_who_may_not_change_vehicles_has_no_settings(server, visitor, van):
    device = van()
    with server.client() as client:
        clerk = {"name": "Clerk", "email": "clerk@example.org", "password": PASSWORD, "deviceReadonly": True}
        clerk["id"] = client.post("/users", json=clerk).json()["id"]
        link = {"userId": clerk["id"], "deviceId": device["id"]}
        assert client.post("/permissions", json=link).status_code == 204
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(f"/vehicles/{device['id']}/settings", clerk["email"], PASSWORD)
    expect(page.get_by_text("You may not change vehicles.")).to_be_visible()
    expect(page.get_by_role("link", name="Commands")).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_have_count(0)
