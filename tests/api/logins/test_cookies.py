"""Cookies by how the client reaches the server (docs/authentication.md#cookies)."""

import pytest

from motorpool.actors.settings import PublicSettings
from motorpool.api.settings import HttpSettings

BEHIND = HttpSettings(trusted_proxies=("127.0.0.0/8",))
TLS = {"X-Forwarded-Proto": "https"}
BROWSER = {**TLS, "Sec-Fetch-Site": "same-origin"}
LOGIN = {"email": "admin@example.org", "password": "admin"}
PUBLIC = PublicSettings(url="https://example.org/fleet")


@pytest.fixture
async def served(starting):
    async with starting(http=BEHIND, public=PUBLIC) as running:
        yield running


async def log_in(served, headers):
    """Name, value and attributes of each cookie that a login sets."""
    answer = await served.client().post("/session", form=LOGIN, headers=headers)
    assert answer.status == 200
    return [parse(text) for text in answer.headers.getlist("Set-Cookie")]


def parse(text):
    pair, *attributes = text.split("; ")
    name, _, value = pair.partition("=")
    kept = {each for each in attributes if not each.startswith(("Max-Age", "Expires"))}
    return name, value, kept


MARKS = {"HttpOnly", "SameSite=Lax"}
SECURE = {*MARKS, "Secure", "Path=/"}


async def test_over_tls_no_other_host_and_nobody_between_can_set_what_a_browser_keeps(served):
    found = await log_in(served, BROWSER)
    assert [(name, marks) for name, _, marks in found] == [
        ("__Host-JSESSIONID", SECURE),
        ("__Host-motorpool_device", SECURE),
    ]
    (_, session, _), (_, device, _) = found
    browser = served.client(BROWSER)
    for cookie, status in (
        (f"__Host-JSESSIONID={session}", 200),
        # Another host of the domain may have set it, to have a user work in the session of somebody else.
        (f"JSESSIONID={session}", 401),
        (f"JSESSIONID=x; __Host-JSESSIONID={session}", 200),
    ):
        assert (await browser.get("/devices", headers={"Cookie": cookie})).status == status, cookie
    again = {**BROWSER, "Cookie": f"__Host-motorpool_device={device}"}
    assert (await log_in(served, again))[1][0] == "__Host-motorpool_device"


async def test_programs_find_the_cookie_of_traccar(served):
    """They look for it by its name, and no other host sets theirs."""
    found = await log_in(served, TLS)
    assert [(name, marks) for name, _, marks in found] == [
        ("__Host-JSESSIONID", SECURE),
        ("JSESSIONID", SECURE),
        ("__Host-motorpool_device", SECURE),
    ]
    (_, session, _), (_, same, _), _ = found
    assert session == same
    for name in ("JSESSIONID", "__Host-JSESSIONID"):
        program = served.client({**TLS, "Cookie": f"{name}={session}"})
        assert (await program.get("/devices")).status == 200
    left = await program.delete("/session")
    assert [parse(text) for text in left.headers.getlist("Set-Cookie")] == [
        ("__Host-JSESSIONID", "", SECURE),
        ("JSESSIONID", "", SECURE),
    ]


async def test_without_tls_cookies_have_plain_names(served):
    found = await log_in(served, {"Sec-Fetch-Site": "same-origin"})
    assert [(name, marks) for name, _, marks in found] == [
        ("JSESSIONID", {*MARKS, "Path=/"}),
        ("motorpool_device", {*MARKS, "Path=/fleet/api/session"}),
    ]
    plain = served.client({"Cookie": f"JSESSIONID={found[0][1]}"})
    assert (await plain.get("/devices")).status == 200
    # The prefix means nothing where a browser does not enforce it.
    prefixed = served.client({"Cookie": f"__Host-JSESSIONID={found[0][1]}"})
    assert (await prefixed.get("/devices")).status == 401


async def test_the_setting_treats_every_client_as_one_of_tls(starting):
    async with starting(http=HttpSettings(cookie_secure=True)) as served:
        found = await log_in(served, {"Sec-Fetch-Site": "same-origin"})
        assert [name for name, _, _ in found] == ["__Host-JSESSIONID", "__Host-motorpool_device"]


async def test_log_out_over_tls_deletes_the_cookie_of_the_browser(served):
    session = (await log_in(served, BROWSER))[0][1]
    browser = served.client({**BROWSER, "Cookie": f"__Host-JSESSIONID={session}"})
    answer = await browser.delete("/session")
    assert [parse(text) for text in answer.headers.getlist("Set-Cookie")] == [
        ("__Host-JSESSIONID", "", SECURE)
    ]
    assert (await browser.get("/devices")).status == 401
