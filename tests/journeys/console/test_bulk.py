"""Vehicles in bulk: a table, changes to several, files and groups, by mouse, keys and on a phone."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from tests.journeys.console.test_phone import SIZE, assert_for_fingers

VANS = 60


@pytest.fixture(scope="module")
def fleet(server):
    """Vans 1 to 60, a group North, and one below it."""
    rows = "".join(
        f"Van {number},van{number},{'red' if number % 2 else 'blue'}\n" for number in range(1, VANS + 1)
    )
    with server.client() as client:
        north = client.post("/groups", json={"name": "North"}).json()["id"]
        client.post("/groups", json={"name": "Harbour", "groupId": north})
        made = client.post(
            "/devices/import",
            content=f"name,uniqueId,attributes.color\n{rows}".encode(),
            headers={"Content-Type": "text/csv"},
            timeout=120,
        )
        assert made.json()["created"] == VANS, made.text
    return north


def device(server, unique_id):
    with server.client() as client:
        return client.get("/devices", params={"uniqueId": unique_id}).json()[0]


def test_several_vehicles_are_changed_moved_and_archived_by_mouse(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/devices")
    table = page.get_by_role("grid", name="Vehicles")
    expect(table).to_have_attribute("aria-rowcount", str(VANS + 1))
    guest.assert_accessible()

    # Columns are chosen, and remembered by the account.
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("dialog").get_by_label("color").check()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    head = table.get_by_role("columnheader", name="color")
    expect(head).to_be_visible()
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(table.get_by_role("row").nth(1)).to_contain_text("blue")

    # A range, and one change to all of it.
    table.get_by_role("columnheader", name="Name").get_by_role("button").click()
    boxes = table.get_by_role("checkbox", name="Select", exact=True)
    boxes.nth(0).click()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.get_by_text("5 selected")).to_be_visible()
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Field").select_option("contact")
    dialog.get_by_label("New value").fill("Ana")
    guest.assert_accessible()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("5 vehicles changed")).to_be_visible()
    assert device(server, "van5")["contact"] == "Ana"

    # Rows are dragged onto a group, and come back.
    groups = page.get_by_role("navigation", name="Groups")
    table.get_by_role("row", name=re.compile("^Select Van 1 ")).drag_to(
        groups.get_by_role("button", name="Harbour")
    )
    expect(page.get_by_text("1 vehicle moved: Harbour")).to_be_visible()
    assert device(server, "van1")["groupId"] != 0
    page.get_by_role("button", name="Undo").click()
    expect(groups.get_by_role("button", name="Harbour")).to_have_text(re.compile("0$"))
    assert device(server, "van1")["groupId"] == 0

    # What is archived is refused, and out of sight.
    page.get_by_label("Search vehicles").fill("Van 60")
    expect(table).to_have_attribute("aria-rowcount", "2")
    table.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    assert device(server, "van60")["disabled"] is True
    page.get_by_label("In use", exact=True).select_option("archived")
    expect(table.get_by_role("row").nth(1)).to_contain_text("Van 60")
    # The fleet shows it to who asks for archived ones, with its history.
    guest.open("/fleet?keyword=Van%2060")
    expect(page.get_by_text("No vehicle matches")).to_be_visible()
    page.get_by_role("button", name="Archived 1").click()
    page.get_by_role("link", name=re.compile("^Van 60")).click()
    expect(page.get_by_role("heading", name="Van 60")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^History"))).to_be_visible()
    guest.assert_accessible()


def test_a_file_is_tried_mended_and_imported(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/devices")
    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog")
    text = "name;uniqueId;group\nVan 2;van2;North\n;new1;\nVan 3;van3;South\nAdded;new2;Harbour\n"
    file = {"name": "fleet.csv", "mimeType": "text/csv", "buffer": text.encode()}
    dialog.get_by_label("File", exact=True).set_input_files(file)
    rows = dialog.get_by_role("grid", name="Rows of the file")
    expect(rows.get_by_role("row")).to_have_count(5)
    expect(rows.get_by_role("row").nth(1)).to_contain_text("name: needed")
    expect(rows.get_by_role("row").nth(2)).to_contain_text("there is no group 'South'")
    store = dialog.get_by_role("button", name="Import 2 rows")
    expect(store).to_be_disabled()
    guest.assert_accessible()
    dialog.get_by_label("Leave out 2 faulty rows").check()
    store.click()
    expect(page.get_by_text("Imported: 1 new, 1 changed")).to_be_visible()
    assert device(server, "van2")["groupId"] == fleet
    assert device(server, "new2")["name"] == "Added"
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    exported = download.value.path().read_text(encoding="utf-8")
    assert "Added,new2,Harbour" in exported

    # By keys: into the table, a range, and away.
    page.get_by_label("Search vehicles").fill("Added")
    table = page.get_by_role("grid", name="Vehicles")
    expect(table).to_have_attribute("aria-rowcount", "2")
    table.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name="Delete 1 vehicle?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    with server.client() as client:
        assert client.get("/devices", params={"uniqueId": "new2"}).json() == []


def test_on_a_phone_the_table_is_scrolled_sideways_beside_the_names(server, visitor, fleet):
    guest = visitor(server, webgl=False, viewport=SIZE, has_touch=True, is_mobile=True)
    page = guest.page
    guest.log_in("/admin/devices")
    table = page.get_by_role("grid", name="Vehicles")
    name = table.get_by_role("row").nth(1).get_by_role("rowheader")
    expect(name).to_be_visible()
    before = name.bounding_box()
    table.evaluate("box => { box.scrollLeft = 400; }")
    expect(table.get_by_role("columnheader", name="Last heard")).to_be_in_viewport()
    after = name.bounding_box()
    assert (before["x"], before["width"]) == (after["x"], after["width"])
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZE["width"]
    assert_for_fingers(guest)
    guest.assert_accessible()


def test_drivers_maintenance_attributes_and_commands_are_set_up(server, visitor, fleet):
    with server.client() as client:
        client.post("/drivers", json={"name": "Ana Silva", "uniqueId": "AB12"})
    sent = {"id": "van1", "lat": 41.1, "lon": -8.6, "driverUniqueId": "AB12", "power": 12.5}
    report = f"http://{server.host}:{server.osmand_port}/"
    assert httpx.get(report, params=sent).status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/admin/drivers")
    expect(page.get_by_role("row", name=re.compile("Ana Silva AB12 Van 1"))).to_be_visible()
    guest.assert_accessible()

    page.get_by_role("link", name="Maintenance").click()
    page.get_by_role("button", name="New maintenance").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Oil")
    dialog.get_by_label("First due").fill("10000")
    dialog.get_by_label("Then every").fill("15000")
    dialog.get_by_role("button", name="Save").click()
    dialog.get_by_label("For these vehicles and groups").fill("Van 1")
    dialog.get_by_role("option", name=re.compile("^Van 1")).first.click()
    expect(dialog.get_by_role("button", name=re.compile("Van 1"))).to_be_visible()
    guest.assert_accessible()
    dialog.get_by_role("button", name="Close").click()
    due = page.get_by_role("grid", name="What is due")
    expect(due.get_by_role("row").nth(1)).to_contain_text("10,000 km")

    guest.expected.add((400, "/api/attributes/computed/test"))
    page.get_by_role("link", name="Computed attributes").click()
    page.get_by_role("button", name="New computed attribute").click()
    dialog.get_by_label("Attribute", exact=True).fill("litres")
    dialog.get_by_label("Expression").fill("power *")
    expect(dialog.get_by_text("ends too early at character 8")).to_be_visible()
    dialog.get_by_label("Expression").fill("power * 2")
    expect(dialog.get_by_text("25 (number)")).to_be_visible()
    guest.assert_accessible()
    page.set_viewport_size(SIZE)
    guest.assert_fits()
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(dialog.get_by_label("For these vehicles and groups")).to_be_visible()
    dialog.get_by_role("button", name="Close").press("Enter")

    page.goto(f"{server.url}/admin/commands")
    page.get_by_role("button", name="New saved command").press("Enter")
    dialog.get_by_label("Type").select_option("positionPeriodic")
    dialog.get_by_label("Name").fill("Every minute")
    dialog.get_by_label("Every how many seconds").fill("0")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_label("Every how many seconds").fill("60")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(dialog.get_by_label("For these vehicles and groups")).to_be_visible()
    with server.client() as client:
        (command,) = client.get("/commands").json()
        (attribute,) = client.get("/attributes/computed").json()
    assert (command["type"], command["attributes"]) == ("positionPeriodic", {"frequency": 60})
    assert (attribute["attribute"], attribute["expression"]) == ("litres", "power * 2")
