async def test_a_row_says_who_did_what_to_what_from_where(served, database):
    number = await served.device(served.admin, "1")
    row = await database.fetch_row("select * from audit where object_type = 'device'")
    assert (row["action_type"], row["object_id"], row["user_id"]) == ("create", number, served.admin_id)
    assert row["action_time"].date().isoformat() == "2026-05-01"
    assert row["address"]


async def test_what_is_undone_is_not_audited(served, database):
    refused = await served.admin.post("/devices", json={"name": "x", "uniqueId": "y", "groupId": 77})
    assert refused.status == 400
    assert await database.fetch_value("select count(*) from audit where object_type = 'device'") == 0


async def test_no_password_or_token_is_in_the_log(served, database):
    token = (await served.admin.post("/session/token", form={})).text
    await served.user("ann")
    rows = str([dict(row.items()) for row in await database.fetch("select * from audit")])
    assert token not in rows
    assert "argon2" not in rows
