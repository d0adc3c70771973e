"""Rotation of the keys that sign tokens."""

from datetime import timedelta

from motorpool.storage.accounts import signing_keys


async def bearer(served):
    token = (await served.admin.post("/session/token", form={"expiration": "2027-05-01T12:00:00Z"})).text
    return served.client({"Authorization": f"Bearer {token}"}), token


async def status(client):
    return (await client.get("/devices")).status


async def test_tokens_of_before_stay_valid_and_new_ones_have_the_new_key(served, database):
    old, _ = await bearer(served)
    before = served.context.logins.token_keys.current
    served.clock.move_wall(60)
    new_key, old_key = (await served.admin.post("/server/signingkeys")).json()
    assert (old_key["id"], new_key["id"], new_key["acceptedUntil"]) == (1, 2, None)
    assert old_key["acceptedUntil"].startswith("2036-04-28T12:01:")
    assert served.context.logins.token_keys.current != before
    new, _ = await bearer(served)
    assert (await status(old), await status(new)) == (200, 200)
    assert (await served.admin.get("/server/signingkeys")).json() == [new_key, old_key]
    # Only the old key has gone.
    await database.execute("update signing_keys set accepted_until = $1 where id = 1", served.clock.now())
    await served.context.logins.token_keys.reload(served.clock.now())
    assert (await status(old), await status(new)) == (401, 200)
    await signing_keys.delete_expired(database, served.clock.now())
    assert await database.fetch_value("select count(*) from signing_keys") == 1


async def test_all_tokens_end_with_their_sessions_where_that_is_asked_for(served):
    old, token = await bearer(served)
    browser = served.client()
    assert (await browser.get(f"/session?token={token}")).status == 200
    (key,) = (await served.admin.post("/server/signingkeys", form={"endTokens": "true"})).json()
    assert key["id"] == 2
    assert (await status(old), await status(browser)) == (401, 401)
    assert await status(served.admin) == 200


async def test_a_key_that_another_server_has_made_is_found(served, database):
    """It is looked for with a token that no known key has signed, and not each time."""
    other = await served.admin.post("/session/token")
    async with database.transaction() as transaction:
        now = served.clock.now()
        await signing_keys.rotate(transaction, bytes(32), now, now + timedelta(days=1))
    known = served.context.logins.token_keys
    before = known.current
    forged = served.client({"Authorization": "Bearer forged"})
    assert await status(forged) == 401
    assert known.current == bytes(32) != before
    assert await status(served.client({"Authorization": f"Bearer {other.text}"})) == 200
    assert not await known.reload_if_due(now, served.clock.monotonic())


async def test_the_number_of_keys_is_bounded(database, served):
    for _ in range(signing_keys.MAX_KEYS + 2):
        assert (await served.admin.post("/server/signingkeys")).status == 200
    assert len((await served.admin.get("/server/signingkeys")).json()) == signing_keys.MAX_KEYS
