import itertools
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import trio

from motorpool.actors.accounts.user_rights import is_restricted
from motorpool.storage.accounts import links, server, sessions, users
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.errors import Conflict, StatementRejected
from motorpool.storage.records import ServerSettings, Session, User
from motorpool.storage.upkeep import expired_rows

NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def test_a_user_keeps_every_field(database):
    user = User(
        name="Ann",
        login="ann",
        email="Ann@Example.com",
        phone="1",
        readonly=True,
        administrator=True,
        map="osm",
        latitude=1.25,
        longitude=-2.5,
        zoom=3,
        coordinate_format="dd",
        disabled=True,
        expiration_time=NOW,
        device_limit=-1,
        user_limit=5,
        device_readonly=True,
        limit_commands=True,
        disable_reports=True,
        fixed_email=True,
        poi_layer="p",
        totp_key="ABC",
        temporary=True,
        attributes={"a": 1},
    )
    stored = await users.TABLE.insert(database, user)
    assert await users.TABLE.fetch(database, stored.id) == msgspec.structs.replace(user, id=stored.id)


@pytest.mark.parametrize("flag", ["readonly", "limit_commands"])
async def test_restrictions_are_the_same_in_sql_as_in_memory(database, flag):
    for own, default, forced in itertools.product((False, True), repeat=3):
        user = await users.TABLE.insert(database, User(email=f"{own}{default}{forced}", **{flag: own}))
        settings = ServerSettings(force_settings=forced, **{flag: default})
        await server.save(database, settings)
        sql = f"select {users.restricted(flag, 'u')} from users u where id = $1"
        assert await database.fetch_value(sql, user.id) is is_restricted(user, settings, flag)


async def test_the_password_hash_is_in_no_record(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    await users.set_password(database, user.id, "$argon2id$secret")
    assert b"argon2" not in msgspec.json.encode(await users.TABLE.fetch(database, user.id))


async def test_a_user_is_found_by_address_or_login_whatever_the_case(database):
    user = await users.TABLE.insert(database, User(email="Ann@Example.com", login="annie"))
    await users.set_password(database, user.id, "hash")
    for name in ("ann@example.com", " ANN@EXAMPLE.COM ", "Annie"):
        assert await users.by_email(database, name) == user
    assert await users.by_email(database, "ben@example.com") is None


async def test_an_address_counts_before_a_login_of_the_same_text(database):
    await users.TABLE.insert(database, User(email="x@example.com", login="ann@example.com"))
    ann = await users.TABLE.insert(database, User(email="ann@example.com"))
    assert (await users.by_email(database, "ann@example.com")) == ann


async def test_an_address_is_taken_whatever_its_case(database):
    await users.TABLE.insert(database, User(email="ann@example.com"))
    with pytest.raises(Conflict) as refused:
        await users.TABLE.insert(database, User(email="ANN@example.com"))
    assert refused.value.field == "email"


async def test_a_user_needs_an_address(database):
    with pytest.raises(StatementRejected):
        await users.TABLE.insert(database, User(name="nobody"))


async def test_saving_a_user_keeps_his_password(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    assert await users.set_password(database, user.id, "hash")
    await users.TABLE.update(database, msgspec.structs.replace(user, name="A"))
    assert (await users.accounts(database, [user.id]))[user.id].password_hash == "hash"
    assert not await users.set_password(database, 999, "hash")


async def test_the_oldest_administrator_may_log_in(database):
    assert await users.oldest_administrator(database) is None
    await users.TABLE.insert(database, User(email="plain@example.com"))
    await users.TABLE.insert(database, User(email="off@example.com", administrator=True, disabled=True))
    first = await users.TABLE.insert(database, User(email="first@example.com", administrator=True))
    await users.TABLE.insert(database, User(email="second@example.com", administrator=True))
    assert await users.oldest_administrator(database) == first


async def test_transactions_that_create_the_same_user_take_turns(database):
    made = []

    async def create():
        async with database.transaction() as transaction:
            await users.lock_name(transaction, "Ann@example.com")
            if await users.by_address(transaction, "ann@example.com") is None:
                made.append(await users.TABLE.insert(transaction, User(email="ann@example.com")))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(create)
    assert len(made) == 1


async def test_of_transactions_that_take_one_name_as_address_or_login_one_gets_it(database):
    people = [await users.TABLE.insert(database, User(email=f"u{number}")) for number in range(8)]
    outcomes = []

    async def take(user):
        field, name = ("email", "root") if user.id % 2 else ("login", "ROOT")
        try:
            async with database.transaction() as transaction:
                await users.claim_names(transaction, user.id, {field: name, "other": f"x{user.id}"})
                changed = msgspec.structs.replace(user, **{field: name})
                outcomes.append(await users.TABLE.update(transaction, changed))
        except Conflict as conflict:
            outcomes.append(conflict.field == field)

    async with trio.open_nursery() as nursery:
        for user in people:
            nursery.start_soon(take, user)
    assert outcomes.count(True) == 7
    (taken,) = [user for user in outcomes if user is not True]
    assert await users.id_by_email(database, "Root") == taken.id
    # One's own names are no others'.
    async with database.transaction() as transaction:
        await users.claim_names(transaction, taken.id, {"email": "root", "login": "ROOT"})


async def test_names_that_are_shared_are_found(database):
    ann = await users.TABLE.insert(database, User(email="Root", login="root"))
    ben = await users.TABLE.insert(database, User(email="b", login="ROOT2"))
    assert await users.shared_names(database, 5) == []
    await database.execute("update users set email = 'root2' where id = $1", ann.id)
    assert await users.shared_names(database, 5) == [("root2", ann.id, ben.id)]
    assert await users.shared_names(database, 0) == []


async def test_share_users_go_when_their_time_is_over(database):
    for name, over, temporary in (("a", True, True), ("b", False, True), ("c", True, False)):
        expires = NOW if over else NOW + timedelta(hours=1)
        await users.TABLE.insert(
            database, User(email=f"{name}@example.com", temporary=temporary, expiration_time=expires)
        )
    assert len(await expired_rows.delete_temporary_users(database, NOW)) == 1
    assert [user.email for user in await users.TABLE.list(database)] == ["b@example.com", "c@example.com"]


async def test_a_manager_lists_his_own_users(database):
    boss = await users.TABLE.insert(database, User(email="boss@example.com"))
    his = await users.TABLE.insert(database, User(email="his@example.com"))
    await users.TABLE.insert(database, User(email="other@example.com"))
    await links.add(database, links.USER_USER, boss.id, his.id)
    assert await users.TABLE.list(database, ListQuery(accessible_to=boss.id)) == [his]


async def test_an_account_is_the_user_and_what_his_credentials_are_checked_against(database):
    ann = await users.TABLE.insert(database, User(email="ann@example.com"))
    ben = await users.TABLE.insert(database, User(email="ben@example.com"))
    await users.set_password(database, ben.id, "hash")
    await users.end_tokens(database, ben.id, NOW)
    assert await users.accounts(database, [ann.id, ben.id, 999]) == {
        ann.id: users.Account(ann, None, None),
        ben.id: users.Account(ben, "hash", NOW),
    }


async def test_a_new_password_ends_what_the_old_one_opened(database):
    ann = await users.TABLE.insert(database, User(email="ann@example.org"))
    for name in ("kept", "other"):
        await sessions.insert(database, Session(name, ann.id, NOW, NOW, NOW, None, None))
    assert await users.change_password(database, ann.id, "hash", NOW, keep_session="kept")
    assert list(await sessions.fetch(database, ["kept", "other"])) == ["kept"]
    assert (await users.accounts(database, [ann.id]))[ann.id] == users.Account(ann, "hash", NOW)
    assert not await users.change_password(database, 999, "hash", NOW)


async def test_an_address_is_no_login_name(database):
    ann = await users.TABLE.insert(database, User(email="ann@example.org", login="ben@example.org"))
    assert await users.by_address(database, "ANN@example.org") == ann
    assert await users.by_address(database, "ben@example.org") is None
