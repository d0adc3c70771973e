from datetime import timedelta

from motorpool.api.auth.tokens import issue
from motorpool.storage.accounts import tokens


async def statements(served, monkeypatch):
    """Every statement that identifying a caller takes."""
    seen = []
    database = type(served.context.database)
    for name in ("fetch", "fetch_row", "fetch_value"):
        known = getattr(database, name)

        async def noting(self, sql, *args, known=known):
            seen.append(sql)
            return await known(self, sql, *args)

        monkeypatch.setattr(database, name, noting)
    return seen


async def test_the_second_request_of_a_user_asks_no_table_who_he_is(served, monkeypatch):
    text = (await served.admin.post("/session/token")).text
    authenticate_token = served.client({"Authorization": f"Bearer {text}"})
    for client in (authenticate_token, served.admin):
        assert (await client.get("/server/timezones")).status == 200
    seen = await statements(served, monkeypatch)
    for client in (authenticate_token, served.admin):
        assert (await client.get("/server/timezones")).status == 200
    assert seen == []


async def test_a_changed_user_is_changed_at_his_next_request(served):
    ann = await served.user("ann", deviceLimit=-1)
    assert (await ann.get("/users")).status == 400
    record = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**record, "userLimit": 5})
    assert (await ann.get("/users")).status == 200
    await served.admin.put(f"/users/{ann.id}", json={**record, "disabled": True})
    assert (await ann.get("/devices")).status == 401
    await served.admin.delete(f"/users/{ann.id}")
    assert (await ann.get("/devices")).status == 401


async def test_a_new_address_counts_at_once_and_the_old_one_no_longer(served):
    ann = await served.user("ann")
    old = served.client({"Authorization": "Basic YW5uQGV4YW1wbGUub3JnOmFubg=="})
    assert (await old.get("/devices")).status == 200
    record = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**record, "email": "anna@example.org"})
    assert (await old.get("/devices")).status == 401


async def test_a_revoked_token_is_refused_at_its_next_use(served):
    text = (await served.admin.post("/session/token")).text
    client = served.client({"Authorization": f"Bearer {text}"})
    assert (await client.get("/devices")).status == 200
    assert (await served.admin.post("/session/token/revoke", form={"token": text})).status == 204
    assert (await client.get("/devices")).status == 401


async def test_a_session_that_was_closed_opens_nothing(served):
    ann = await served.user("ann")
    cookie = served.cookie(ann)
    thief = served.client({"Cookie": f"JSESSIONID={cookie}"})
    assert (await thief.get("/devices")).status == 200
    await ann.delete("/session")
    assert (await thief.get("/devices")).status == 401


async def test_a_token_revoked_by_nobody_we_know_is_refused_too(served):
    now = served.clock.now()
    text, token = issue(
        served.context.logins.token_keys, served.admin_id, "session", now + timedelta(days=1), now=now
    )
    await tokens.revoke(served.context.database, token.id, token.expires)
    assert (await served.client({"Authorization": f"Bearer {text}"}).get("/devices")).status == 401
