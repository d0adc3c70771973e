"""What a new password must be, and when a change needs the current one (docs/authentication.md#passwords)."""

import base64
from dataclasses import replace
from datetime import timedelta

import pyotp
import pytest

from motorpool.api.auth.tokens import RESET, issue
from motorpool.api.login_settings import LoginSettings
from motorpool.api.logins.password_rules import password_fault
from motorpool.api.settings import HttpSettings

RULES = LoginSettings(hash_memory_kib=64, hash_rounds=1, password_min_length=9)
KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("correct horse", None),
        ("short", "password: needs at least 9 characters"),
        ("ann-lee-2026", "password: is the user's own name or address"),
        ("Ann.Lee@Example.org", "password: is the user's own name or address"),
        ("annsmail2026", "password: is the user's own name or address"),
        ("1234567890", "password: is one of the most common ones, which everybody tries first"),
        ("Password123", "password: is one of the most common ones, which everybody tries first"),
        ("motorpool-2026", "password: is the name of this program"),
        ("1234567809", None),
        ("ann lee drives", None),
        ("пароль-дня", None),
    ],
)
def test_a_password_is_long_enough_and_not_the_users_own_name(password, fault):
    assert (
        password_fault(password, 9, "Ann Lee", "annsmail@example.org", None, "ann.lee@example.org") == fault
    )
    assert password_fault(password, 0, "Ann Lee", "annsmail@example.org") is None


async def test_new_passwords_follow_the_rules_wherever_they_are_set(starting):
    async with starting() as served:
        served.context.live.settings = replace(served.context.settings, login=RULES)
        user = {"name": "Ann", "email": "ann@example.org"}
        for password in ("short", "", "ann@example.org", "ann-2026!", "Qwertyuiop", "iloveyou1"):
            refused = await served.admin.post("/users", json={**user, "password": password})
            assert (refused.status, refused.text.startswith("password: ")) == (400, True)
        made = await served.admin.post("/users", json={**user, "password": "correct horse"})
        assert made.status == 200
        path = f"/users/{made.json()['id']}"
        refused = await served.admin.put(path, json={**made.json(), "password": "short"})
        assert (refused.status, refused.text) == (400, "password: needs at least 9 characters")
        refused = await served.admin.put(path, json={**made.json(), "password": "football1"})
        assert (refused.status, refused.text.startswith("password: is one of the most common")) == (400, True)
        now = served.clock.now()
        link, _ = issue(
            served.context.logins.token_keys, made.json()["id"], RESET, now + timedelta(1), now=now
        )
        for password, status in (
            ("short", 400),
            ("ann-2026!", 400),
            ("Football1", 400),
            ("horse correct", 200),
        ):
            form = {"token": link, "password": password}
            assert (await served.client().post("/password/update", form=form)).status == status
        # An update without a password, and a login with one of before the rules, are as ever.
        assert (await served.admin.put(path, json={**made.json(), "phone": "1"})).status == 200
        await served.context.database.execute(
            "update users set password_hash = $1 where email = 'ann@example.org'",
            await served.context.logins.passwords.hash("x"),
        )
        served.context.logins.accounts.clear()
        assert (await served.log_in("ann@example.org", "x")) is not None


async def change(client, number, **fields):
    me = (await client.get(f"/users/{number}")).json()
    return await client.put(f"/users/{number}", json={**me, **fields})


@pytest.mark.parametrize("fields", [{"password": "new"}, {"totpKey": KEY}, {"email": "other@example.org"}])
async def test_an_old_session_or_a_token_does_not_take_the_account(served, fields):
    ann = await served.user("ann")
    token = (await ann.post("/session/token", form={})).text
    by_token = served.client({"Authorization": f"Bearer {token}"})
    served.clock.move_wall(16 * 60)
    for client in (ann, by_token):
        refused = await change(client, ann.id, **fields)
        assert (refused.status, refused.text.startswith("currentPassword: needed")) == (400, True)
        refused = await change(client, ann.id, **fields, currentPassword="guess")
        assert (refused.status, refused.text) == (400, "currentPassword: is wrong")
        # Everything else of oneself needs no proof.
        assert (await change(client, ann.id, zoom=3)).status == 200
    answer = await change(ann, ann.id, **fields, currentPassword="ann")
    assert (answer.status, answer.json()["currentPassword"]) == (200, None)


async def test_a_session_that_is_opened_from_another_is_no_younger(starting):
    async with starting(http=HttpSettings(session_max_days=30)) as served:
        ann = await served.user("ann")
        served.clock.move_wall(16 * 60)
        assert (await ann.get(f"/session/{ann.id}")).status == 200
        refused = await change(ann, ann.id, password="new")
        assert (refused.status, refused.text.startswith("currentPassword: needed")) == (400, True)
        # What has proved meanwhile who it is counts.
        assert (await change(ann, ann.id, totpKey=KEY, currentPassword="ann")).status == 200
        assert (await ann.get(f"/session/{ann.id}")).status == 200
        assert (await change(ann, ann.id, totpKey="")).status == 200
        served.clock.move_wall(16 * 60)
        assert (await ann.get(f"/session/{ann.id}")).status == 200
        assert (await change(ann, ann.id, totpKey=KEY)).status == 400
        # Nor does it live longer, also as another user.
        admin = await served.log_in("admin@example.org", "admin")
        day = timedelta(days=1).total_seconds()
        for _ in range(3):
            served.clock.move_wall(9 * day)
            assert (await admin.get(f"/session/{served.admin_id}")).status == 200
        assert (await admin.get(f"/session/{ann.id}")).status == 200
        served.clock.move_wall(4 * day)
        assert (await admin.get("/session")).status == 404


async def test_a_recent_login_and_basic_are_proof_enough_for_clients_that_know_no_current_password(served):
    ann = await served.user("ann")
    served.clock.move_wall(14 * 60)
    assert (await change(ann, ann.id, password="second")).status == 200
    served.clock.move_wall(60 * 60)
    assert (await change(ann, ann.id, password="third")).status == 400
    again = await served.log_in("ann@example.org", "second")
    assert (await change(again, ann.id, password="third")).status == 200
    served.clock.move_wall(60 * 60)
    credential = base64.b64encode(b"ann@example.org:third").decode()
    basic = served.client({"Authorization": f"Basic {credential}"})
    assert (await change(basic, ann.id, password="fourth")).status == 200


async def test_an_administrator_sets_the_password_of_others_without_it_but_not_their_own(served):
    ann = await served.user("ann")
    served.clock.move_wall(3600)
    assert (await change(served.admin, ann.id, password="other")).status == 200
    assert (await change(served.admin, served.admin_id, password="other")).status == 400
    # Acting as the user is no proof of being the user.
    assert (await served.admin.get(f"/session/{ann.id}")).status == 200
    assert (await change(served.admin, ann.id, password="mine")).status == 400


async def test_guesses_at_the_current_password_are_limited(starting):
    login = LoginSettings(hash_memory_kib=64, hash_rounds=1, failures_per_account=3)
    async with starting(login=login) as served:
        ann = await served.user("ann")
        served.clock.move_wall(3600)
        for _ in range(3):
            assert (await change(ann, ann.id, password="new", currentPassword="guess")).status == 400
        assert (await change(ann, ann.id, password="new", currentPassword="ann")).status == 429


async def test_a_login_replaces_a_hash_of_other_parameters(starting, database):
    async def stored():
        return await database.fetch_value("select password_hash from users where email = 'ann@example.org'")

    async with starting() as served:
        await served.user("ann")
        weak = await stored()
    stronger = LoginSettings(hash_memory_kib=128, hash_rounds=2)
    await database.execute("delete from users where email = 'admin@example.org'")
    await database.execute("update server set initialised = false")
    async with starting(login=stronger) as served:
        token = (await (await served.log_in("ann@example.org", "ann")).post("/session/token", form={})).text
        strong = await stored()
        assert ("m=64,t=1" in weak, "m=128,t=2" in strong) == (True, True)
        await served.log_in("ann@example.org", "ann")
        assert await stored() == strong
        # The password is the same, so nothing has ended.
        client = served.client({"Authorization": f"Bearer {token}"})
        assert (await client.get("/devices")).status == 200
        await served.context.logins.passwords.hash("x")
        assert not served.context.logins.passwords.needs_rehash(strong)


async def test_a_login_that_finds_too_many_waiting_is_not_counted_as_failed(starting):
    login = LoginSettings(hash_memory_kib=64, hash_rounds=1, failures_per_account=3)
    async with starting(login=login) as served:
        await served.admin.post("/users", json={"email": "ann@example.org", "password": "ann"})
        served.context.logins.passwords._logins._max_waiting = 0
        form = {"email": "ann@example.org", "password": "ann"}
        for _ in range(5):
            assert (await served.client().post("/session", form=form)).status == 503
        served.context.logins.passwords._logins._max_waiting = 10
        assert (await served.client().post("/session", form=form)).status == 200


async def test_a_one_time_code_key_too_short_is_refused(served):
    ann = await served.user("ann")
    refused = await change(ann, ann.id, totpKey="JBSWY3DP")
    assert (refused.status, refused.text) == (400, "totpKey: is not Base32 of at least 112 bits")
    assert (await change(ann, ann.id, totpKey=pyotp.random_base32())).status == 200
