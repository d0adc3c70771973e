import pyotp
import pytest
import trio

from motorpool.api.login_settings import UserSettings
from motorpool.api.logins.setup import HEADER
from motorpool.storage.accounts import users

ANN = "ann@example.org"


async def role(served, email):
    user = await users.by_email(served.context.database, email)
    return None if user is None else user.administrator


async def edit(served, number, **fields):
    user = (await served.admin.get(f"/users/{number}")).json()
    answer = await served.admin.put(f"/users/{number}", json={**user, **fields})
    assert answer.status == 200, answer.text


async def test_who_is_unknown_is_refused_while_registration_is_closed(starting, openid):
    async with starting(openid=openid.settings()) as served:
        refused = await openid.log_in(served.client(), ANN)
        assert (refused.status, "no account" in refused.text) == (401, True)
        assert await role(served, ANN) is None
        settings = (await served.admin.get("/server")).json()
        await served.admin.put("/server", json={**settings, "registration": True})
        assert (await openid.log_in(served.client(), ANN)).status == 303


async def test_a_new_user_has_the_name_and_the_limits_of_who_registers_himself(starting, openid):
    limits = UserSettings(device_limit=3, expiration_days=2)
    async with starting(openid=openid.settings(allow_registration=True), users=limits) as served:
        settings = (await served.admin.get("/server")).json()
        await served.admin.put("/server", json={**settings, "deviceReadonly": True})
        await openid.user("a1", email=ANN, email_verified=True, name="Ann Lee")
        client = served.client()
        assert (await openid.log_in(client, "a1")).status == 303
        me = (await client.get("/session")).json()
        assert (me["name"], me["deviceLimit"], me["fixedEmail"], me["deviceReadonly"]) == (
            "Ann Lee",
            3,
            True,
            True,
        )
        # The clock goes on: how far depends on the machine.
        assert me["expirationTime"].startswith("2026-05-03T12:00:")
        # Nobody knows a password for him.
        for password in ("", "a1", "None"):
            answer = await served.client().post("/session", form={"email": ANN, "password": password})
            assert answer.status in {400, 401}
        served.clock.move_wall(2 * 86400)
        assert (await openid.log_in(served.client(), "a1")).status == 401


async def test_a_known_user_is_found_by_his_address_whatever_the_case(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        ann = await served.user("ann")
        await openid.user("a1", email="ANN@Example.org ", email_verified=True)
        client = served.client()
        assert (await openid.log_in(client, "a1")).status == 303
        assert (await client.get("/session")).json()["id"] == ann.id


async def test_a_linked_user_is_found_by_subject_whatever_the_address(starting, openid, database):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        ann = await served.user("ann")
        await served.user("boss", administrator=True)
        await openid.user("a1", email=ANN, email_verified=True)
        assert (await openid.log_in(served.client(), "a1")).status == 303
        # The provider gives the subject an address that is another account's here, even an administrator's.
        for email, verified in (("boss@example.org", True), ("new@example.org", False), (ANN, None)):
            await openid.user("a1", email=email, email_verified=verified)
            client = served.client()
            assert (await openid.log_in(client, "a1")).status == 303
            assert (await client.get("/session")).json()["id"] == ann.id
        row = await database.fetch_row("select object_id, attributes from audit where action_type = 'link'")
        assert (row["object_id"], row["attributes"]["openid"]["subject"]) == (ann.id, "a1")


async def test_an_address_that_is_given_to_another_person_gives_no_account(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        await openid.user("a1", email=ANN, email_verified=True)
        assert (await openid.log_in(served.client(), "a1")).status == 303
        await openid.user("a1", email="gone@example.org", email_verified=True)
        await openid.user("eve", email=ANN, email_verified=True)
        refused = await openid.log_in(served.client(), "eve")
        assert (refused.status, "another login" in refused.text) == (401, True)


async def test_parallel_first_logins_make_one_user(starting, openid, database):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        await openid.user("a1", email=ANN, email_verified=True)
        found = []

        async def log_in():
            client = served.client()
            assert (await openid.log_in(client, "a1")).status == 303
            found.append((await client.get("/session")).json()["id"])

        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(log_in)
        assert len(set(found)) == 1
        assert await database.fetch_value("select count(*) from openid_identities") == 1


async def test_the_login_name_of_another_user_gives_no_account_and_no_second_one_of_that_name(
    starting, openid, database
):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        eve = await served.user("eve")
        # As earlier versions let users do.
        await database.execute("update users set login = $1 where id = $2", ANN.upper(), eve.id)
        client = served.client()
        refused = await openid.log_in(client, ANN)
        assert (refused.status, "another account" in refused.text) == (401, True)
        assert (await client.get("/session")).status == 404


async def test_letters_that_only_look_alike_in_another_case_are_another_address(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        kim = await served.user("kim")
        await openid.user("k1", email="\u212aim@example.org", email_verified=True)
        client = served.client()
        # The Kelvin sign; whether it becomes a k depends on the database's alphabet.
        await openid.log_in(client, "k1")
        answer = await client.get("/session")
        assert answer.status == 404 or answer.json()["id"] != kim.id


@pytest.mark.parametrize("verified", [False, "false", None])
async def test_an_administrator_is_not_had_by_an_address_that_is_not_verified(starting, openid, verified):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        claims = {} if verified is None else {"email_verified": verified}
        await openid.user("eve", email="Admin@example.org", **claims)
        client = served.client()
        assert (await openid.log_in(client, "eve")).status == 401
        assert (await client.get("/session")).status == 404
        await openid.user("boss", email="admin@example.org", email_verified=True)
        assert (await openid.log_in(client, "boss")).status == 303
        assert (await client.get("/session")).json()["administrator"] is True


async def test_an_address_that_the_provider_has_not_verified_is_refused(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        await served.user("ann")
        for verified in (False, "False", "no"):
            await openid.user("a1", email=ANN, email_verified=verified)
            assert (await openid.log_in(served.client(), "a1")).status == 401
        # One that the provider says nothing of makes a new user, but does not give an account that exists.
        await openid.user("a1", email=ANN)
        assert (await openid.log_in(served.client(), "a1")).status == 401
        await openid.user("b1", email="ben@example.org")
        assert (await openid.log_in(served.client(), "b1")).status == 303
        await openid.user("a1", email=ANN, email_verified=True)
        assert (await openid.log_in(served.client(), "a1")).status == 303


async def test_by_setting_only_a_verified_address_counts(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True, require_verified=True)) as served:
        await openid.user("a1", email=ANN)
        assert (await openid.log_in(served.client(), "a1")).status == 401
        await openid.user("a1", email=ANN, email_verified="true")
        assert (await openid.log_in(served.client(), "a1")).status == 303


async def test_without_an_address_nobody_logs_in(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        for email in (
            None,
            "",
            5,
            "ann",
            "a\0nn@example.org",
            "a" * 120 + "@example.org",
            ["ann@example.org"],
        ):
            await openid.user("a1", email=email, email_verified=True)
            assert (await openid.log_in(served.client(), "a1")).status == 401, email


async def test_the_disabled_expired_and_temporary_do_not_log_in(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        ann = await served.user("ann")
        await openid.user("a1", email=ANN, email_verified=True)
        for wrong in (
            {"disabled": True},
            {"disabled": False, "expirationTime": "2026-05-01T11:00:00Z"},
            {"expirationTime": None, "temporary": True},
        ):
            await edit(served, ann.id, **wrong)
            refused = await openid.log_in(served.client(), "a1")
            assert (refused.status, "disabled" in refused.text) == (401, True)
        await edit(served, ann.id, temporary=False)
        assert (await openid.log_in(served.client(), "a1")).status == 303


async def test_what_was_prepared_in_an_account_ends_when_its_owner_first_logs_in_by_the_provider(
    starting, openid, database
):
    async with starting(openid=openid.settings()) as served:
        receivers = {
            "webhook.url": "https://eve.example",
            "mail.smtp.host": "eve.example",
            "ntfyTopic": "eve",
        }
        attributes = {**receivers, "timezone": "Europe/Lisbon"}
        eve = await served.user("ann", deviceLimit=1, phone="+4930", attributes=attributes)
        device = await served.device(eve, "1")
        token = (await eve.post("/session/token", form={})).text
        form = {"deviceId": device, "expiration": "2026-05-02T00:00:00Z"}
        link = (await eve.post("/share/device", form=form)).text
        guest = served.client()
        assert (await guest.get(f"/session?token={link}")).status == 200
        callers = [
            eve,
            guest,
            *(served.client({"Authorization": f"Bearer {text}"}) for text in (token, link)),
        ]
        assert {(await each.get("/devices")).status for each in callers} == {200}
        await openid.user("a1", email=ANN, email_verified=True)
        ann = served.client()
        assert (await openid.log_in(ann, "a1")).status == 303
        assert {(await each.get("/devices")).status for each in callers} == {401}
        prepared = {"email": ANN, "password": "ann"}
        assert (await served.client().post("/session", form=prepared)).status == 401
        row = await database.fetch_row("select object_id, attributes from audit where action_type = 'link'")
        assert (row["object_id"], row["attributes"]["password"]) == (eve.id, "removed")
        assert set(row["attributes"]["removed"]) == {"phone", *receivers}
        # The owner sets a new password, which later logins by the provider leave alone.
        me = (await ann.get("/session")).json()
        assert (me["phone"], me["attributes"]) == (None, {"timezone": "Europe/Lisbon"})
        me = {**me, "phone": "+351"}
        assert (await ann.put(f"/users/{eve.id}", json={**me, "password": "mine alone"})).status == 200
        again = served.client()
        assert (await openid.log_in(again, "a1")).status == 303
        assert (await ann.get("/session")).json()["phone"] == "+351"
        await served.log_in(ANN, "mine alone")


async def test_an_account_that_the_provider_made_keeps_what_its_owner_adds(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        await openid.user("a1", email=ANN, email_verified=True)
        first, second = served.client(), served.client()
        for client in (first, second):
            assert (await openid.log_in(client, "a1")).status == 303
        assert (await first.get("/session")).json()["email"] == ANN


async def test_an_administrator_who_was_one_before_the_link_stays_one_without_the_group(starting, openid):
    async with starting(openid=openid.settings(admin_group="bosses")) as served:
        await served.user("boss", administrator=True)
        await openid.user("b1", email="boss@example.org", email_verified=True)
        for _ in range(2):
            assert (await openid.log_in(served.client(), "b1")).status == 303
            assert await role(served, "boss@example.org") is True


async def test_a_second_factor_is_the_providers_affair(starting, openid):
    async with starting(openid=openid.settings()) as served:
        ann = await served.user("ann")
        await edit(served, ann.id, totpKey=pyotp.random_base32())
        await openid.user("a1", email=ANN, email_verified=True)
        assert (await openid.log_in(served.client(), "a1")).status == 303
        # Here it is asked for as ever.
        await edit(served, ann.id, password="another one")
        form = {"email": ANN, "password": "another one"}
        assert (await served.client().post("/session", form=form)).headers["WWW-Authenticate"] == "TOTP"


async def test_only_the_group_that_may_log_in_does(starting, openid):
    chosen = openid.settings(allow_registration=True, allow_group="drivers", admin_group="bosses")
    async with starting(openid=chosen) as served:
        for groups, status in (
            (None, 401),
            ([], 401),
            (["other"], 401),
            ("drivers", 303),
            (["x", "drivers"], 303),
            (["bosses"], 303),
            ({"drivers": True}, 401),
        ):
            await openid.user("a1", email=ANN, email_verified=True, groups=groups)
            assert (await openid.log_in(served.client(), "a1")).status == status, groups


async def test_the_group_of_administrators_gives_the_role_and_takes_it_from_who_has_it_by_the_provider(
    starting, openid
):
    chosen = openid.settings(allow_registration=True, admin_group="bosses", groups_claim="roles")
    async with starting(openid=chosen) as served:
        await openid.user("a1", email=ANN, roles=["bosses"])
        client = served.client()
        assert (await openid.log_in(client, "a1")).status == 303
        assert await role(served, ANN) is True
        assert (
            await client.get("/statistics?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")
        ).status == 200
        # The same claim by another name says nothing.
        await openid.user("a1", email=ANN, email_verified=True, groups=["bosses"])
        assert (await openid.log_in(served.client(), "a1")).status == 303
        assert await role(served, ANN) is False
        # It counts for what is open already.
        assert (
            await client.get("/statistics?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")
        ).status == 400
        # Who was made administrator here stays one.
        await openid.user("boss", email="admin@example.org", email_verified=True)
        assert (await openid.log_in(served.client(), "boss")).status == 303
        assert await role(served, "admin@example.org") is True


async def test_the_last_administrator_stays_one_whatever_the_provider_says(starting, openid, database):
    chosen = openid.settings(allow_registration=True, admin_group="bosses")
    async with starting(openid=chosen) as served:
        await openid.user("a1", email=ANN, groups=["bosses"])
        assert (await openid.log_in(served.client(), "a1")).status == 303
        await database.execute("delete from users where email = 'admin@example.org'")
        await openid.user("a1", email=ANN, groups=[])
        assert (await openid.log_in(served.client(), "a1")).status == 303
        assert await database.fetch_value("select administrator from users where email = $1", ANN) is True


EMPTY = "delete from users; update server set initialised = false"


async def begin_set_up(client, token):
    """Begin a login with the set-up token, as the console does; where the browser goes on."""
    begun = await client.post("/session/openid/auth", form={"to": "/"}, headers={HEADER: token})
    assert begun.status == 200, begun.text
    return begun.text


async def test_the_first_user_of_an_empty_server_needs_the_set_up_token(starting, openid, database):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        await database.execute(EMPTY)
        await openid.user("a1", email=ANN)
        token = served.context.logins.setup_token
        # Not as a parameter, which logs of proxies show.
        for query in ("", f"?setup={token}"):
            refused = await openid.log_in(served.client(), "a1", query=query)
            assert (refused.status, "set-up token" in refused.text) == (401, True)
        for sent, status in (("guess", 401), (token, 303)):
            client = served.client()
            address = await begin_set_up(client, sent)
            assert (await openid.finish(client, address, "a1")).status == status
        assert await role(served, ANN) is True


async def test_where_a_group_makes_administrators_the_first_user_is_one_of_it(starting, openid, database):
    async with starting(openid=openid.settings(admin_group="bosses")) as served:
        await database.execute(EMPTY)
        assert (await openid.log_in(served.client(), ANN)).status == 401
        await openid.user("b1", email="ben@example.org", groups=["bosses"])
        assert (await openid.log_in(served.client(), "b1")).status == 303
        assert await role(served, "ben@example.org") is True
