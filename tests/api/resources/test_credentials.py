"""One's own sessions, tokens and share links: what is listed, and how each is ended."""

from datetime import timedelta

import pytest

UNTIL = "2026-05-03T00:00:00Z"


@pytest.fixture
async def ana(served):
    return await served.user("ana", deviceLimit=-1)


@pytest.fixture
async def device_id(served, ana):
    return await served.device(ana, "7")


async def bearer(served, client, **form):
    answer = await client.post("/session/token", form=form)
    assert answer.status == 200, answer.text
    return served.client({"Authorization": f"Bearer {answer.text}"})


async def log_in_by(served, client):
    """A session that begins with the token of a client."""
    token = client.headers["Authorization"].removeprefix("Bearer ")
    browser = served.client()
    answer = await browser.get(f"/session?token={token}")
    assert answer.status == 200, answer.text
    return browser


async def listed(client, name, query=""):
    answer = await client.get(f"/{name}{query}")
    assert answer.status == 200, answer.text
    return answer.json()


async def status(client, path="/devices"):
    return (await client.get(path)).status


async def test_sessions_are_listed_and_ended_one_by_one(served, ana):
    other = served.client({"User-Agent": "A browser"})
    form = {"email": "ana@example.org", "password": "ana"}
    assert (await other.post("/session", form=form)).status == 200
    served.clock.move_wall(120)
    assert await status(ana) == 200
    first, second = await listed(ana, "sessions")
    assert (first["current"], second["current"]) == (True, False)
    assert second["userAgent"] == "A browser"
    assert {first["userId"], second["userId"]} == {ana.id}
    assert first["lastUsed"] > second["lastUsed"]
    # By an administrator too, and by nobody else.
    assert await listed(served.admin, "sessions", f"?userId={ana.id}") != []
    ben = await served.user("ben")
    assert (await ben.delete(f"/sessions/{second['id']}")).status == 404
    assert (await ana.delete(f"/sessions/{second['id']}")).status == 204
    assert await status(other) == 401
    assert await status(ana) == 200
    assert (await served.admin.delete(f"/sessions/{first['id']}")).status == 204
    assert await status(ana) == 401


async def test_all_other_sessions_end_at_once(served, ana, database):
    """What a user does who has changed a password or a one-time-code key, or lost a device."""
    others = [await served.log_in("ana@example.org", "ana") for _ in range(3)]
    ben = await served.user("ben")
    by_token = await log_in_by(served, token := await bearer(served, ana))
    acting = await served.log_in("admin@example.org", "admin")
    assert (await acting.get(f"/session/{ana.id}")).status == 200
    # A session that she began as somebody else ends too.
    await served.admin.post("/permissions", json={"userId": ana.id, "managedUserId": ben.id})
    user = (await served.admin.get(f"/users/{ana.id}")).json()
    await served.admin.put(f"/users/{ana.id}", json={**user, "userLimit": 1})
    assert (await others[0].get(f"/session/{ben.id}")).status == 200
    assert (await ben.delete(f"/sessions?userId={ana.id}")).status == 400
    assert (await ana.delete("/sessions")).status == 204
    assert await status(ana) == 200
    for client in (*others, by_token, acting):
        assert await status(client) == 401
    # Tokens and sessions of other users stay.
    assert (await status(token), await status(ben), await status(served.admin)) == (200, 200, 200)
    row = await database.fetch(
        "select user_id, attributes from audit where action_type = 'remove' and object_type = 'session'"
    )
    assert [(each[0], each[1]) for each in row] == [(ana.id, {"userId": ana.id, "sessions": 5})]
    # With a token none is one's own; an administrator ends those of anybody.
    assert (await token.delete("/sessions")).status == 204
    assert await status(ana) == 401
    ana = await served.log_in("ana@example.org", "ana")
    assert (await served.admin.delete(f"/sessions?userId={user['id']}")).status == 204
    assert (await status(ana), await status(served.admin)) == (401, 200)


async def test_one_token_ends_with_its_sessions_and_what_was_issued_with_it(served, ana):
    """Two tokens that expire in the same second are still two."""
    expires = {"expiration": UNTIL}
    one, two = await bearer(served, ana, **expires), await bearer(served, ana, **expires)
    by_one, by_two = await log_in_by(served, one), await log_in_by(served, two)
    from_one = await bearer(served, one)
    from_session = await bearer(served, by_one)
    tokens = {token["id"]: token for token in await listed(one, "tokens")}
    assert len(tokens) == 4
    (current,) = [token for token in tokens.values() if token["current"]]
    assert (await ana.delete(f"/tokens/{current['id']}")).status == 204
    for client in (one, by_one, from_one, from_session):
        assert await status(client) == 401
    for client in (ana, two, by_two):
        assert await status(client) == 200
    assert len(await listed(ana, "tokens")) == 1


async def test_a_new_password_takes_the_tokens_off_the_list(served, ana):
    await bearer(served, ana)
    served.clock.move_wall(1)
    changed = {**(await ana.get(f"/users/{ana.id}")).json(), "password": "a new one"}
    assert (await served.admin.put(f"/users/{ana.id}", json=changed)).status == 200
    ana = await served.log_in("ana@example.org", "a new one")
    assert await listed(ana, "tokens") == []


async def share(served, client, device_id):
    answer = await client.post("/share/device", form={"deviceId": device_id, "expiration": UNTIL})
    assert answer.status == 200, answer.text
    return served.client({"Authorization": f"Bearer {answer.text}"})


async def test_a_share_is_listed_with_what_it_shows_and_ended_alone(served, ana, device_id):
    guest = await share(served, ana, device_id)
    other = await share(served, ana, device_id)
    browser = await log_in_by(served, guest)
    shares = await listed(ana, "shares")
    assert [(each["deviceId"], each["groupId"], each["expires"]) for each in shares] == [
        (device_id, 0, UNTIL)
    ] * 2
    guest_id = (await guest.get("/session")).json()["id"]
    assert {each["userId"] for each in shares} == {guest_id}
    for ended, each in enumerate(shares, 1):
        assert (await ana.delete(f"/shares/{each['id']}")).status == 204
        assert [await status(guest), await status(other)].count(401) == ended
    assert await status(browser) == 401
    assert await listed(ana, "shares") == []


async def test_the_number_of_tokens_is_limited(served, ana, monkeypatch):
    monkeypatch.setattr("motorpool.storage.accounts.tokens.MAX_TOKENS", 1)
    await bearer(served, ana)
    answer = await ana.post("/session/token")
    assert answer.status == 400
    assert answer.text == "1 tokens that have not expired are all that a user may have"
    served.clock.move_wall(timedelta(days=8).total_seconds())
    ana = await served.log_in("ana@example.org", "ana")
    await bearer(served, ana)


async def test_what_was_ended_is_audited(served, ana):
    token = await bearer(served, ana)
    (row,) = await listed(token, "tokens")
    await ana.delete(f"/tokens/{row['id']}")
    span = "?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    rows = (await served.admin.get(f"/audit{span}")).json()
    assert rows[-1]["actionType"] == "remove"
    assert (rows[-1]["objectType"], rows[-1]["userId"]) == ("token", ana.id)


async def test_managers_see_and_end_what_their_users_are_logged_in_with(served, ana, device_id):
    boss = await served.user("boss", userLimit=-1)
    ben = await served.user("ben", userLimit=-1)
    link = {"userId": boss.id, "managedUserId": ana.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    with_token = await bearer(served, ana)
    (session,) = await listed(boss, "sessions", f"?userId={ana.id}")
    (token,) = await listed(boss, "tokens", f"?userId={ana.id}")
    for path in (f"sessions?userId={ana.id}", f"tokens?userId={ana.id}"):
        assert (await ben.get(f"/{path}")).status == 400
    assert (await ben.delete(f"/sessions?userId={ana.id}")).status == 400
    assert (await ben.delete(f"/tokens/{token['id']}")).status == 404
    assert (await ben.delete(f"/sessions/{session['id']}")).status == 404
    assert (await boss.delete(f"/sessions?userId={ana.id}")).status == 204
    assert await status(ana) == 401
    assert await status(boss) == 200
    assert await status(with_token) == 200
    assert (await boss.delete(f"/tokens/{token['id']}")).status == 204
    assert await status(with_token) == 401
    # Administrators are nobody's users.
    assert (await boss.delete(f"/sessions?userId={served.admin_id}")).status == 400
