"""One-time codes that the server demands (docs/authentication.md#second-factor)."""

import base64
from dataclasses import replace

import httpx
import pyotp
import pytest

from motorpool.api.login_settings import LoginSettings
from motorpool.api.logins.second_factor import OWN_USER, SERVED
from motorpool.api.resources import OPERATIONS
from motorpool.api.settings import HttpSettings

KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
REFUSED = "this server demands one-time codes: set them up first"


def demanding(of):
    return LoginSettings(hash_memory_kib=64, hash_rounds=1, second_factor=of)


def basic(name):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}@example.org:{name}".encode()).decode()}


def is_refused(answer):
    return answer.status == 403 and answer.text.startswith(REFUSED)


@pytest.fixture
async def everybody(starting):
    async with starting(login=demanding("everybody"), listen=True) as served:
        yield served


async def set_up(client, number, key=KEY):
    """Set up one-time codes as the console does."""
    assert (await client.post("/users/totp")).status == 200
    me = (await client.get(f"/users/{number}")).json()
    done = await client.put(f"/users/{number}", json={**me, "totpKey": key})
    assert done.status == 200, done.text


async def test_who_has_no_codes_can_log_in_only_to_set_them_up(everybody):
    admin = everybody.admin
    who = (await admin.get("/session")).json()
    assert who["totpNeeded"] is True
    again = await everybody.client().post(
        "/session", form={"email": "admin@example.org", "password": "admin"}
    )
    assert again.json()["totpNeeded"] is True
    for operation in OPERATIONS:
        if (operation.method, operation.path) in SERVED:
            continue
        path = operation.plain_path
        for name, kind in operation.path_parameters:
            path = path.replace(f"{{{name}}}", "7" if kind is int else "x")
        answer = await admin.call(operation.method, f"/api{path}")
        assert is_refused(answer), (operation.method, path, answer.status, answer.text)
    # Even of oneself nothing but the key is saved.
    refused = await admin.put(f"/users/{who['id']}", json={**who, "name": "Boss"})
    assert is_refused(refused)
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(b"k" * 16).decode(),
        "Cookie": f"JSESSIONID={everybody.cookie(admin)}",
    }
    async with httpx.AsyncClient(trust_env=False) as client:
        socket = await client.get(f"http://127.0.0.1:{everybody.port}/api/socket", headers=upgrade)
    assert (socket.status_code, socket.text.startswith(REFUSED)) == (403, True)

    await set_up(admin, who["id"])
    assert (await admin.get("/devices")).status == 200
    assert (await admin.get("/session")).json()["totpNeeded"] is False
    # Nobody takes it off again for themselves.
    me = (await admin.get(f"/users/{who['id']}")).json()
    refused = await admin.put(f"/users/{who['id']}", json={**me, "totpKey": ""})
    assert (refused.status, refused.text) == (400, "totpKey: needed on this server")


def test_the_operations_that_are_served_exist():
    declared = {(operation.method, operation.path) for operation in OPERATIONS}
    assert (SERVED | OWN_USER) - declared == {("GET", "/openapi.json")}


async def test_a_limited_login_can_be_ended(everybody):
    assert (await everybody.admin.delete("/session")).status == 204
    assert (await everybody.admin.get("/session")).status == 404


async def test_basic_and_tokens_of_users_without_codes_are_refused(everybody, database):
    await set_up(everybody.admin, everybody.admin_id)
    made = await everybody.admin.post(
        "/users", json={"name": "ann", "email": "ann@example.org", "password": "ann"}
    )
    ann = made.json()["id"]
    # As it was issued before codes were demanded.
    context, demanded = everybody.context, everybody.context.settings
    context.live.settings = replace(demanded, login=demanding("optional"))
    client = await everybody.log_in("ann@example.org", "ann")
    token = (await client.post("/session/token", form={})).text
    bearer = everybody.client({"Authorization": f"Bearer {token}"})
    assert (await bearer.get("/devices")).status == 200
    assert (await everybody.client(basic("ann")).get("/devices")).status == 200
    context.live.settings = demanded
    assert is_refused(await bearer.get("/devices"))
    assert (await everybody.client(basic("ann")).get("/devices")).status == 401
    await set_up(client, ann)
    # A program gets its token in a session that had both factors.
    assert (await bearer.get("/devices")).status == 401
    token = (await client.post("/session/token", form={})).text
    assert (await everybody.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 200


async def test_read_only_users_set_codes_up_as_well_and_nothing_else(everybody):
    await set_up(everybody.admin, everybody.admin_id)
    person = {"name": "ann", "email": "ann@example.org", "password": "ann", "readonly": True}
    ann = (await everybody.admin.post("/users", json=person)).json()["id"]
    client = await everybody.log_in("ann@example.org", "ann")
    me = (await client.get(f"/users/{ann}")).json()
    refused = await client.put(f"/users/{ann}", json={**me, "totpKey": KEY, "name": "Ann"})
    assert (refused.status, refused.text) == (400, "the user is read-only")
    await set_up(client, ann)
    assert (await client.get("/devices")).status == 200


async def test_of_administrators_alone(starting):
    async with starting(login=demanding("administrators")) as served:
        assert is_refused(await served.admin.get("/devices"))
        await set_up(served.admin, served.admin_id)
        ann = await served.user("ann")
        assert (await ann.get("/devices")).status == 200
        assert (await served.client(basic("ann")).get("/devices")).status == 200
        assert (await ann.get("/session")).json()["totpNeeded"] is False
        # An administrator who has lost the key gets another chance by a colleague.
        other = await served.user("boss", administrator=True)
        assert is_refused(await other.get("/devices"))
        await set_up(other, other.id)
        boss = (await served.admin.get(f"/users/{other.id}")).json()
        assert (await served.admin.put(f"/users/{other.id}", json={**boss, "totpKey": ""})).status == 200
        again = await served.log_in("boss@example.org", "boss")
        assert is_refused(await again.get("/devices"))


async def test_who_acts_as_another_user_needs_codes_of_their_own_alone(starting):
    async with starting(login=demanding("everybody")) as served:
        await set_up(served.admin, served.admin_id)
        made = await served.admin.post("/users", json={"email": "ann@example.org", "password": "ann"})
        ann = made.json()["id"]
        form = {"email": "admin@example.org", "password": "admin"}
        served.clock.move_wall(60)
        acting = served.client()
        code = pyotp.TOTP(KEY).at(served.clock.now())
        assert (await acting.post("/session", form={**form, "code": code})).status == 200
        assert (await acting.get(f"/session/{ann}")).status == 200
        assert (await acting.get("/devices")).status == 200


async def test_guests_of_share_links_and_users_without_a_password_need_none(starting, database):
    async with starting(login=demanding("everybody")) as served:
        await set_up(served.admin, served.admin_id)
        device = await served.device(served.admin, "1")
        form = {"deviceId": device, "expiration": "2026-05-03T00:00:00Z"}
        link = await served.admin.post("/share/device", form=form)
        guest = served.client({"Authorization": f"Bearer {link.text}"})
        assert (await guest.get("/devices")).status == 200
        made = await served.admin.post("/users", json={"email": "ann@example.org", "password": "ann"})
        client = await served.log_in("ann@example.org", "ann")
        assert is_refused(await client.get("/devices"))
        # As the first login through an OpenID provider leaves an account.
        await database.execute("update users set password_hash = null where id = $1", made.json()["id"])
        served.context.logins.accounts.clear()
        assert (await client.get("/devices")).status == 200


async def test_metrics_are_for_administrators_with_codes(starting):
    http = HttpSettings(metrics_allow=())
    async with (
        starting(login=demanding("administrators"), http=http, listen=True) as served,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}") as client,
    ):
        client.cookies.set("JSESSIONID", served.cookie(served.admin))
        refused = await client.get("/metrics")
        assert (refused.status_code, refused.text.startswith(REFUSED)) == (403, True)
        await set_up(served.admin, served.admin_id)
        assert (await client.get("/metrics")).status_code == 200
