from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import jwt
import pytest
from trio_websocket import open_websocket_url

from motorpool.api.login_settings import ShareSettings
from motorpool.storage.upkeep import expired_rows

TOMORROW = "2026-05-02T12:00:00Z"
LATER = "2026-05-04T12:00:00Z"
DAY = 86400


async def share(client, device_id, expiration=TOMORROW):
    return await client.post("/share/device", form={"deviceId": device_id, "expiration": expiration})


async def share_group(client, group_id, expiration=TOMORROW):
    return await client.post("/share/group", form={"groupId": group_id, "expiration": expiration})


def bearer(served, token):
    return served.client({"Authorization": f"Bearer {token}"})


async def open_link(served, token):
    client = served.client()
    answer = await client.get(f"/session?token={quote(token)}")
    assert answer.status == 200, answer.text
    return client, answer.json()


async def guests(served):
    return [user for user in (await served.admin.get("/users")).json() if user["temporary"]]


async def test_a_guest_sees_the_one_device_and_is_told_that_he_is_temporary(served):
    ann = await served.user("ann", deviceLimit=-1)
    mine, other = await served.device(ann, "111"), await served.device(ann, "222")
    await served.report(served.position(mine), served.position(other))
    token = (await share(ann, mine)).text
    guest, me = await open_link(served, token)
    assert (me["temporary"], me["readonly"], me["deviceLimit"], me["administrator"]) == (True, True, 0, False)
    assert (me["name"], me["email"]) == ("Vehicle 111", "ann@example.org:111")
    assert me["expirationTime"] == "2026-05-02T12:00:00Z"
    assert (me["limitCommands"], me["disableReports"]) == (True, True)
    for client in (guest, bearer(served, token)):
        assert [device["id"] for device in (await client.get("/devices")).json()] == [mine]
        assert [position["deviceId"] for position in (await client.get("/positions")).json()] == [mine]
        assert (await client.get(f"/devices/{other}")).status == 404
        assert (await client.get("/session")).json()["temporary"] is True


async def test_the_token_is_a_jwt_with_the_expiration_and_a_purpose_of_its_own(served):
    device = await served.device(served.admin, "111")
    claims = jwt.decode(
        (await share(served.admin, device)).text,
        served.context.logins.token_keys.current,
        ["HS256"],
        audience="share",
        options={"verify_exp": False},
    )
    assert claims["exp"] == datetime(2026, 5, 2, 12, tzinfo=UTC).timestamp()


async def test_a_guest_of_a_group_sees_what_is_in_it_whenever_he_looks(served):
    group = (await served.admin.post("/groups", json={"name": "North"})).json()["id"]
    first = await served.device(served.admin, "111", groupId=group)
    token = (await share_group(served.admin, group)).text
    guest, me = await open_link(served, token)
    assert (me["name"], me["email"]) == ("North", f"admin@example.org:group:{group}")
    assert [device["id"] for device in (await guest.get("/devices")).json()] == [first]
    second = await served.device(served.admin, "222", groupId=group)
    assert [device["id"] for device in (await guest.get("/devices")).json()] == [first, second]


async def test_a_guest_changes_nothing_and_passes_nothing_on(served):
    device = await served.device(served.admin, "111")
    token = (await share(served.admin, device)).text
    guest, me = await open_link(served, token)
    row = (await guest.get(f"/devices/{device}")).json()
    assert (await guest.put(f"/devices/{device}", json={**row, "name": "x"})).status == 400
    assert (await guest.delete(f"/devices/{device}")).status == 400
    assert (await guest.put(f"/users/{me['id']}", json={**me, "readonly": False})).status == 400
    assert (await guest.put(f"/users/{me['id']}", json={**me, "password": "x"})).status == 400
    assert (await share(guest, device)).status == 403
    assert (await guest.post("/session/token", form={})).status == 400
    assert (await guest.get(f"/session/{served.admin_id}")).status == 401
    sent = {"deviceId": device, "type": "positionSingle", "attributes": {}}
    assert (await guest.post("/commands/send", json=sent)).status == 400
    period = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    assert (await guest.get(f"/positions?deviceId={device}&{period}")).status == 400


async def test_the_settings_let_guests_do_what_the_owner_may(starting):
    async with starting(share=ShareSettings(commands=True, reports=True)) as served:
        ann = await served.user("ann", deviceLimit=-1)
        ben = await served.user("ben", deviceLimit=-1, limitCommands=True, disableReports=True)
        for owner, number, limited in ((ann, "111", False), (ben, "222", True)):
            device = await served.device(owner, number, name="V")
            _, me = await open_link(served, (await share(owner, device)).text)
            assert (me["limitCommands"], me["disableReports"]) == (limited, limited)


async def test_each_token_ends_at_its_own_time_and_the_user_with_the_last(served):
    device = await served.device(served.admin, "111")
    short = (await share(served.admin, device, TOMORROW)).text
    long = (await share(served.admin, device, LATER)).text
    shorter = (await share(served.admin, device, "2026-05-02T00:00:00Z")).text
    (user,) = await guests(served)
    assert user["expirationTime"] == "2026-05-04T12:00:00Z"
    opened, _ = await open_link(served, short)
    served.clock.move_wall(DAY)
    for token in (short, shorter):
        assert (await bearer(served, token).get("/devices")).status == 401
        assert (await served.client().get(f"/session?token={token}")).status == 404
    assert (await opened.get("/devices")).status == 401
    assert (await bearer(served, long).get("/devices")).status == 200
    served.clock.move_wall(2 * DAY)
    assert (await bearer(served, long).get("/devices")).status == 401


async def test_nobody_shares_for_longer_than_he_has_himself(served):
    ann = await served.user("ann", deviceLimit=-1, expirationTime="2026-05-01T18:00:00Z")
    device = await served.device(ann, "111")
    _, me = await open_link(served, (await share(ann, device, LATER)).text)
    assert me["expirationTime"] == "2026-05-01T18:00:00Z"
    token = (await served.admin.post("/session/token", form={"expiration": "2026-05-01T13:00:00Z"})).text
    device = await served.device(served.admin, "222")
    _, me = await open_link(served, (await share(bearer(served, token), device, LATER)).text)
    assert me["expirationTime"] == "2026-05-01T13:00:00Z"


async def test_what_is_not_the_callers_to_share_is_400(served):
    ann = await served.user("ann", deviceLimit=-1)
    device = await served.device(served.admin, "111")
    group = (await served.admin.post("/groups", json={"name": "North"})).json()["id"]
    for number in (device, 999999, 0):
        assert (await share(ann, number)).status == 400
    for number in (group, 999999, 0):
        assert (await share_group(ann, number)).status == 400
    for form in (
        {"deviceId": device},
        {"expiration": TOMORROW},
        {"deviceId": "x", "expiration": TOMORROW},
        {},
    ):
        assert (await served.admin.post("/share/device", form=form)).status == 400
    for expiration in ("2026-05-01T12:00:00Z", "2026-05-02T12:00:00", "tomorrow", "0001-01-01T00:00:00Z"):
        assert (await share(served.admin, device, expiration)).status == 400
    assert await guests(served) == []
    assert (await share(served.client(), device)).status == 401


async def test_sharing_switched_off_is_403_and_a_readonly_user_400(served):
    ann = await served.user("ann", deviceLimit=-1)
    device = await served.device(ann, "111")
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**user, "readonly": True})
    assert (await share(ann, device)).status == 400
    settings = (await served.admin.get("/server")).json()
    await served.admin.put("/server", json={**settings, "attributes": {"disableShare": True}})
    assert (await share(ann, device)).status == 403
    assert (await share(served.admin, device)).status == 403


async def test_an_account_that_somebody_made_under_the_address_of_a_share_is_never_used_for_it(
    served, database
):
    settings = (await served.admin.get("/server")).json()
    await served.admin.put("/server", json={**settings, "registration": True})
    ann = await served.user("ann", deviceLimit=-1)
    device = await served.device(ann, "111")
    planted = {"name": "Eve", "email": "ann@example.org:111", "password": "eve"}
    assert (await served.client().post("/users", json={**planted, "temporary": True})).status == 400
    assert (await served.client().post("/users", json=planted)).text == "email: not an e-mail address"
    # Earlier releases took any text.
    made = await served.client().post("/users", json={**planted, "email": "eve@example.org"})
    await database.execute("update users set email = $2 where id = $1", made.json()["id"], planted["email"])
    eve = await served.log_in("ann@example.org:111", "eve")
    _, me = await open_link(served, (await share(ann, device)).text)
    assert me["email"].startswith("ann@example.org:111:")
    assert (await eve.get("/devices")).json() == []
    # One that an administrator made temporary has a password: that is not a guest either.
    mine = (await eve.get("/session")).json()
    await served.admin.put(f"/users/{mine['id']}", json={**mine, "temporary": True})
    assert (await share(ann, device, LATER)).status == 200
    assert (await eve.get("/devices")).json() == []


async def test_an_object_that_took_over_anothers_name_gets_a_guest_of_its_own(served):
    first = await served.device(served.admin, "111")
    token = (await share(served.admin, first)).text
    row = (await served.admin.get(f"/devices/{first}")).json()
    await served.admin.put(f"/devices/{first}", json={**row, "uniqueId": "999"})
    second = await served.device(served.admin, "111")
    other = (await share(served.admin, second)).text
    assert [each["id"] for each in (await bearer(served, token).get("/devices")).json()] == [first]
    assert [each["id"] for each in (await bearer(served, other).get("/devices")).json()] == [second]


async def test_the_longest_names_have_guests_too_and_the_same_one_again(served):
    email = "a" * 110 + "@example.org"
    await served.admin.post("/users", json={"name": "A", "email": email, "password": "a", "deviceLimit": -1})
    owner = await served.log_in(email, "a")
    numbers = ["x" * 127 + last for last in "ab"]
    for number in numbers:
        device = await served.device(owner, number, name="V")
        for _ in range(2):
            assert (await share(owner, device)).status == 200
    assert len({user["email"] for user in await guests(served)}) == 2


async def test_a_link_is_revoked_by_who_made_it_and_by_nobody_else_but_administrators(served):
    ann, ben = await served.user("ann", deviceLimit=-1), await served.user("ben")
    device = await served.device(ann, "111")
    token, other = (await share(ann, device)).text, (await share(ann, device, LATER)).text
    guest, _ = await open_link(served, token)
    assert (await ben.post("/session/token/revoke", form={"token": token})).status == 400
    assert (await guest.get("/devices")).status == 200
    assert (await ann.post("/session/token/revoke", form={"token": token})).status == 204
    assert (await guest.get("/devices")).status == 401
    assert (await bearer(served, token).get("/devices")).status == 401
    assert (await bearer(served, other).get("/devices")).status == 200
    assert (await served.admin.post("/session/token/revoke", form={"token": other})).status == 204
    assert (await bearer(served, other).get("/devices")).status == 401


async def test_an_administrator_ends_a_share_by_deleting_its_user(served):
    device = await served.device(served.admin, "111")
    token = (await share(served.admin, device)).text
    (user,) = await guests(served)
    assert (await served.admin.delete(f"/users/{user['id']}")).status == 204
    assert (await bearer(served, token).get("/devices")).status == 401


async def test_expired_guests_are_deleted(served):
    device = await served.device(served.admin, "111")
    await share(served.admin, device)
    now = served.clock.now()
    assert await expired_rows.delete_temporary_users(served.context.database, now) == []
    (user,) = await guests(served)
    late = now + timedelta(days=1)
    assert await expired_rows.delete_temporary_users(served.context.database, late) == [user["id"]]


async def test_a_share_is_audited(served, database):
    device = await served.device(served.admin, "111")
    await share(served.admin, device)
    (user,) = await guests(served)
    row = await database.fetch_row("select * from audit order by id desc limit 1")
    assert (row["action_type"], row["object_type"], row["object_id"]) == ("create", "share", user["id"])
    assert (row["user_id"], row["attributes"]["deviceId"]) == (served.admin_id, device)


async def test_a_token_for_guests_opens_the_socket_of_the_one_device(starting):
    async with starting(listen=True) as served:
        mine, other = await served.device(served.admin, "111"), await served.device(served.admin, "222")
        await served.report(served.position(mine), served.position(other))
        token = (await share(served.admin, mine)).text
        address = f"ws://127.0.0.1:{served.port}/api/socket?token={quote(token)}"
        async with open_websocket_url(address) as socket:
            first = await socket.get_message()
            assert f'"deviceId":{mine}' in first
            assert f'"deviceId":{other}' not in first


@pytest.mark.parametrize("purpose", ["reset", "openid"])
async def test_tokens_for_something_else_open_nothing(served, purpose):
    from motorpool.api.auth.tokens import issue

    now = served.clock.now()
    text, _ = issue(
        served.context.logins.token_keys, served.admin_id, purpose, now + timedelta(days=1), now=now
    )
    assert (await bearer(served, text).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={text}")).status == 404


async def test_a_guest_has_no_more_than_who_shares_and_who_acts_as_them(starting):
    async with starting(share=ShareSettings(commands=True, reports=True)) as served:
        ann = await served.user("ann", deviceLimit=-1)
        boss = await served.user(
            "boss", userLimit=-1, deviceLimit=-1, limitCommands=True, expirationTime=TOMORROW
        )
        await served.admin.post("/permissions", json={"userId": boss.id, "managedUserId": ann.id})
        number = await served.device(ann, "1")
        assert (await boss.get(f"/session/{ann.id}")).status == 200
        assert (await share(boss, number, LATER)).status == 200
        (guest,) = await guests(served)
        assert (guest["limitCommands"], guest["disableReports"]) == (True, False)
        assert guest["expirationTime"] == TOMORROW
        settings = (await served.admin.get("/server")).json()
        await served.admin.put("/server", json={**settings, "disableReports": True})
        assert (await share(ann, number, LATER)).status == 200
        (guest,) = await guests(served)
        assert (guest["limitCommands"], guest["disableReports"]) == (False, True)


@pytest.mark.parametrize("end", ["parted", "disabled", "password"])
async def test_a_link_ends_with_the_access_of_who_made_it_as_another_user(served, end):
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1)
    ann = await served.user("ann", deviceLimit=-1)
    link = {"userId": boss.id, "managedUserId": ann.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    device = await served.device(ann, "1")
    own = bearer(served, (await share(ann, device)).text)
    assert (await boss.get(f"/session/{ann.id}")).status == 200
    token = (await share(boss, device)).text
    guest, _ = await open_link(served, token)
    for client in (own, guest, bearer(served, token)):
        assert (await client.get("/devices")).status == 200
    if end == "parted":
        assert (await served.admin.delete("/permissions", json=link)).status == 204
    else:
        me = (await served.admin.get(f"/users/{boss.id}")).json()
        changed = {"disabled": True} if end == "disabled" else {"password": "another"}
        assert (await served.admin.put(f"/users/{boss.id}", json={**me, **changed})).status == 200
    for client in (guest, bearer(served, token)):
        assert (await client.get("/devices")).status == 401
    # That of the user stays.
    assert (await own.get("/devices")).status == 200


async def test_a_group_is_shared_by_who_sees_the_groups_below_it(served):
    ann = await served.user("ann")
    numbers = [0]
    for level in range(4):
        made = await served.admin.post("/groups", json={"name": f"Level {level}", "groupId": numbers[-1]})
        numbers.append(made.json()["id"])
    await served.admin.post("/permissions", json={"userId": ann.id, "groupId": numbers[1]})
    assert (await share_group(ann, numbers[1])).status == 200
    refused = await share_group(ann, numbers[2])
    text = "groupId: there are groups below it that the caller has no access to"
    assert (refused.status, refused.text) == (400, text)
    assert (await share_group(served.admin, numbers[2])).status == 200
