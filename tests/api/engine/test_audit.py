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


async def last_row(database, object_type="user"):
    row = await database.fetch_row(
        "select * from audit where object_type = $1 order by id desc limit 1", object_type
    )
    return dict(row.items())


async def test_before_and_after_of_privileged_fields_are_in_the_log_and_no_others(served, database):
    ann = await served.user("ann", deviceLimit=5)
    assert (await last_row(database))["attributes"] == {
        "email": {"after": "ann@example.org"},
        "deviceLimit": {"after": 5},
    }
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    changed = {
        "name": "Ann Lee",
        "administrator": True,
        "disabled": False,
        "deviceLimit": -1,
        "userLimit": 3,
        "readonly": True,
        "expirationTime": "2027-01-01T00:00:00Z",
        "email": "lee@example.org",
    }
    assert (await served.admin.put(f"/users/{ann.id}", json={**user, **changed})).status == 200
    row = await last_row(database)
    assert (row["action_type"], row["user_id"], row["object_id"]) == ("edit", served.admin_id, ann.id)
    assert row["attributes"] == {
        "administrator": {"before": False, "after": True},
        "deviceLimit": {"before": 5, "after": -1},
        "userLimit": {"before": 0, "after": 3},
        "readonly": {"before": False, "after": True},
        "expirationTime": {"before": None, "after": "2027-01-01T00:00:00Z"},
        "email": {"before": "ann@example.org", "after": "lee@example.org"},
    }
    assert (await served.admin.delete(f"/users/{ann.id}")).status == 204
    row = await last_row(database)
    assert (row["action_type"], row["attributes"]["email"]) == ("remove", {"before": "lee@example.org"})


async def test_that_secrets_were_changed_is_in_the_log_and_they_are_not(served, database):
    ann = await served.user("ann")
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    for sent, said in (
        ({"password": "s3cret-one"}, {"password": "changed"}),
        ({"totpKey": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"}, {"totpKey": "set"}),
        ({"totpKey": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXQ"}, {"totpKey": "changed"}),
        ({"totpKey": ""}, {"totpKey": "removed"}),
        ({"attributes": {"mail.smtp.password": "s3cret-two"}}, {}),
        ({}, {}),
    ):
        assert (await served.admin.put(f"/users/{ann.id}", json={**user, **sent})).status == 200
        assert (await last_row(database))["attributes"] == said
    rows = str([dict(row.items()) for row in await database.fetch("select * from audit")])
    for secret in ("s3cret", "JBSWY", "argon2"):
        assert secret not in rows


async def test_who_may_do_what_on_the_server_and_which_device_is_who_are_in_the_log(served, database):
    settings = (await served.admin.get("/server")).json()
    await served.admin.put("/server", json={**settings, "registration": True, "zoom": 3})
    assert (await last_row(database, "server"))["attributes"] == {
        "registration": {"before": False, "after": True}
    }
    number = await served.device(served.admin, "1")
    device = (await served.admin.get(f"/devices/{number}")).json()
    await served.admin.put(
        f"/devices/{number}", json={**device, "uniqueId": "2", "disabled": True, "model": "x"}
    )
    assert (await last_row(database, "device"))["attributes"] == {
        "uniqueId": {"before": "1", "after": "2"},
        "disabled": {"before": False, "after": True},
    }


async def test_what_is_done_as_another_user_names_who_acts(served, database):
    ann, boss = await served.user("ann"), await served.user("boss", administrator=True)
    assert (await boss.get(f"/session/{ann.id}")).status == 200
    login = dict((await database.fetch_row("select * from audit order by id desc limit 1")).items())
    assert (login["action_type"], login["user_id"], login["object_id"]) == ("login", ann.id, ann.id)
    assert login["attributes"] == {
        "method": "impersonation",
        "impersonatorId": boss.id,
        "impersonatorEmail": "boss@example.org",
    }
    # The session is Ann's now; what it does, and what a token of it does, is known to be another's deed.
    token = (await boss.post("/session/token", form={})).text
    opened = served.client()
    assert (await opened.get(f"/session?token={token}")).status == 200
    for client in (boss, opened, served.client({"Authorization": f"Bearer {token}"})):
        assert (await client.post("/groups", json={"name": "x"})).status == 200
    rows = await database.fetch("select * from audit where id > $1 order by id", login["id"])
    assert [row["action_type"] for row in rows] == ["create", "login", "create", "create", "create"]
    assert {row["user_id"] for row in rows} == {ann.id}
    assert {row["attributes"].get("impersonatorId") for row in rows} == {boss.id}
    # Her own deeds name nobody else.
    await ann.post("/groups", json={"name": "y"})
    assert "impersonatorId" not in (await last_row(database, "group"))["attributes"]
