"""Messages to webhooks: a receiver that fails at random, two servers, and crashes between any two steps.

The receiver is a model: it knows the rules of docs/ticket-webhooks.md#delivery and nothing of the sender.
"""

import json
import random
import secrets
from collections import Counter
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio

from motorpool.actors.deliveries import OutgoingServices, turn
from motorpool.actors.helpdesk.webhook_sender import WebhookSender
from motorpool.actors.http.errors import Unreachable
from motorpool.actors.http.response import HttpResponse
from motorpool.actors.messages.tickets import WEBHOOK_SENDER, TicketMessagesWaiting
from motorpool.runtime import ChildSpec, SupervisorSpec
from motorpool.storage.deliveries import attempts as attempt_records
from motorpool.storage.deliveries import outbox, queue, receivers
from motorpool.storage.deliveries.outbox import TicketMessage

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
ENOUGH_FAILURES = 3
"""After which a message no longer holds back later ones."""


class Receiver:
    """Takes the place of the HTTP client; raises AssertionError where an attempt breaks a rule."""

    def __init__(self, seed=0, *, is_healthy=False, may_repeat=False):
        self.random = random.Random(seed)
        self.is_healthy = is_healthy
        self.may_repeat = may_repeat
        self.sending = set()
        self.received, self.failures, self.answered = [], Counter(), set()
        self.sent = {}
        """Ticket -> the numbers of its messages, in order."""
        self.broken = []

    def expects(self, company, ticket, number):
        self.sent.setdefault((company, ticket), []).append(number)

    @asynccontextmanager
    async def session(self):
        yield self

    async def post(self, url, body, *, message_id, secrets, now):
        company, ticket, number = json.loads(body)
        try:
            self.check(company, ticket, number)
        except AssertionError as error:
            # The sender takes an error for a failed attempt; the test looks here.
            self.broken.append(error)
        self.sending.add((company, ticket))
        try:
            return await self.answer((company, ticket, number))
        finally:
            self.sending.discard((company, ticket))

    def check(self, company, ticket, number):
        assert (company, ticket) not in self.sending, "two messages of a ticket at once"
        assert sum(each[0] == company for each in self.sending) < 4, "five messages of a company at once"
        assert self.may_repeat or (company, ticket, number) not in self.answered, "sent again"
        for earlier in self.sent[company, ticket]:
            key = (company, ticket, earlier)
            if earlier < number and self.failures[key] < ENOUGH_FAILURES:
                assert key in self.answered, f"{number} before {earlier}"

    async def answer(self, key):
        await trio.sleep(0 if self.is_healthy else self.random.choice((0, 0, 1, 3)))
        kind = (
            "taken" if self.is_healthy else self.random.choice(("taken", "taken", "refused", "busy", "cut"))
        )
        if kind in ("taken", "cut"):
            self.received.append(key)
        if kind == "taken":
            self.answered.add(key)
            return HttpResponse(204, {}, b"", "192.0.2.1")
        self.failures[key] += 1
        if kind == "cut":
            raise Unreachable("the connection broke", cause="connect")
        return HttpResponse(*((500, {}) if kind == "refused" else (429, {"retry-after": "20"})), b"no")


@pytest.fixture
def make_company(database):
    async def make():
        webhook = {"url": "https://hooks.example.org", "secret": "my-existing-plain-secret"}
        return await database.fetch_value(
            "insert into companies (name, attributes) values ('Acme', $1) returning id",
            {"ticketWebhook": webhook},
        )

    return make


@pytest.fixture
def put(database):
    async def enqueue(receiver, company, ticket, number, now):
        receiver.expects(company, ticket, number)
        row = TicketMessage(company, ticket, number, "ticket.updated", json.dumps([company, ticket, number]))
        async with database.transaction() as transaction:
            await outbox.enqueue_for_companies(transaction, [row], now=now)

    return enqueue


def server(database, receiver):
    outgoing = OutgoingServices()
    outgoing.ticket_webhooks = receiver
    holder = secrets.token_hex(8)
    return ChildSpec(kind=WEBHOOK_SENDER, factory=lambda: WebhookSender(database, outgoing, holder, 30))


def everything(receiver):
    return {(*key, number) for key, numbers in receiver.sent.items() for number in numbers}


async def test_order_holds_and_nothing_is_lost_on_two_servers(
    database, tree, time, clock, make_company, put, seed
):
    receiver = Receiver(seed)
    companies = [await make_company() for _ in range(3)]
    numbers = Counter()
    async with tree(server(database, receiver)) as one, tree(server(database, receiver)) as two:
        for _ in range(60):
            company, ticket = receiver.random.choice(companies), receiver.random.randrange(1, 5)
            ticket += 10 * company
            numbers[ticket] += 1
            await put(receiver, company, ticket, numbers[ticket], clock.now())
            woken = receiver.random.choice((one, two))
            woken.ref(WEBHOOK_SENDER).tell_nowait(TicketMessagesWaiting(frozenset({company})))
            await time.passes(receiver.random.choice((0.5, 1, 7)))
        receiver.is_healthy = True
        for _ in range(300):
            if everything(receiver) <= receiver.answered:
                break
            await time.passes(600)
    assert receiver.broken == []
    assert everything(receiver) == receiver.answered
    rows = await database.fetch("select distinct state from deliveries")
    assert [row[0] for row in rows] == ["delivered"]


STEPS = (
    (receivers, "acquire"),
    (receivers, "release"),
    (queue, "take"),
    (turn, "attempt_once"),
    (attempt_records, "record_delivered"),
)


async def test_a_crash_before_or_after_any_step_loses_nothing(
    database, tree, time, clock, make_company, put, monkeypatch
):
    """Every step of the sender raises once before it begins and once when it is done."""
    crashes = []

    def crashing(name, step):
        left = {"before", "after"}

        async def run(*args, **fields):
            if "before" in left:
                left.discard("before")
                crashes.append(f"before {name}")
                raise RuntimeError(f"before {name}")
            found = await step(*args, **fields)
            if "after" in left:
                left.discard("after")
                crashes.append(f"after {name}")
                raise RuntimeError(f"after {name}")
            return found

        return run

    for module, name in STEPS:
        monkeypatch.setattr(module, name, crashing(name, getattr(module, name)))
    receiver = Receiver(is_healthy=True, may_repeat=True)
    company = await make_company()
    for number in (1, 2, 3):
        for ticket in (7, 8):
            await put(receiver, company, ticket, number, clock.now())
    never_gives_up = SupervisorSpec(name="group", intensity=None, children=(server(database, receiver),))
    async with tree(never_gives_up):
        for _ in range(200):
            await time.passes(5)
            if everything(receiver) <= receiver.answered:
                if len(crashes) == 2 * len(STEPS):
                    break
                number += 1
                await put(receiver, company, 7, number, clock.now())
    assert len(crashes) == 2 * len(STEPS), crashes
    assert receiver.broken == []
    assert everything(receiver) == receiver.answered
    # What was sent before it could be noted was sent again.
    assert len(receiver.received) > len(everything(receiver))
    rows = await database.fetch("select distinct state from deliveries")
    assert [row[0] for row in rows] == ["delivered"]
