"""What people see of it is tested over HTTP, in tests/api/resources/test_password.py; here is the rest."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from tests.runtime.actor_testing import Probe, TestClock, open_tree

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.settings import PublicSettings
from motorpool.api.auth.password_resets import PASSWORD_RESETS, PasswordResetRequested, PasswordResets
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.auth.tokens import RESET, read
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.login_settings import OpenIdSettings
from motorpool.api.settings import Settings
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.accounts.signing_keys import SigningKey
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
KEY = SigningKeys(None, [SigningKey(1, bytes(32), datetime(2026, 1, 1, tzinfo=UTC), None)])
ACCOUNT = MailSettings(host="127.0.0.1", port=1, address="fleet@example.org")


@asynccontextmanager
async def running(database, *, account=ACCOUNT, **settings):
    """The actor, and a probe where the outbox would be woken."""
    outbox = Probe()
    chosen = Settings(**settings)
    mail = OutgoingServices(mail=account).mail
    specs = (
        ChildSpec(kind=OUTBOX, factory=lambda: outbox),
        ChildSpec(
            kind=PASSWORD_RESETS,
            factory=lambda: PasswordResets(database, mail, KEY, LiveSettings(chosen), None),
        ),
    )
    async with open_tree(*specs, clock=TestClock(NOW)) as system:
        yield system, outbox


async def put(database, name, **fields):
    return await users.TABLE.insert(database, User(email=f"{name}@example.org", **fields))


@pytest.mark.parametrize(("page", "joint"), [(None, "#"), ("index.html", "?"), ("logo.svg", "#")])
async def test_the_token_is_in_the_fragment_unless_another_page_looks_for_it_in_the_query(
    database, tmp_path, page, joint
):
    await put(database, "ann")
    if page is not None:
        (tmp_path / "override").mkdir()
        (tmp_path / "override" / page).write_text("")
    async with running(database, data=tmp_path) as (system, outbox):
        await system.ref(PASSWORD_RESETS).tell(PasswordResetRequested("ann@example.org"))
        await outbox.receive()
    (row,) = await database.fetch("select * from deliveries")
    assert f"http://127.0.0.1:8082/reset-password{joint}passwordReset=" in row["message"]["text"]


async def test_the_mail_waits_in_the_outbox_no_longer_than_its_link_is_good(database):
    ann = await put(database, "ann")
    async with running(database) as (system, outbox):
        await system.ref(PASSWORD_RESETS).tell(PasswordResetRequested("ann@example.org"))
        assert await outbox.receive() == OutboxFilled()
    (row,) = await database.fetch("select * from deliveries")
    assert row["expires"] - NOW == timedelta(hours=1)
    assert (row["lane"], row["user_id"], row["message"]["system"]) == ("mail", ann.id, True)
    (text,) = [word.partition("=")[2] for word in row["message"]["text"].split() if "passwordReset" in word]
    token = read(KEY, text, {RESET}, now=NOW)
    assert (token.user_id, token.expires) == (ann.id, NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({"disabled": True}, {}),
        ({"temporary": True}, {}),
        ({"expiration_time": NOW}, {}),
        ({}, {"openid": OpenIdSettings(issuer="https://id.example.org", client_id="m", force=True)}),
        ({}, {"account": MailSettings()}),
    ],
)
async def test_who_may_not_log_in_by_a_password_is_mailed_none(database, fields, settings):
    await put(database, "ben", **fields)
    await put(database, "ann")
    async with running(database, **settings) as (system, _):
        for name in ("nobody", "ben", "nul\0"):
            await system.ref(PASSWORD_RESETS).tell(PasswordResetRequested(f"{name}@example.org"))
        # Its stop comes after what was told before.
        await system.ref(PASSWORD_RESETS).stop()
    assert await database.fetch_value("select count(*) from deliveries") == 0


async def test_an_outbox_that_takes_nothing_costs_one_mail_and_not_the_actor(database, caplog):
    await put(database, "ann")
    await database.execute("alter table deliveries rename to away")
    async with running(database) as (system, _):
        await system.ref(PASSWORD_RESETS).tell(PasswordResetRequested("ann@example.org"))
        await system.ref(PASSWORD_RESETS).stop()
    assert "a password reset could not be written" in caplog.text
    assert "Traceback" not in caplog.text


async def test_links_that_lead_to_an_address_nobody_set_are_warned_of_once(database, caplog):
    async with running(database, bind="0.0.0.0:9090"):
        pass
    assert caplog.text.count("links in mails lead to http://localhost:9090") == 1
    caplog.clear()
    async with running(database, public=PublicSettings(url="https://fleet.example.org")):
        pass
    async with running(database, account=MailSettings()):
        pass
    assert "links in mails" not in caplog.text
