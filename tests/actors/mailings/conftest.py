from functools import partial

import msgspec
import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

ACCOUNT = MailSettings(host="mail.example.org", port=25, security="none", address="fleet@example.org")


@pytest.fixture
def outgoing():
    """Services with a mail account."""
    return OutgoingServices(mail=ACCOUNT)


@pytest.fixture
def tree(tree):
    """`tree` with an actor of the outbox, which sends nothing."""
    return partial(tree, ChildSpec(kind=OUTBOX, factory=lambda: Probe({OutboxFilled: None})))


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
        rows = await database.fetch("select message from deliveries where lane like '%mail' order by id")
        return [msgspec.convert(row[0], OutgoingMessage) for row in rows]

    return read
