"""Journey 1: the ways in and out (docs/console.md#sources)."""

import base64
import hashlib
import hmac
import re
import struct
import time

import pytest
from playwright.sync_api import expect
from tests.api.resources.conftest import OpenId

SESSION = "/api/session"
ACCOUNT = ("server/timezones", "sessions", "tokens", "shares")
"""What the page of the account reads."""


@pytest.fixture(scope="module")
def provider():
    """An OpenID provider."""
    made = OpenId()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def server(start_server, provider):
    """A server that takes users of the provider."""
    known = provider.settings()
    openid = {
        "ISSUER": known.issuer,
        "CLIENT_ID": known.client_id,
        "CLIENT_SECRET": known.client_secret,
        "ALLOW_REGISTRATION": "true",
    }
    with start_server({f"MOTORPOOL_OPENID_{key}": value for key, value in openid.items()}) as running:
        yield running


def one_time_code(secret):
    """What an authenticator app shows now (RFC 6238, RFC 4226 section 5.3)."""
    step = int(time.time()) // 30  # noqa: TID251 - that of the server's process
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), hashlib.sha1)
    start = digest[-1] & 0xF
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"


@pytest.fixture
def clerk(server):
    """A user of the test's own: name and password."""
    email = f"clerk-{time.monotonic_ns()}@example.org"
    with server.client() as client:
        made = client.post("/users", json={"name": "Clerk", "email": email, "password": "parking garage 7"})
        assert made.status_code == 200, made.text
    return email, "parking garage 7"


def test_with_a_key_the_login_asks_for_a_code_and_after_logging_out_back_shows_nothing(
    server, visitor, clerk
):
    guest = visitor(server, webgl=False)
    guest.expected.add((401, SESSION))
    page = guest.page
    guest.log_in("/account", *clerk)
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("img", name="Picture of the key")).to_be_visible()
    secret = re.sub(r"\s", "", page.locator("code").inner_text())
    card = page.get_by_role("region", name="One-time codes")
    card.get_by_label("Current password", exact=True).fill(clerk[1])
    guest.assert_accessible()
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("One-time codes are on.")).to_be_visible()

    page.get_by_role("link", name="Fleet").click()
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    guest.expect_end_of_session()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert page.url.endswith("/login")
    page.go_back()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    expect(page.get_by_text("No vehicles yet")).to_have_count(0)

    page.get_by_label("E-mail").fill(clerk[0])
    page.get_by_label("Password", exact=True).fill(clerk[1])
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("One-time code").fill("000000")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("The code is wrong or was used already.")
    page.get_by_label("One-time code").fill(one_time_code(secret))
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()


def test_a_login_at_the_provider_leads_to_the_address_that_was_asked_for(server, provider, visitor):
    guest = visitor(server, webgl=False)
    guest.expected.add((404, f"{provider.issuer}/favicon.ico"))
    guest.context.route("https://**", lambda route: route.fulfill(content_type="text/css", body=""))
    page = guest.page
    guest.open("/fleet?keyword=van%207&token=")
    page.get_by_role("link", name="Log in with your organization").click()
    page.get_by_placeholder("sub").fill("bea@example.org")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_label("Search name or number")).to_have_value("van 7")
    assert page.url == f"{server.url}/fleet?keyword=van+7"
    # Where the session ends under the page, that page is gone on with.
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_label("E-mail")).to_have_value("bea@example.org")
    guest.expect_end_of_session(*(f"/api/{each}" for each in ACCOUNT))
    with server.client() as client:
        (user,) = client.get("/users", params={"keyword": "bea@example.org", "all": True}).json()
        for session in client.get("/sessions", params={"userId": user["id"]}).json():
            assert client.delete(f"/sessions/{session['id']}").status_code == 204
    dialog = page.get_by_role("dialog", name="Your session has ended")
    guest.assert_accessible()
    dialog.get_by_role("link", name="Log in with your organization").click()
    page.get_by_placeholder("sub").fill("bea@example.org")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    assert page.url == f"{server.url}/account"


def test_who_logs_in_at_the_provider_sees_the_fleet_and_no_address_of_the_history_keeps_the_code(
    server, provider, visitor
):
    guest = visitor(server, webgl=False)
    guest.expected.add((404, f"{provider.issuer}/favicon.ico"))
    # The style of the provider's page is not on this machine.
    guest.context.route("https://**", lambda route: route.fulfill(content_type="text/css", body=""))
    page = guest.page
    guest.open("/")
    page.get_by_role("link", name="Log in with your organization").click()
    page.get_by_placeholder("sub").fill("ann@example.org")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    assert page.url == f"{server.url}/"
    # Back are the provider's page and the login, which is the fleet by now.
    page.go_back()
    expect(page.get_by_placeholder("sub")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    assert page.url == f"{server.url}/"
    page.go_forward()
    expect(page.get_by_placeholder("sub")).to_be_visible()
    page.go_forward()
    expect(page.get_by_text("No vehicles yet")).to_be_visible()
    assert page.url == f"{server.url}/"
