import json
import threading
from datetime import UTC, datetime

import pytest
import trio
from tests.api.cases import on_one_server

from motorpool.api.login_settings import UserSettings
from motorpool.api.logins.setup import HEADER
from motorpool.api.settings import HttpSettings
from motorpool.storage.accounts import server


async def test_a_server_that_has_lost_all_users_gives_nobody_the_role_of_administrator(served):
    await served.context.database.execute("delete from users")
    sent = {"name": "Eve", "email": "eve@example.org", "password": "eve"}
    refused = await served.client().post("/users", json=sent)
    assert (refused.status, refused.text) == (400, "registration is not open")
    assert (await served.client().get("/server")).json()["newServer"] is False
    await served.context.database.execute("update server set registration = true")
    served.context.stored_server.settings = await server.fetch(served.context.database)
    assert (await served.client().post("/users", json=sent)).json()["administrator"] is False


async def test_registration_is_closed_unless_the_server_opens_it(served):
    sent = {"name": "Eve", "email": "eve@example.org", "password": "eve"}
    assert (await served.client().post("/users", json=sent)).status == 400
    settings = (await served.admin.get("/server")).json()
    assert (
        await served.admin.put("/server", json={**settings, "registration": True, "readonly": False})
    ).status == 200
    made = await served.client().post("/users", json=sent)
    assert made.status == 200
    user = made.json()
    assert (user["administrator"], user["deviceLimit"], user["userLimit"]) == (False, -1, 0)
    assert user["password"] is None
    for role in ({"administrator": True}, {"userLimit": 1}, {"deviceLimit": 9}, {"readonly": True}):
        refused = await served.client().post("/users", json={**sent, "email": "mal@example.org", **role})
        assert refused.status == 400, role


async def test_self_registration_takes_limits_from_the_settings_and_flags_from_the_server(starting):
    async with starting(users=UserSettings(device_limit=3, expiration_days=2)) as served:
        served.clock.stop_wall(datetime(2026, 5, 1, 12, tzinfo=UTC))
        settings = (await served.admin.get("/server")).json()
        await served.admin.put("/server", json={**settings, "registration": True, "deviceReadonly": True})
        made = await served.client().post(
            "/users", json={"name": "Eve", "email": "eve@example.org", "password": "eve"}
        )
        user = made.json()
        assert user["deviceLimit"] == 3
        assert user["expirationTime"] == "2026-05-03T12:00:00Z"
        assert user["deviceReadonly"] is True


async def test_a_user_needs_an_address_and_a_password_and_the_address_is_unique(served):
    for sent in ({"email": "  ", "password": "x"}, {"email": "a" * 129, "password": "x"}, {"email": "a@b"}):
        assert (await served.admin.post("/users", json=sent)).status == 400
    taken = await served.admin.post("/users", json={"email": "ADMIN@example.org", "password": "x"})
    assert taken.status == 400
    assert "email" in taken.text


async def test_a_manager_makes_users_up_to_his_limit_and_sees_only_them(served):
    boss = await served.user("boss", userLimit=1)
    made = await boss.post(
        "/users", json={"name": "A", "email": "a@example.org", "password": "a", "readonly": True}
    )
    assert made.status == 200
    assert made.json()["deviceLimit"] == 0
    assert (
        await boss.post("/users", json={"name": "B", "email": "b@example.org", "password": "b"})
    ).status == 400
    assert [user["email"] for user in (await boss.get("/users")).json()] == ["a@example.org"]
    number = made.json()["id"]
    assert (await boss.get(f"/users/{number}")).status == 200
    assert (await boss.get(f"/users/{served.admin_id}")).status == 404
    changed = {**made.json(), "disabled": True, "name": "Anna"}
    assert (await boss.put(f"/users/{number}", json=changed)).json()["disabled"] is True
    assert (await boss.put(f"/users/{number}", json={**changed, "deviceLimit": 5})).status == 400
    assert (await boss.delete(f"/users/{number}")).status == 204


async def test_listing_users_is_for_administrators_and_managers(served):
    ann = await served.user("ann")
    assert (await ann.get("/users")).status == 400
    listed = (
        await served.admin.get("/users?keyword=ANN&limit=50&offset=0&all=true&excludeAttributes=true")
    ).json()
    assert [user["email"] for user in listed] == ["ann@example.org"]
    assert all(user["password"] is None for user in listed)


async def test_nobody_gives_himself_rights_or_lifts_his_restrictions(served):
    ann = await served.user("ann")
    me = (await ann.get("/session")).json()
    for change in [
        {"administrator": True},
        {"deviceLimit": 5},
        {"userLimit": 5},
        {"readonly": True},
        {"deviceReadonly": True},
        {"disabled": True},
        {"limitCommands": True},
        {"disableReports": True},
        {"fixedEmail": True},
        {"temporary": True},
    ]:
        refused = await ann.put(f"/users/{ann.id}", json={**me, **change})
        assert refused.status == 400
        assert next(iter(change)) in refused.text


async def test_a_user_edits_himself_and_left_out_fields_take_their_defaults(served):
    ann = await served.user("ann", phone="123", attributes={"a": 1})
    stored = await ann.put(f"/users/{ann.id}", json={"name": "Anna", "email": "anna@example.org"})
    assert stored.status == 200
    assert (stored.json()["phone"], stored.json()["attributes"]) == (None, {})
    assert (await served.log_in("anna@example.org", "ann")) is not None


async def test_a_fixed_address_and_a_longer_life_are_for_administrators(served):
    ann = await served.user("ann", fixedEmail=True, expirationTime="2026-06-01T00:00:00Z")
    me = (await ann.get("/session")).json()
    assert (await ann.put(f"/users/{ann.id}", json={**me, "email": "other@example.org"})).status == 400
    assert (
        await ann.put(f"/users/{ann.id}", json={**me, "expirationTime": "2027-01-01T00:00:00Z"})
    ).status == 400
    assert (await ann.put(f"/users/{ann.id}", json={**me, "expirationTime": None})).status == 400
    assert (await ann.put(f"/users/{ann.id}", json={**me, "expirationTime": 1778000000000})).status == 200


async def test_a_readonly_user_changes_only_his_push_token_and_terms(served):
    ann = await served.user("ann", readonly=True, attributes={"color": "red"})
    me = (await ann.get("/session")).json()
    allowed = {**me, "attributes": {"color": "red", "notificationTokens": "abc", "termsAccepted": True}}
    assert (await ann.put(f"/users/{ann.id}", json=allowed)).status == 200
    for change in (
        {"name": "x"},
        {"password": "x"},
        {"attributes": {"color": "blue"}},
        {"totpKey": "JBSWY3DPEHPK3PXP"},
    ):
        assert (await ann.put(f"/users/{ann.id}", json={**allowed, **change})).status == 400, change
    assert (await ann.delete(f"/users/{ann.id}")).status == 400


async def test_the_id_of_the_body_must_be_the_paths(served):
    ann = await served.user("ann")
    me = (await ann.get("/session")).json()
    assert (await ann.put(f"/users/{ann.id}", json={**me, "id": served.admin_id})).status == 400
    assert (await ann.put(f"/users/{ann.id}", json={**me, "id": 0})).status == 200


async def test_a_user_may_delete_himself_and_is_logged_out_then(served):
    ann = await served.user("ann")
    assert (await ann.delete(f"/users/{ann.id}")).status == 204
    assert (await ann.get("/devices")).status == 401
    assert (await served.admin.delete(f"/users/{ann.id}")).status == 404
    assert (await served.admin.get(f"/users/{ann.id}")).status == 404


async def test_another_user_is_not_to_be_seen_or_changed(served):
    ann = await served.user("ann")
    assert (await ann.get(f"/users/{served.admin_id}")).status == 404
    assert (await ann.put(f"/users/{served.admin_id}", json={"email": "x@y"})).status == 400
    assert (await ann.delete(f"/users/{served.admin_id}")).status == 400


async def test_totp_secrets_are_made_for_anybody_and_wrong_ones_refused(served):
    first = await served.client().post("/users/totp")
    second = await served.client().post("/users/totp")
    assert first.status == 200
    assert first.headers["Content-Type"].startswith("text/plain")
    assert first.text != second.text
    refused = await served.admin.post(
        "/users", json={"email": "a@b", "password": "x", "totpKey": "not base32!"}
    )
    assert refused.status == 400


async def open_registration(served):
    settings = (await served.admin.get("/server")).json()
    assert (await served.admin.put("/server", json={**settings, "registration": True})).status == 200


async def until(holds):
    with trio.fail_after(120):
        while not holds():  # noqa: ASYNC110 - what is waited for happens in threads
            await trio.sleep(0.005)


def raw_user(number):
    return {"name": "x", "email": f"{number}@example.org", "password": "secret words"}


async def test_one_address_registers_only_so_often_and_others_go_on(starting):
    chosen = UserSettings(registrations_per_address=3)
    async with starting(users=chosen, http=HttpSettings(trusted_proxies=("127.0.0.0/8",))) as served:
        await open_registration(served)
        for number in range(5):
            # Addresses of one IPv6 network are one client.
            headers = {"X-Forwarded-For": f"2001:db8::{number + 1}"}
            answer = await served.client().post("/users", json=raw_user(number), headers=headers)
            assert answer.status == (200 if number < 3 else 429), answer.text
        assert int(answer.headers["Retry-After"]) > 3000
        elsewhere = {"X-Forwarded-For": "203.0.113.8"}
        assert (await served.client().post("/users", json=raw_user(9), headers=elsewhere)).status == 200
        # Administrators create as many as they like.
        for number in range(10, 15):
            headers = {"X-Forwarded-For": "203.0.113.7"}
            assert (await served.admin.post("/users", json=raw_user(number), headers=headers)).status == 200


async def test_where_registration_is_closed_nothing_is_parsed(served):
    answer = await served.client().post("/users", data=b"[" * 10_000)
    assert (answer.status, answer.text) == (400, "registration is not open")


async def test_a_client_that_leaves_before_its_password_is_hashed_registers_nobody(starting, database):
    async with starting(listen=True) as served:
        await open_registration(served)
        begun, release = [], threading.Event()
        hash_now = served.context.logins.passwords._hasher.hash

        class Held:
            def hash(self, password):
                begun.append(password)
                assert release.wait(30)
                return hash_now(password)

        served.context.logins.passwords._hasher = Held()
        clients = []
        for number in range(4):
            body = json.dumps({**raw_user(number), "password": f"password {number}"}).encode()
            client = await trio.open_tcp_stream("127.0.0.1", served.port)
            head = f"POST /api/users HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            await client.send_all(head.encode() + body)
            clients.append(client)
        hashing = served.context.logins.passwords._new_passwords
        await until(lambda: hashing.waiting == 3)
        for client in clients:
            await trio.aclose_forcefully(client)
        await until(lambda: hashing.waiting == 0)
        release.set()
        await until(lambda: hashing.threads_busy == 0)
        assert len(begun) == 1


async def test_the_last_administrator_stays(served):
    path = f"/users/{served.admin_id}"
    body = (await served.admin.get(path)).json()
    text = "the last administrator can be neither deleted, disabled nor demoted, and has no expiration time"
    for change in (
        {"administrator": False},
        {"disabled": True},
        {"expirationTime": "2027-01-01T00:00:00Z"},
        {"temporary": True},
    ):
        refused = await served.admin.put(path, json={**body, **change})
        assert (refused.status, refused.text) == (400, text), change
    assert (await served.admin.delete(path)).text == text
    # Neither one who is disabled nor one who will expire stands in for them.
    for name, fields in (("off", {"disabled": True}), ("guest", {"expirationTime": "2027-01-01T00:00:00Z"})):
        sent = {"email": f"{name}@example.org", "password": name, "administrator": True, **fields}
        assert (await served.admin.post("/users", json=sent)).status == 200
        assert (await served.admin.delete(path)).text == text
    await served.user("other", administrator=True)
    assert (await served.admin.put(path, json={**body, "administrator": False})).status == 200


async def test_an_administrator_who_expires_is_removed_while_another_one_is_left(served):
    other = await served.user("other", administrator=True, expirationTime="2027-01-01T00:00:00Z")
    assert (await served.admin.delete(f"/users/{other.id}")).status == 204


async def test_a_manager_loses_a_user_who_becomes_administrator(served, database):
    boss = await served.user("boss", userLimit=-1)
    sent = {"name": "Ann", "email": "ann@example.org", "password": "ann"}
    ann = (await boss.post("/users", json=sent)).json()
    path = f"/users/{ann['id']}"
    impersonating = await served.log_in("boss@example.org", "boss")
    assert (await impersonating.get(f"/session/{ann['id']}")).status == 200
    token = (await impersonating.post("/session/token", form={})).text
    assert (await served.admin.put(path, json={**ann, "administrator": True})).status == 200
    assert (await impersonating.get("/users")).status == 401
    assert (await served.client({"Authorization": f"Bearer {token}"}).get("/users")).status == 401
    assert await database.fetch_value("select count(*) from user_user") == 0
    assert (await boss.get(path)).status == 404
    assert (await boss.get("/users")).json() == []
    assert (await boss.get(f"/session/{ann['id']}")).status == 401
    assert (await boss.put(path, json={**ann, "password": "mine"})).status == 400
    assert (await boss.delete(path)).status == 400
    assert (await boss.get(f"/devices?userId={ann['id']}")).status == 400
    await served.log_in("ann@example.org", "ann")
    # The link cannot be made again, and one that is there nevertheless gives no access.
    link = {"userId": boss.id, "managedUserId": ann["id"]}
    refused = await served.admin.post("/permissions", json=link)
    assert (refused.status, refused.text) == (400, "managedUserId: no access to it, or no such")
    await database.execute("insert into user_user values ($1, $2)", boss.id, ann["id"])
    assert (await boss.get(path)).status == 404
    assert (await boss.put(path, json={**ann, "password": "mine"})).status == 400
    assert (await boss.get("/users")).json() == []


async def test_unknown_time_zones_are_refused_where_they_are_changed(served, database):
    ann = await served.user("ann")
    path = f"/users/{ann.id}"
    body = (await served.admin.get(path)).json()
    refused = await ann.put(path, json={**body, "attributes": {"timezone": "Europe/Atlantis"}})
    text = "attributes.timezone: not a known time zone, see GET /server/timezones"
    assert (refused.status, refused.text) == (400, text)
    for known in ("Europe/Berlin", "", None):
        assert (await ann.put(path, json={**body, "attributes": {"timezone": known}})).status == 200
    await database.execute("""update users set attributes = '{"timezone": "old"}' where id = $1""", ann.id)
    assert (await ann.put(path, json={**body, "attributes": {"timezone": "old"}})).status == 200


DISPLAY = {
    "map": "osm",
    "latitude": 52.5,
    "longitude": 13.4,
    "zoom": 9,
    "coordinateFormat": "dms",
    "poiLayer": "https://example.org/poi.kml",
}
FLAGS = {
    "readonly": True,
    "deviceReadonly": True,
    "limitCommands": True,
    "disableReports": True,
    "fixedEmail": True,
}


def chosen_of(user, names):
    return {name: user[name] for name in names}


async def test_new_users_have_the_defaults_of_the_server(served):
    boss = await served.user("boss", userLimit=-1)
    settings = (await served.admin.get("/server")).json()
    saved = {**settings, **DISPLAY, **FLAGS, "readonly": False, "registration": True}
    assert (await served.admin.put("/server", json=saved)).status == 200
    for number, client in enumerate((served.admin, boss, served.client())):
        sent = {"email": f"{number}@example.org", "password": "secret words", "map": None}
        user = (await client.post("/users", json=sent)).json()
        assert chosen_of(user, DISPLAY) == DISPLAY
        assert chosen_of(user, FLAGS) == {**FLAGS, "readonly": False}


async def set_server(served, **changes):
    settings = (await served.admin.get("/server")).json()
    assert (await served.admin.put("/server", json={**settings, **changes})).status == 200


async def test_restrictions_of_the_server_are_defaults_that_act_on_users_only_when_they_are_forced(served):
    flags = {"readonly": True, "deviceReadonly": True, "limitCommands": True}
    await set_server(served, **flags)
    free = await served.user("free", deviceLimit=-1, **dict.fromkeys(flags, False))
    bound = await served.user("bound", deviceLimit=-1)
    command = {"type": "custom", "description": "x", "attributes": {"data": "00"}}
    for path, body in (("/devices", {"name": "x", "uniqueId": "1"}), ("/commands", command)):
        assert (await free.post(path, json=body)).status == 200
        refused = await bound.post(path, json=body)
        assert (refused.status, refused.text) == (400, "the user is read-only")
    # A default that is changed changes no user.
    await set_server(served, **dict.fromkeys(flags, False))
    assert (await bound.post("/commands", json=command)).status == 400
    await set_server(served, **flags, forceSettings=True)
    refused = await free.post("/devices", json={"name": "x", "uniqueId": "2"})
    assert (refused.status, refused.text) == (400, "the user is read-only, by the settings of the server")
    assert (await served.admin.post("/devices", json={"name": "x", "uniqueId": "2"})).status == 200
    # What a client reads it may write back: these are the flags of the row.
    me = (await free.get("/session")).json()
    assert chosen_of(me, flags) == dict.fromkeys(flags, False)
    assert (await free.put(f"/users/{free.id}", json=me)).status == 200


async def test_an_address_that_the_server_fixes_is_kept_and_the_refusal_names_the_server(served):
    ann = await served.user("ann")
    body = {**(await ann.get("/session")).json(), "email": "anna@example.org"}
    await set_server(served, fixedEmail=True, forceSettings=True)
    refused = await ann.put(f"/users/{ann.id}", json=body)
    text = "email: only an administrator may change it, by the settings of the server"
    assert (refused.status, refused.text) == (400, text)
    await set_server(served, forceSettings=False)
    assert (await ann.put(f"/users/{ann.id}", json=body)).status == 200


async def test_what_the_body_of_a_new_user_has_wins_over_the_defaults_of_the_server(served):
    settings = (await served.admin.get("/server")).json()
    assert (await served.admin.put("/server", json={**settings, **DISPLAY, **FLAGS})).status == 200
    own = {
        "map": "carto",
        "latitude": 0.0,
        "longitude": 1.0,
        "zoom": 0,
        "coordinateFormat": "dd",
        "poiLayer": "",
        **dict.fromkeys(FLAGS, False),
    }
    sent = {"email": "ann@example.org", "password": "secret words", **own}
    user = (await served.admin.post("/users", json=sent)).json()
    # An empty text is none.
    assert chosen_of(user, own) == {**own, "poiLayer": None}
    # Only what is new takes them: a body without them means the plain defaults in an update.
    kept = {"email": "ann@example.org"}
    assert (await served.admin.put(f"/users/{user['id']}", json=kept)).json()["map"] is None


@pytest.fixture
async def ann(served):
    return await served.user("ann")


@on_one_server(
    "email",
    [
        "root",
        "@",
        "a@",
        "@b",
        "a@b@c",
        "a b@c",
        "a@b c",
        "a@.c",
        "a@b..c",
        "a@b\n",
        "a\u200b@c",
        "<a@b>",
        "a:1@b",
    ],
)
async def test_a_new_address_has_the_form_of_one(served, ann, email):
    # Surrounding white space is trimmed.
    expected = 200 if email.strip() == "a@b" else 400
    body = {"email": email, "password": "secret words"}
    assert (await served.admin.post("/users", json=body)).status == expected
    if expected == 400:
        refused = await ann.put(f"/users/{ann.id}", json={"email": email, "currentPassword": "ann"})
        assert (refused.status, refused.text) == (400, "email: not an e-mail address")


async def test_addresses_of_all_usual_forms_are_taken(served):
    for email in (
        "a@b",
        "admin@localhost",
        "o'neil+x=1/2@mail.example.org",
        "jörg@müller.de",
        "a.b@xn--d1acufc.su",
    ):
        sent = {"email": email, "password": "secret words"}
        assert (await served.admin.post("/users", json=sent)).json()["email"] == email


async def test_an_address_of_another_form_that_is_stored_already_is_kept(served, database):
    ann = await served.user("ann")
    await database.execute("update users set email = 'ann' where id = $1", ann.id)
    path = f"/users/{ann.id}"
    body = (await served.admin.get(path)).json()
    assert (await served.admin.put(path, json={**body, "name": "Anna"})).status == 200
    assert (await served.admin.put(path, json={**body, "email": "anna"})).status == 400


async def test_the_first_user_may_be_called_admin(starting, database):
    async with starting() as served:
        await database.execute("delete from users; update server set initialised = false")
        sent = {"email": "admin", "password": "secret words"}
        headers = {HEADER: served.context.logins.setup_token}
        made = await served.client().post("/users", json=sent, headers=headers)
        assert made.json()["administrator"] is True


async def test_no_address_or_login_name_is_that_of_another_user(served, database):
    await served.user("root", login="Root")
    await database.execute("update users set login = 'old@example.org' where email = 'root@example.org'")
    ann = await served.user("ann")
    path = f"/users/{ann.id}"
    body = (await served.admin.get(path)).json()
    for field, name in (("email", "OLD@example.org"), ("email", "Root@example.org")):
        for answer in (
            await served.admin.post("/users", json={"email": name, "password": "secret words"}),
            await ann.put(path, json={**body, field: name, "currentPassword": "ann"}),
        ):
            assert (answer.status, answer.text) == (400, f"{field} is taken already")
    await database.execute(
        "update users set email = 'root', login = 'ROUTE' where email = 'root@example.org'"
    )
    for name in ("route", "ROOT"):
        answer = await ann.put(path, json={**body, "login": name})
        assert (answer.status, answer.text) == (400, "login is taken already")
    # An address of one's own may be a login name as well; that of somebody else may not, whoever it is.
    assert (await ann.put(path, json={**body, "login": "Ann@example.org"})).status == 200
    assert (await ann.put(path, json={**body, "login": "boss@example.org"})).status == 400


async def test_names_that_are_shared_already_stay_until_they_are_changed(served, database):
    ann = await served.user("ann")
    await served.user("ben")
    await database.execute("update users set login = 'ben@example.org' where id = $1", ann.id)
    body = (await served.admin.get(f"/users/{ann.id}")).json()
    assert (await ann.put(f"/users/{ann.id}", json=body)).json()["login"] == "ben@example.org"
    assert (await ann.put(f"/users/{ann.id}", json={**body, "login": "annie"})).status == 200


async def test_a_manager_frees_nobody_of_what_binds_them(served):
    bound = {"limitCommands": True, "disableReports": True, "deviceReadonly": True}
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1, **bound)
    sent = {"email": "ann@example.org", "password": "ann"}
    for flag in bound:
        refused = await boss.post("/users", json={**sent, flag: False})
        text = f"{flag}: nobody frees users of a restriction that they are under themselves"
        assert (refused.status, refused.text) == (400, text)
    # What the body leaves out is as restricted as the manager.
    ann = (await boss.post("/users", json=sent)).json()
    assert chosen_of(ann, bound) == bound
    path = f"/users/{ann['id']}"
    for flag in bound:
        assert (await boss.put(path, json={**ann, flag: False})).status == 400
    assert (await boss.put(path, json={**ann, "readonly": True})).status == 200
    assert (await boss.put(path, json=ann)).status == 200
    # What the user has already stays, and is not to be had by their login.
    free = {**ann, **dict.fromkeys(bound, False)}
    assert (await served.admin.put(path, json=free)).status == 200
    assert (await boss.put(path, json={**free, "name": "Anna"})).json()["limitCommands"] is False
    for change in ({"password": "mine"}, {"email": "boss2@example.org"}):
        refused = await boss.put(path, json={**free, **change})
        assert (refused.status, "more rights than the caller" in refused.text) == (400, True)
    assert (await boss.put(path, json={**free, **bound, "password": "mine"})).status == 200


async def test_a_session_as_a_user_has_the_restrictions_of_both(served):
    bound = {"limitCommands": True, "deviceReadonly": True}
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1, **bound)
    ann = await served.user("ann", deviceLimit=-1, userLimit=-1)
    link = {"userId": boss.id, "managedUserId": ann.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    assert (await boss.get(f"/session/{ann.id}")).status == 200
    token = (await boss.post("/session/token", form={})).text
    command = {"type": "custom", "description": "x", "attributes": {"data": "00"}}
    for client in (boss, served.client({"Authorization": f"Bearer {token}"})):
        refused = await client.post("/devices", json={"name": "x", "uniqueId": "1"})
        text = "the user may not change devices, by a restriction of who acts as them"
        assert (refused.status, refused.text) == (400, text)
        assert (await client.post("/commands", json=command)).status == 400
        made = await client.post(
            "/users", json={"email": "ben@example.org", "password": "x", "limitCommands": False}
        )
        assert made.status == 400
        # Shown is what is stored, since clients send it back.
        me = (await client.get("/session")).json()
        assert chosen_of(me, bound) == dict.fromkeys(bound, False)
        assert (await client.put(f"/users/{ann.id}", json=me)).status == 200
    assert (await ann.post("/devices", json={"name": "x", "uniqueId": "1"})).status == 200
    # Administrators are bound by nothing.
    assert (await served.admin.get(f"/session/{ann.id}")).status == 200
    assert (await served.admin.post("/commands", json=command)).status == 200


async def test_only_an_administrator_frees_users_of_a_default_of_the_server(served):
    boss = await served.user("boss", userLimit=-1)
    await set_server(served, limitCommands=True)
    sent = {"email": "ann@example.org", "password": "ann"}
    refused = await boss.post("/users", json={**sent, "limitCommands": False})
    text = "limitCommands: only an administrator frees users of a default of the server"
    assert (refused.status, refused.text) == (400, text)
    ann = (await boss.post("/users", json=sent)).json()
    assert ann["limitCommands"] is True
    assert (await boss.put(f"/users/{ann['id']}", json={**ann, "limitCommands": False})).status == 400
    free = {**ann, "limitCommands": False}
    assert (await served.admin.put(f"/users/{ann['id']}", json=free)).status == 200
    assert (await boss.put(f"/users/{ann['id']}", json={**free, "name": "Anna"})).status == 200


async def test_devices_and_users_of_users_count_for_their_manager(served):
    boss = await served.user("boss", userLimit=3, deviceLimit=2)
    deputy = await served.user("deputy", userLimit=-1, deviceLimit=-1)
    link = {"userId": boss.id, "managedUserId": deputy.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    for number, client in enumerate((deputy, boss)):
        await served.device(client, f"{number}")
        sent = {"email": f"{number}@example.org", "password": "x"}
        assert (await client.post("/users", json=sent)).status == 200
    for client, devices, users in (
        (boss, "the user's limit", "the manager's limit"),
        (deputy, "the limit of a manager of the user", "the limit of a manager above"),
    ):
        refused = await client.post("/devices", json={"name": "x", "uniqueId": "x"})
        assert (refused.status, refused.text) == (400, f"{devices} of devices is reached")
        refused = await client.post("/users", json={"email": "x@example.org", "password": "x"})
        assert (refused.status, refused.text) == (400, f"{users} of users is reached")
