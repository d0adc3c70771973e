from datetime import timedelta
from functools import partial

import pytest
from tests.actors.schedules.icalendar import NOW

from motorpool.actors.deliveries import OutgoingServices, SmtpAccount
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.runtime import ChildSpec
from motorpool.runtime.testing import Probe
from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox
from motorpool.storage.records import User

ACCOUNT = SmtpAccount(host="mail.example.org", port=25, security="none", address="fleet@example.org")


@pytest.fixture
def outgoing():
    """Services with a mail account."""
    return OutgoingServices(mail=ACCOUNT)


@pytest.fixture
def tree(tree):
    """`tree` with an actor of the outbox, which sends nothing."""
    return partial(tree, ChildSpec(kind=OUTBOX, factory=lambda: Probe({OutboxFilled: None}), resident=False))


@pytest.fixture
def person(database):
    """`await person("ann")`: a user with a mail address."""

    async def make(name="ann", **fields):
        return await users.TABLE.insert(database, User(name=name, email=f"{name}@example.org", **fields))

    return make


@pytest.fixture
def mails(database):
    """`await mails()`: what is in the outbox, oldest first."""

    async def read():
        later = NOW + timedelta(days=3650)
        found = [
            queued
            for lane in ("mail", "own mail")
            for queued in await outbox.claim(database, lane, now=later, until=later, limit=1000)
        ]
        return [each.message for each in sorted(found, key=lambda each: each.id)]

    return read
