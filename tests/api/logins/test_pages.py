"""Pages of other sites, and what they can have a browser do (docs/authentication.md#pages-of-other-sites)."""

import base64
import re

import pytest
from tests.api.cases import on_one_server

from motorpool.actors.settings import PublicSettings
from motorpool.api.resources import OPERATIONS
from motorpool.api.settings import HttpSettings

EVIL = "https://evil.example.org"
REFUSED = (403, "a page of another site may not do this")
LOGIN = {"email": "admin@example.org", "password": "admin"}
PUBLIC = PublicSettings(url="https://Fleet.example.org/")

FOREIGN = [
    {"Origin": EVIL},
    {"Origin": "null"},
    {"Origin": "http://["},
    {"Origin": ""},
    {"Origin": "http://localhost.evil.example.org"},
    {"Origin": "http://localhost:81"},
    {"Origin": EVIL, "Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    # Another scheme of the same host is another site, whose pages anybody between may have written.
    {"Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"},
]
OWN = [
    {},
    {"Origin": "http://localhost"},
    {"Origin": "https://LOCALHOST"},
    {"Origin": "https://fleet.example.org"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://behind.an.unnamed.proxy"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "https://app.example"},
]


@pytest.fixture
async def served(starting):
    async with starting(public=PUBLIC, http=HttpSettings(cors_origin="https://app.example, ")) as running:
        yield running


async def unauthenticated(served, headers):
    """What a page that knows no password may try: to log somebody in, or to make users and mails."""
    client = served.client(headers)
    token = (await served.admin.post("/session/token")).text
    return [
        await client.post("/session", form=LOGIN),
        await client.post("/session/token/login", form={"token": token}),
        await client.get(f"/session?token={token}"),
        await client.post("/users", json={"email": "eve@example.org", "password": "four random words"}),
        await client.post("/users/totp"),
        await client.post("/password/reset", form={"email": "admin@example.org"}),
        await client.post("/password/update", form={"token": "x", "password": "four random words"}),
        await client.get("/session/openid/auth"),
        await client.post("/session/openid/auth"),
    ]


@on_one_server("headers", FOREIGN)
async def test_a_foreign_page_logs_nobody_in_and_changes_nothing(served, headers):
    for answer in await unauthenticated(served, headers):
        assert (answer.status, answer.text) == REFUSED
        assert "Set-Cookie" not in answer.headers
    # What changes nothing is answered; a browser shows it to no foreign page.
    assert (await served.client(headers).get("/server")).status == 200
    assert (await served.client(headers).get("/session")).status == 404


@pytest.mark.parametrize("headers", OWN)
async def test_own_pages_pages_of_the_settings_and_programs_may(served, headers):
    statuses = [answer.status for answer in await unauthenticated(served, headers)]
    assert statuses == [200, 200, 200, 200, 200, 200, 400, 400, 400]


async def test_behind_a_proxy_the_forwarded_host_is_ours(starting):
    headers = {"Origin": "https://fleet.example", "X-Forwarded-Host": "fleet.example"}
    for proxies, status in ((("127.0.0.0/8",), 200), ((), 403)):
        async with starting(http=HttpSettings(trusted_proxies=proxies)) as behind:
            assert (await behind.client(headers).post("/session", form=LOGIN)).status == status
            await behind.context.database.execute("delete from users; update server set initialised = false")


async def test_a_password_that_a_browser_keeps_is_used_by_no_foreign_page_but_a_token_is_sent_by_who_has_it(
    served,
):
    """Browsers keep what was typed into their dialog of Basic, and send it with every request to the host."""
    kept = base64.b64encode(b"admin@example.org:admin").decode()
    bearer = (await served.admin.post("/session/token")).text
    for scheme, credential, status in (
        ("Basic", kept, 403),
        ("Bearer", bearer, 200),
        ("bearer", bearer, 200),
    ):
        client = served.client({"Authorization": f"{scheme} {credential}", "Origin": EVIL})
        assert (await client.post("/groups", json={"name": "x"})).status == status, scheme
        assert (await client.get("/groups")).status == 200


CHANGES = {
    "GET /session/openid/auth",
    "GET /session/{id}",
    "GET /server/gc",
    "GET /stream/{deviceId}/{channel}/live.m3u8",
    "GET /stream/{deviceId}/{channel}/snapshot.jpg",
}
"""The GETs that change something, whatever their parameters."""
BY_PARAMETER = {
    "GET /session": "?token=x",
    **{
        f"GET /reports/{name}": "?mail=true"
        for name in ("route", "events", "summary", "trips", "stops", "devices")
    },
}
MAILED = {
    f"GET /reports/{name}/{{type}}"
    for name in ("route", "events", "summary", "trips", "stops", "devices", "history")
}


async def test_every_operation_that_changes_something_is_closed_to_foreign_pages(served):
    page = served.client({"Cookie": f"JSESSIONID={served.cookie(served.admin)}", "Origin": EVIL})
    seen = set()
    for operation in OPERATIONS:
        name = f"{operation.method} {operation.plain_path}"
        path = re.sub(r"\{type\}", "xlsx", operation.plain_path)
        path = re.sub(r"\{(file|path|uniqueId)\}", "x", path)
        path = "/api" + re.sub(r"\{\w+\}", "1", path)
        answer = await page.call(operation.method, path, json={} if operation.method != "GET" else None)
        changes = operation.method != "GET" or name in CHANGES
        assert ((answer.status, answer.text) == REFUSED) == changes, name
        if name in CHANGES:
            seen.add(name)
            assert (await page.call("HEAD", path)).status == 403
        if name in BY_PARAMETER:
            seen.add(name)
            answer = await page.call("GET", path + BY_PARAMETER[name])
            assert (answer.status, answer.text) == REFUSED, name
        if name in MAILED:
            seen.add(name)
            answer = await page.call("GET", path.replace("/xlsx", "/mail"))
            assert (answer.status, answer.text) == REFUSED, name
    assert seen == CHANGES | BY_PARAMETER.keys() | MAILED


async def test_an_origin_that_is_none_is_nobody_and_no_fault_of_ours(served):
    cookie = {"Cookie": f"JSESSIONID={served.cookie(served.admin)}"}
    for origin in ("http://[", "//[", "http://a]b", "\x7f", "", "null"):
        answer = await served.client({**cookie, "Origin": origin}).get("/devices")
        assert answer.status == 401, origin
        assert "Access-Control-Allow-Origin" not in answer.headers
