"""Journey 12: the ticket of an alarm, from the helpdesk's start to its end (docs/console.md#tickets)."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from tests.journeys.test_ticket_of_an_alarm import SOS, photo

from motorpool.bench.vehicles.jt808.terminal import encode_location

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
RULE = {
    "name": "SOS",
    "when": {"eventTypes": ["alarm"], "alarms": ["sos"]},
    "then": {"subject": "Emergency button"},
    "dedupeMinutes": 0,
}


@pytest.fixture(scope="module")
def server(start_server):
    with start_server() as running, running.client() as client:
        company = client.post(
            "/companies", json={"name": "North", "attributes": {"ticketRules": [RULE]}}
        ).json()
        of = {"companyId": company["id"]}
        made = client.post("/tickets/defaults", json=of).json()
        first = client.post("/teams", json={**of, "name": "First line"}).json()
        second = client.post("/teams", json={**of, "name": "Workshop"}).json()
        me = client.get("/session").json()
        ben = {"name": "Ben", "email": "ben@example.org", "password": "correct horse"}
        running.ben = client.post("/users", json=ben).json() | {"password": ben["password"]}
        for team in (first, second):
            for user in (me, running.ben):
                assert client.put(f"/teams/{team['id']}/members/{user['id']}").status_code == 204
        urgent, *others = made["priorities"]
        for each in others:
            each["attributes"] |= {"escalateTeamId": second["id"], "escalatePriorityId": urgent["id"]}
            assert client.put(f"/ticketpriorities/{each['id']}", json=each).status_code == 200
        running.desk = {**made, "companyId": company["id"], "teams": [first, second]}
        yield running


def ticket_of(server, subject, **fields):
    ticket = {"companyId": server.desk["companyId"], "subject": subject, **fields}
    with server.client() as client:
        return client.post("/tickets", json=ticket).json()


def read(server, ticket):
    with server.client() as client:
        return client.get(f"/tickets/{ticket['id']}").json()


def press_by_key(locator):
    locator.focus()
    locator.press("Enter")


def choose_by_key(page, name):
    field = page.get_by_role("dialog").get_by_role("combobox")
    field.press_sequentially(name)
    expect(option_of(page, name)).to_be_visible()
    for _ in range(page.get_by_role("dialog").get_by_role("option").count()):
        if option_of(page, name).get_attribute("aria-selected") == "true":
            break
        field.press("ArrowDown")
    field.press("Enter")


def option_of(page, name):
    return page.get_by_role("dialog").get_by_role("option", name=re.compile(f"^{name}"))


HANDS = {
    "mouse": (
        {},
        lambda locator: locator.click(),
        lambda page, name: option_of(page, name).click(),
    ),
    "keyboard": ({}, press_by_key, choose_by_key),
    "touch": (
        PHONE,
        lambda locator: locator.tap(),
        lambda page, name: option_of(page, name).tap(),
    ),
}
"""The window, how a button is pressed, and how one of a list is chosen."""


@pytest.mark.parametrize("hand", HANDS)
def test_the_ticket_of_an_alarm_is_answered_escalated_proven_given_and_closed(
    hand, server, visitor, connected
):
    window, press, choose = HANDS[hand]
    guest = visitor(server, webgl=False, **window)
    page = guest.page
    guest.log_in("/tickets")
    expect(page.get_by_role("heading", name="Tickets")).to_be_visible()
    with connected(server, f"01390000081{list(HANDS).index(hand)}") as peer:
        now = datetime.fromtimestamp(int(time.time()), UTC)  # noqa: TID251 - the time of the server's process
        pressed = now - timedelta(seconds=20)
        peer.send(peer.terminal.photo(1, photo(), encode_location(41.15, -8.61, pressed)))
        peer.send(peer.terminal.location(encode_location(41.15, -8.61, pressed, alarm=SOS)))
        # Found: nobody has it yet, and the page was not loaded anew.
        unassigned = page.get_by_role("list", name="What is urgent").get_by_role("link", name="Unassigned")
        expect(unassigned).to_contain_text("1")
        press(unassigned)
        guest.assert_accessible()
        press(page.get_by_role("link", name="Emergency button"))
    press(page.get_by_role("button", name="Take", exact=True))
    expect(page.get_by_text(re.compile(r"Ticket #\d+ is yours"))).to_be_visible()

    # Answered, with a status in the same request.
    page.get_by_label("Write a reply. The contact reads it.").fill("Help is on its way.")
    press(page.get_by_role("button", name="Send to "))
    talk = page.get_by_role("list", name="Conversation")
    expect(talk.get_by_role("listitem").filter(has_text="Help is on its way.")).to_contain_text("Reply")
    expect(page.get_by_role("button", name="Waiting for contact")).to_be_visible()

    # Proven: what the vehicle sent becomes evidence with its checksum.
    press(page.get_by_role("button", name="Add evidence"))
    dialog = page.get_by_role("dialog")
    press(dialog.get_by_role("button", name=re.compile("Photo|emergency")).first)
    press(dialog.get_by_role("button", name="Add 1"))
    expect(page.get_by_role("button", name="Add evidence")).to_be_focused()
    evidence = page.get_by_role("list", name="Evidence")
    expect(evidence.locator("code").first).to_have_text(re.compile("^[0-9a-f]{64}$"))

    # Escalated: as the priority says it, with a note that only the team reads.
    facts = page.get_by_role("complementary", name="Facts")
    press(facts.get_by_role("button", name="Escalate"))
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Team", exact=True).select_option(label="Workshop")
    dialog.get_by_label("Why (a note to the team)").fill("The button is stuck.")
    press(dialog.get_by_role("button", name="Escalate"))
    expect(talk.get_by_role("listitem").filter(has_text="The button is stuck.")).to_contain_text(
        "Note to the team"
    )
    expect(facts.get_by_role("button", name="Workshop")).to_be_visible()
    guest.assert_fits()
    guest.assert_accessible()

    # Given to a colleague, and closed with a word to the contact.
    press(page.get_by_role("main").get_by_role("button", name="More", exact=True))
    press(page.get_by_role("menuitem", name="Give to"))
    choose(page, "Ben")
    expect(facts.get_by_role("button", name="Ben", exact=True)).to_be_visible()
    press(page.get_by_role("button", name="Waiting for contact"))
    choose(page, "Resolved")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(re.compile("^What the contact is told")).fill("The button was changed.")
    press(dialog.get_by_role("button", name="Resolved"))
    press(page.get_by_role("button", name="Resolved"))
    choose(page, "Closed")
    press(page.get_by_role("dialog").get_by_role("button", name="Closed"))
    expect(page.get_by_role("button", name="Closed")).to_be_visible()
    with server.client() as client:
        tickets = client.get("/tickets", params={"keyword": "Emergency"}).json()
    ticket = max(tickets, key=lambda each: each["id"])
    assert (ticket["statusKind"], ticket["assigneeId"]) == ("closed", server.ben["id"])
    assert ticket["teamId"] == server.desk["teams"][1]["id"]


def test_by_keyboard_the_most_urgent_ticket_is_taken_answered_and_set_waiting(server, visitor):
    guest = visitor(server, webgl=False)
    page = guest.page
    with server.client() as client:
        me = client.get("/session").json()
    ticket = ticket_of(server, "No picture", assigneeId=0)
    guest.log_in("/fleet")
    expect(page.get_by_role("link", name="Tickets")).to_be_visible()
    for key in "gt":
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Mine and unassigned")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("No picture")
    expect(page).to_have_url(re.compile("keyword=No"))
    row = page.get_by_role("listitem").filter(has_text="No picture")
    expect(row).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Emergency")).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.get_by_text(f"Ticket #{ticket['number']} is yours")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No picture")).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.type("Please restart the recorder.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Waiting for contact")).to_be_visible()
    now = read(server, ticket)
    assert (now["statusKind"], now["assigneeId"], now["commentCount"]) == ("pending", me["id"], 1)


def test_a_board_moves_tickets_and_two_people_see_each_other(server, visitor):
    ticket = ticket_of(server, "Lamp is red")
    desk = visitor(server, webgl=False)
    desk.log_in("/tickets/board")
    phone = visitor(server, webgl=False, **PHONE)
    phone.log_in(f"/tickets/{ticket['id']}", email=server.ben["email"], password=server.ben["password"])
    expect(phone.page.get_by_role("heading", name="Lamp is red")).to_be_visible()
    columns = [desk.page.get_by_role("region", name=name, exact=True) for name in ("New", "In progress")]
    card = columns[0].get_by_role("listitem").filter(has_text="Lamp is red")
    card.drag_to(columns[1])
    expect(columns[1].get_by_role("listitem").filter(has_text="Lamp is red")).to_be_visible()
    desk.assert_accessible()
    # The other page follows without being loaded anew; there it is moved by touch.
    status = phone.page.get_by_role("button", name="In progress")
    expect(status).to_be_visible()
    phone.assert_fits()
    phone.assert_accessible()
    columns[1].get_by_role("link", name="Lamp is red").click()
    expect(desk.page.get_by_text("Ben looks at this ticket")).to_be_visible()
    status.tap()
    phone.page.get_by_role("dialog").get_by_role("option", name=re.compile("^Waiting for contact")).tap()
    expect(desk.page.get_by_role("button", name="Waiting for contact")).to_be_visible()
    assert read(server, ticket)["statusKind"] == "pending"
