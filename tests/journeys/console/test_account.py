"""What users set about themselves: language, units, password, tokens and sessions."""

import httpx
import pytest
from playwright.sync_api import expect

PASSWORD = "parking garage 7"


@pytest.fixture
def clerk(server):
    """The address of a user; their password is PASSWORD."""
    with server.client() as client:
        user = {"name": "Clerk", "email": "clerk@example.org", "password": PASSWORD}
        made = client.post("/users", json=user)
        assert made.status_code == 200, made.text
    return "clerk@example.org"


def test_what_users_set_about_themselves_is_kept(server, visitor, clerk):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/account", clerk, PASSWORD)

    page.get_by_label("Speed").select_option("mph")
    expect(page.get_by_text("Saved")).to_be_visible()
    zone = page.get_by_role("combobox", name="Time zone")
    zone.click()
    zone.fill("lisbon")
    page.get_by_role("option", name="Europe/Lisbon").click()
    expect(zone).to_have_value("Europe/Lisbon")

    # A second session, which the change of the password ends; the first one goes on.
    other = visitor(server, webgl=False)
    other.expect_end_of_session()
    other.log_in("/account", clerk, PASSWORD)
    expect(other.page.get_by_label("Speed")).to_have_value("mph")
    card = page.get_by_role("region", name="Password")
    card.get_by_label("Current password", exact=True).fill(PASSWORD)
    card.get_by_label("New password", exact=True).fill("a bus and a boat")
    card.get_by_label("The same again", exact=True).fill("a bus and a boot")
    card.get_by_role("button", name="Change the password").click()
    expect(card.get_by_role("alert")).to_have_text("The two passwords are not the same.")
    card.get_by_label("The same again", exact=True).fill("a bus and a boat")
    card.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("The password is changed.")).to_be_visible()
    expect(other.page.get_by_role("dialog", name="Your session has ended")).to_be_visible()

    tokens = page.get_by_role("region", name="Tokens")
    tokens.get_by_role("button", name="New token").click()
    token = tokens.get_by_label("New token").input_value()
    bearer = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{server.url}/api/devices", headers=bearer).status_code == 200
    tokens.get_by_role("button", name="Revoke").click()
    expect(tokens.get_by_text("No tokens.")).to_be_visible()
    assert httpx.get(f"{server.url}/api/devices", headers=bearer).status_code == 401

    page.get_by_label("Language", exact=True).select_option("pt")
    expect(page.get_by_role("heading", name="Conta")).to_be_visible()
    assert page.evaluate("() => document.documentElement.lang") == "pt-PT"


def test_administrators_change_the_server_by_keyboard_and_at_once(server, visitor):
    page = (admin := visitor(server, webgl=False)).page
    admin.log_in("/fleet")
    expect(page.get_by_role("link", name="Admin", exact=True)).to_be_visible()
    keys = page.keyboard
    keys.press("Control+k")
    keys.type("server")
    # The words by which it is found come with the palette.
    expect(page.get_by_role("option", name="Settings", exact=True)).to_be_visible()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    # The environment of this server has said that it has no streets.
    expect(page.get_by_role("radio", name="None")).to_be_checked()
    expect(page.get_by_role("radio", name="None")).to_be_disabled()
    page.locator("summary").filter(has_text="Mail").focus()
    keys.press("Enter")
    keys.press("Tab")
    expect(page.get_by_label("Host", exact=True)).to_be_focused()
    keys.type("127.0.0.1")
    page.get_by_label("Sender", exact=True).focus()
    keys.type("nobody")
    admin.expected |= {(400, "/api/server/settings"), (400, "/api/server/settings/test/mail")}
    keys.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("'nobody' is no mail address")
    admin.assert_accessible()
    page.get_by_label("Sender", exact=True).fill("fleet@example.org")
    keys.press("Enter")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    # The mail server is tried, which may not be this machine.
    page.get_by_role("button", name="Test").focus()
    keys.press("Enter")
    expect(page.get_by_text("lies in a private network or is this server")).to_be_visible()
    with server.client() as client:
        assert client.get("/server").json()["emailEnabled"] is True
    for width in (1400, 900, 390):
        page.set_viewport_size({"width": width, "height": 844})
        admin.assert_fits()
    page.get_by_role("button", name="Back to the default").first.click()
    page.get_by_role("button", name="Back to the default").first.click()
    page.locator("form").filter(has=page.get_by_label("Host", exact=True)).get_by_role(
        "button", name="Save"
    ).click()
    expect(page.get_by_role("button", name="Test")).to_have_count(0)
