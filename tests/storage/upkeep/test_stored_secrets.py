"""Secrets are encrypted where they are stored, and plain to whoever reads them through the server."""

import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from motorpool.actors.words.masking import HIDDEN
from motorpool.storage.accounts import server, signing_keys, tokens, users
from motorpool.storage.database import encryption_keys
from motorpool.storage.database.database import open_database
from motorpool.storage.deliveries import queue, receivers
from motorpool.storage.deliveries.outbox import OWN_MAIL, TICKETS, OutgoingMessage, enqueue
from motorpool.storage.devices import devices, groups
from motorpool.storage.encryption import Keyring, new_key, parse_key
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk.company_tables import COMPANIES
from motorpool.storage.helpdesk.helpdesk_records import Company
from motorpool.storage.records import Device, Group, User
from motorpool.storage.rules import rule_rows
from motorpool.storage.secret_attributes import ENCRYPTED
from motorpool.storage.settings import DatabaseSettings
from motorpool.storage.upkeep.stored_secrets import TABLES, encrypt_stored, give_up

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FIRST, SECOND = new_key(), new_key()
SECRETS = {
    "device.secret": "secret-device",
    "mail.smtp.password": "secret-mail",
    "webhook.secret": "secret-webhook-0123456789",
    "webhook.url": "https://example.org/secret-hook",
    "ntfyTopic": "secret-topic",
    "pushoverUserKey": "secret-user",
    "devicePassword": "secret-pin",
    "ticketWebhook": {"url": "https://example.org", "secret": "secret-one", "previousSecret": "secret-two"},
}
ATTRIBUTES = {**SECRETS, "mail.smtp.host": "mail.example.org", "color": "red", "number": 5}
ALL = """
    select string_agg(line, ' ') from (
        select users::text as line from users union all select devices::text from devices
        union all select groups::text from groups union all select server::text from server
        union all select companies::text from companies
        union all select encode(value, 'escape') from signing_keys
        union all select encode(value, 'escape') from keys
    ) as lines
"""


@pytest.fixture
def opened(database_url, tmp_path):
    @asynccontextmanager
    async def open_(*keys, **more):
        settings = DatabaseSettings(url=database_url, data=tmp_path, keys=keys)
        async with open_database(settings, clock_now=lambda: NOW, **more) as database:
            yield database

    return open_


async def fill(database):
    """One row of each kind, and two keys."""
    await users.TABLE.insert(
        database, User(email="a@example.org", totp_key="SECRETKEY", attributes=ATTRIBUTES)
    )
    await users.TABLE.insert(database, User(email="b@example.org"))
    await devices.TABLE.insert(database, Device(name="d", unique_id="d", attributes=ATTRIBUTES))
    await groups.TABLE.insert(database, Group(name="g", attributes=ATTRIBUTES))
    await COMPANIES.insert(database, Company(name="c", attributes=ATTRIBUTES))
    row = await server.fetch(database)
    await server.save(database, type(row)(attributes=ATTRIBUTES))
    await signing_keys.load(database, lambda: b"secret-signing", NOW)
    await tokens.signing_key(database, "set-up", lambda: b"secret-setup")


async def read(database):
    """What the server reads of it."""
    (account,) = (await users.accounts(database, [1])).values()
    found = [
        (await users.TABLE.fetch(database, 1)).totp_key,
        account.user.totp_key,
        account.user.attributes,
        (await users.TABLE.fetch(database, 2)).totp_key,
        (await devices.TABLE.list(database))[0].attributes,
        (await devices.all_by_unique_ids(database, ["d"]))["d"].attributes,
        (await groups.TABLE.fetch_versioned(database, 1)).record.attributes,
        (await rule_rows.groups(database))[1].attributes,
        (await COMPANIES.fetch_many(database, [1]))[0].attributes,
        (await server.fetch(database)).attributes,
        (await signing_keys.load(database, bytes, NOW))[0].value,
        await tokens.signing_key(database, "set-up", bytes),
    ]
    assert found == [
        *("SECRETKEY", "SECRETKEY", ATTRIBUTES, None),
        *[ATTRIBUTES] * 6,
        *(b"secret-signing", b"secret-setup"),
    ]


async def stored(database):
    return await database.fetch_value(ALL)


def test_what_is_masked_is_encrypted():
    assert set(HIDDEN) < set(ENCRYPTED)
    assert {table.name for table in TABLES} == {
        "users",
        "devices",
        "groups",
        "server",
        "companies",
        "settings",
    }


async def test_secrets_are_encrypted_where_they_are_stored(opened):
    async with opened(FIRST) as database:
        await fill(database)
        text = await stored(database)
        assert ("secret-" in text, "SECRETKEY" in text) == (False, False)
        assert text.count("enc:1:") == 1 + 9 * 5 + 2
        for plain in ("mail.example.org", "red"):
            assert plain in text
        await read(database)
        async with database.transaction() as transaction:
            await read(transaction)
            user = await users.TABLE.fetch(transaction, 1, lock=True)
            assert await users.TABLE.update(transaction, user) == user
        made = await devices.register(database, ["e"], 1)
        assert made[0].attributes == {}


async def test_what_is_sent_has_the_secrets_of_its_receiver(opened):
    async with opened(FIRST) as database:
        await fill(database)
        for lane in ("webhook", TICKETS):
            lease = await receivers.acquire(database, lane, 1, "x", now=NOW, until=NOW)
            assert lease.attributes == ATTRIBUTES
        mail = OutgoingMessage(channel="mail", to="a@example.org", text="x", user_id=1)
        await enqueue(database, mail, now=NOW)
        (due,) = (await queue.take(database, OWN_MAIL, 1, now=NOW, limit=1, with_account=True)).messages
        assert due.account == ATTRIBUTES


async def test_what_was_stored_before_there_was_a_key_is_encrypted_once(opened, caplog):
    caplog.set_level(logging.INFO)
    async with opened() as database:
        await fill(database)
        assert "SECRETKEY" in await stored(database)
        await encrypt_stored(database)
        assert "enc:1:" not in await stored(database)
    async with opened(FIRST) as database:
        await read(database)
        versions = await database.fetch_value("select array_agg(version) from users")
        await encrypt_stored(database)
        text = await stored(database)
        assert ("SECRETKEY" in text, "secret-" in text, text.count("enc:1:")) == (False, False, 1 + 9 * 5 + 2)
        await read(database)
        await encrypt_stored(database)
        assert await stored(database) == text
        # Clients that have the version of a record keep it: nothing that they see has changed.
        assert await database.fetch_value("select array_agg(version) from users") == versions
    assert caplog.text.count("records with secrets are now encrypted") == 1


async def test_another_key_replaces_the_first_one_which_then_can_be_removed(opened, caplog):
    caplog.set_level(logging.INFO)
    async with opened(FIRST) as database:
        await fill(database)
    async with opened(SECOND, FIRST) as database:
        await read(database)
        await encrypt_stored(database)
        await read(database)
    first, second = parse_key(FIRST).id, parse_key(SECOND).id
    assert f"nothing is encrypted with the key {first} any more" in caplog.text
    async with opened(SECOND) as database:
        await read(database)
        assert (await stored(database)).count(f"enc:1:{second}:") == 1 + 9 * 5 + 2


async def test_a_value_that_was_changed_is_refused_and_keeps_the_others_from_nothing(opened, caplog):
    async with opened(FIRST) as database:
        await fill(database)
        await database.execute("update users set totp_key = attributes ->> 'ntfyTopic' where id = 1")
        with pytest.raises(StorageError, match=r"a value of users\.totp_key cannot be decrypted"):
            await users.TABLE.fetch(database, 1)
    async with opened(SECOND, FIRST) as database:
        await encrypt_stored(database)
        assert (await devices.TABLE.fetch(database, 1)).attributes == ATTRIBUTES
        # The old key stays in use, since not everything was encrypted anew.
        assert await encryption_keys.missing(database, Keyring()) == sorted(
            [parse_key(FIRST).id, parse_key(SECOND).id]
        )
    assert "users 1: a value of users.totp_key cannot be decrypted" in caplog.text


async def test_secrets_whose_key_is_lost_are_given_up(opened):
    async with opened(FIRST) as database:
        await fill(database)
        await users.TABLE.insert(database, User(email="c@example.org", attributes={"ntfyTopic": "other"}))
    lost = {
        "companies.attributes": 1,
        "devices.attributes": 1,
        "groups.attributes": 1,
        "server.attributes": 1,
        "users.attributes": 2,
        "users.totp_key": 1,
        "signing_keys.value": 1,
        "keys.value": 1,
    }
    async with opened(without_keys=True) as database:
        before = await stored(database)
        assert await give_up(database, Keyring([parse_key(FIRST)]), commit=True) == {}
        assert await give_up(database, Keyring(), commit=False) == lost
        assert await stored(database) == before
        assert await give_up(database, Keyring(), commit=True) == lost
    async with opened(SECOND) as database:
        user = await users.TABLE.fetch(database, 1)
        assert user.totp_key is None
        assert user.attributes == {
            "mail.smtp.host": "mail.example.org",
            "color": "red",
            "number": 5,
            "ticketWebhook": {"url": "https://example.org"},
        }
        assert (await signing_keys.load(database, lambda: b"new", NOW))[0].value == b"new"
