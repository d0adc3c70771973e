"""Messages to webhooks: in order for each user, at least once, and no receiver is another's trouble."""

import json
import secrets
from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX, Outbox, OutboxFilled
from motorpool.actors.deliveries.settings import OutboxSettings
from motorpool.actors.deliveries.webhook_schedule import DELAYS_SECONDS
from motorpool.actors.messages.topics import DELIVERIES_STOPPED
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox, queue, receivers
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
TOMORROW = NOW + timedelta(days=1)
ALLOW = OutgoingServices(allow=("127.0.0.0/8",))


def outbox_spec(database, outgoing, give_up_days=OutboxSettings.give_up_days):
    holder = secrets.token_hex(8)
    return ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, give_up_days, holder))


@pytest.fixture
def make_user(database):
    async def make(name, url, **attributes):
        row = User(name=name, email=f"{name}@example.org", attributes={"webhook.url": url, **attributes})
        return await users.TABLE.insert(database, row)

    return make


@pytest.fixture
def put(database):
    """`await put(user, 1, 2)`: messages whose bodies are these numbers."""

    async def enqueue(user, *numbers):
        await outbox.enqueue_all(
            database,
            [OutgoingMessage(channel="webhook", to="", text=str(each), user_id=user.id) for each in numbers],
            now=NOW,
        )

    return enqueue


@pytest.fixture
def attempts(database, until):
    """`await attempts(2, 0)`: until the messages that wait have so many failed attempts."""

    async def wait(*numbers):
        async def noted():
            rows = await database.fetch("select attempts from deliveries order by id")
            return [row[0] for row in rows] == list(numbers)

        await until(noted)

    return wait


def numbers(server):
    return [json.loads(asked.body) for asked in server.asked]


async def test_messages_arrive_in_order(database, tree, web_server, make_user, put, attempts):
    server = web_server()
    ann = await make_user("ann", server.url)
    await put(ann, *range(50))
    async with tree(outbox_spec(database, ALLOW)):
        await attempts()
    assert numbers(server) == list(range(50))


async def test_what_fails_holds_back_the_users_later_ones_and_nobody_elses(
    database, tree, time, web_server, make_user, put, attempts
):
    answers = [503, 503, 200, 200, 200]
    broken, works = web_server(lambda _: (answers.pop(0), b"")), web_server()
    ann, ben = await make_user("ann", broken.url), await make_user("ben", works.url)
    await put(ann, 1, 2)
    await put(ben, 3)
    async with tree(outbox_spec(database, ALLOW)) as system:
        await attempts(1, 0)
        assert (numbers(broken), numbers(works)) == ([1], [3])
        # One that is put in meanwhile waits as well.
        await put(ann, 4)
        system.ref(OUTBOX).tell_nowait(OutboxFilled())
        await attempts(1, 0, 0)
        await time.passes(1.3 * DELAYS_SECONDS[0])
        await attempts(2, 0, 0)
        await time.passes(1.3 * DELAYS_SECONDS[1])
        await attempts()
    assert numbers(broken) == [1, 1, 1, 2, 4]
    ids = [asked.headers["webhook-id"] for asked in broken.asked]
    assert len({*ids[:3]}) == 1
    assert len({*ids}) == 3


async def test_a_receiver_that_asks_to_wait_is_left_alone_so_long(
    database, tree, time, web_server, make_user, put, attempts
):
    answers = [429, 200]
    server = web_server(lambda _: (answers.pop(0), b""))
    server.headers["Retry-After"] = "3600"
    await put(await make_user("ann", server.url), 1)
    async with tree(outbox_spec(database, ALLOW)):
        await attempts(1)
        await time.passes(3540, step=60)
        assert len(server.asked) == 1
        await time.passes(61)
        await attempts()
    assert len(server.asked) == 2


async def test_a_message_that_is_refused_again_and_again_is_overtaken(
    database, tree, time, web_server, make_user, put, attempts
):
    server = web_server(lambda asked: (422 if asked.body == b"1" else 200, b""))
    await put(await make_user("ann", server.url), 1, 2, 3)
    async with tree(outbox_spec(database, ALLOW)):
        for number in (1, 2):
            await attempts(number, 0, 0)
            await time.passes(1.3 * DELAYS_SECONDS[number - 1])
        await attempts(3)
    assert numbers(server) == [1, 1, 1, 2, 3]


async def test_a_receiver_that_is_gone_is_paused_and_its_user_told(
    database, tree, web_server, make_user, put, until
):
    server = web_server(lambda _: (410, b""))
    ann = await make_user("ann", server.url)
    await put(ann, 1, 2)

    async def is_paused():
        return bool(await receivers.paused(database, [ann.id]))

    async with (
        tree(outbox_spec(database, ALLOW)) as system,
        system.topic(DELIVERIES_STOPPED).subscribe() as published,
    ):
        await until(is_paused)
        (told,) = await published.receive_batch()
    assert (told.type, told.user_ids, told.lane) == ("notificatorPaused", {ann.id}, "webhook")
    assert told.attributes == {"notificator": "webhook", "reason": "the receiver answers 410"}
    assert numbers(server) == [1]
    (shown,) = await receivers.failing(database, ann.id)
    assert (shown.notificator, shown.failures, shown.last_error) == (
        "webhook",
        1,
        "the receiver answers 410",
    )
    assert shown.paused is not None
    # A test message that was delivered resumes it: what waits is due.
    await receivers.resume(database, "webhook", ann.id, now=NOW)
    assert await receivers.failing(database, ann.id) == []
    again = await queue.take(database, "webhook", ann.id, now=NOW, limit=9)
    assert [row.message.text for row in again.messages] == ["1"]


async def test_a_receiver_that_fails_for_three_days_is_paused(
    database, tree, time, until, web_server, make_user, put
):
    server = web_server(lambda _: (500, b""))
    ann = await make_user("ann", server.url)
    await put(ann, 1, 2, 3)
    paused_after = None
    async with (
        tree(outbox_spec(database, ALLOW, give_up_days=30)) as system,
        system.topic(DELIVERIES_STOPPED).subscribe() as published,
    ):
        for hours in range(1, 24 * 7):
            asked = len(server.asked)
            await time.passes(3600, step=1800)

            async def noted():
                found = await receivers.failing(database, ann.id)
                return bool(found) and found[0].failures == len(server.asked)

            await until(noted)
            if await receivers.paused(database, [ann.id]):
                paused_after = hours
                break
            assert len(server.asked) >= asked
        (told,) = await published.receive_batch()
    assert (told.user_ids, told.lane) == ({ann.id}, "webhook")
    assert paused_after is not None
    assert 72 <= paused_after <= 72 + 36
    (shown,) = await receivers.failing(database, ann.id)
    assert shown.failures >= 10
    # It is paused once.
    assert not await receivers.pause(database, "webhook", ann.id, now=NOW)


async def test_a_delivered_message_ends_the_failures(
    database, tree, time, web_server, make_user, put, attempts
):
    answers = [500, 200]
    server = web_server(lambda _: (answers.pop(0), b""))
    ann = await make_user("ann", server.url)
    await put(ann, 1)
    async with tree(outbox_spec(database, ALLOW)):
        await attempts(1)
        assert [each.failures for each in await receivers.failing(database, ann.id)] == [1]
        await time.passes(1.3 * DELAYS_SECONDS[0])
        await attempts()
    assert await receivers.failing(database, ann.id) == []


async def test_the_url_and_the_secret_are_those_of_the_attempt(
    database, tree, time, web_server, make_user, put, attempts
):
    old, new = web_server(lambda _: (500, b"")), web_server()
    ann = await make_user("ann", old.url)
    await put(ann, 1)
    async with tree(outbox_spec(database, ALLOW)):
        await attempts(1)
        await database.execute(
            "update users set attributes = $2 where id = $1",
            ann.id,
            {"webhook.url": new.url, "webhook.secret": "a secret of mine"},
        )
        await time.passes(1.3 * DELAYS_SECONDS[0])
        await attempts()
    assert numbers(new) == [1]
    assert new.asked[0].headers["webhook-signature"].startswith("v1,")


async def test_a_user_who_was_disabled_gets_nothing_any_more(
    database, tree, web_server, make_user, put, until
):
    server, other = web_server(), web_server()
    ann, past = await make_user("ann", server.url), await make_user("past", server.url)
    ben = await make_user("ben", other.url)
    for user in (ann, past, ben):
        await put(user, 1)
    await database.execute("update users set disabled = true where id = $1", ann.id)
    await database.execute("update users set expiration_time = $2 where id = $1", past.id, NOW)
    mail = OutgoingMessage(channel="mail", to="past@example.org", text="expired", user_id=past.id)
    await outbox.enqueue(database, mail, now=NOW)
    async with tree(outbox_spec(database, ALLOW)):
        # Until ben's is delivered and removed: what is left is to nobody who gets messages.
        await until_none_due(until, database)
        assert (len(other.asked), server.asked) == (1, [])
    assert len(await receivers.due(database, "mail", "a server", now=TOMORROW, limit=9)) == 1
    await database.execute("update users set disabled = false where id = $1", ann.id)
    assert await receivers.due(database, "webhook", "a server", now=NOW, limit=9) == [(ann.id, NOW)]


async def until_none_due(until, database):
    async def none_is_due():
        return await receivers.due(database, "webhook", "a server", now=NOW, limit=9) == []

    await until(none_is_due)
