"""What waits to leave the house."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.accounts import users
from motorpool.storage.deliveries import attempts, outbox, queue, receivers
from motorpool.storage.deliveries.attempts import Attempt, Failure
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MAIL = OutgoingMessage(
    channel="mail", to="ann@example.org", subject="Hi", text="Hello", html="<p>", urgent=True
)
SMS = OutgoingMessage(channel="sms", to="+491234", text="Hello")


async def make_user(database, name, **attributes):
    return await users.TABLE.insert(
        database, User(name=name, email=f"{name}@example.org", attributes=attributes)
    )


async def due(database, lane, after=timedelta(0), limit=10):
    return [row.id for row in await claim(database, lane, after, limit)]


async def claim(database, lane, after=timedelta(0), limit=10, keep=False, server=-1):
    """The messages to a service that a server adopts; unless it keeps them, it gives them back at once."""
    now = NOW + after
    await queue.adopt(database, lane, server, now=now, limit=limit)
    found = await queue.take(database, lane, server, now=now, limit=limit, with_account=True)
    if not keep:
        await database.execute("update deliveries set receiver = 0 where receiver < 0")
    return found.messages


async def next_due(database, lane, *, now):
    """When the next message that no server has adopted is due."""
    return await receivers.next_due(database, lane, (0,), "a server", now=now)


async def postpone(database, row_id, *, error, until):
    attempt = Attempt(time=NOW, milliseconds=1)
    return await attempts.record_failed(database, row_id, attempt, Failure(error=error, until=until))


async def test_a_message_comes_out_as_it_went_in_with_an_id_that_stays(database):
    row_id = await outbox.enqueue(database, MAIL, now=NOW)
    (waiting,) = await claim(database, "mail")
    assert (waiting.id, waiting.message, waiting.created, waiting.attempts) == (row_id, MAIL, NOW, 0)
    assert waiting.account == {}
    assert len(waiting.message_id) == 32
    (again,) = await claim(database, "mail")
    assert again.message_id == waiting.message_id


async def test_no_two_messages_have_the_same_id(database):
    await outbox.enqueue_all(database, [MAIL] * 30, now=NOW)
    rows = await claim(database, "mail", limit=100)
    assert len({row.message_id for row in rows}) == 30


async def test_what_is_undone_with_its_transaction_never_waited(database):
    with suppress(ZeroDivisionError):
        async with database.transaction() as transaction:
            await outbox.enqueue(transaction, MAIL, now=NOW)
            raise ZeroDivisionError
    assert await due(database, "mail") == []


async def test_mails_text_messages_and_users_own_accounts_queue_apart(database):
    ann = await make_user(database, "ann", **{"mail.smtp.host": "smtp.example.com"})
    ben = await make_user(database, "ben", **{"mail.smtp.host": ""})
    ids = await outbox.enqueue_all(
        database,
        [
            MAIL,
            SMS,
            OutgoingMessage(channel="mail", to="a@example.org", text="", user_id=ann.id),
            OutgoingMessage(channel="mail", to="b@example.org", text="", user_id=ben.id),
            OutgoingMessage(channel="mail", to="a@example.org", text="", user_id=ann.id, system=True),
            OutgoingMessage(channel="sms", to="112", text="", user_id=ann.id),
        ],
        now=NOW,
    )
    assert await due(database, "mail") == [ids[0], ids[3], ids[4]]
    assert await due(database, "sms") == [ids[1], ids[5]]
    assert await due(database, "own mail") == []
    assert await receivers.due(database, "own mail", "a server", now=NOW, limit=9) == [(ann.id, NOW)]
    found = await queue.take(database, "own mail", ann.id, now=NOW, limit=9)
    assert [row.id for row in found.messages] == [ids[2]]
    mails = await claim(database, "mail")
    assert [row.account for row in mails] == [
        {},
        {"mail.smtp.host": ""},
        {"mail.smtp.host": "smtp.example.com"},
    ]
    await queue.adopt(database, "sms", -1, now=NOW, limit=9)
    found = await queue.take(database, "sms", -1, now=NOW, limit=9)
    assert [row.account for row in found.messages] == [{}, {}]


async def test_what_is_due_longest_comes_first_and_what_is_not_due_waits(database):
    late, early, now_due = await outbox.enqueue_all(database, [MAIL] * 3, now=NOW)
    await postpone(database, late, error="no", until=NOW + 2 * MINUTE)
    await postpone(database, early, error="no", until=NOW - MINUTE)
    assert await due(database, "mail") == [early, now_due]
    assert await due(database, "mail", limit=1) == [early]
    assert await due(database, "mail", 2 * MINUTE) == [early, now_due, late]
    assert await next_due(database, "mail", now=NOW) == NOW - MINUTE
    assert await next_due(database, "sms", now=NOW) is None


async def test_a_failed_attempt_is_noted(database):
    row_id = await outbox.enqueue(database, MAIL, now=NOW)
    await postpone(database, row_id, error="x" * 1000, until=NOW)
    await postpone(database, row_id, error="no such user", until=NOW)
    (waiting,) = await claim(database, "mail")
    assert waiting.attempts == 2
    assert await database.fetch_value("select last_error from deliveries") == "no such user"


async def test_a_users_own_account_is_left_alone_for_a_while(database):
    ann = await make_user(database, "ann", **{"mail.smtp.host": "h"})
    ben = await make_user(database, "ben", **{"mail.smtp.host": "h"})
    messages = [
        OutgoingMessage(channel="mail", to="x@example.org", text="", user_id=each.id)
        for each in (ann, ann, ben)
    ]
    of_ann, another, of_ben = await outbox.enqueue_all(database, messages, now=NOW)
    by_server = await outbox.enqueue(
        database, OutgoingMessage(channel="mail", to="x", text="", user_id=ann.id, system=True), now=NOW
    )
    attempt = Attempt(time=NOW, milliseconds=1)
    failure = Failure(error="no", until=NOW + MINUTE, held_until=NOW + MINUTE)
    failing = await attempts.record_failed(database, of_ann, attempt, failure)
    assert (failing.receiver, failing.attempts, failing.failures, failing.since) == (ann.id, 1, 1, NOW)
    waiting = await receivers.due(database, "own mail", "a server", now=NOW, limit=9)
    assert waiting == [(ben.id, NOW), (ann.id, NOW + MINUTE)]
    found = await queue.take(database, "own mail", ben.id, now=NOW, limit=9)
    assert ([row.id for row in found.messages], found.is_all) == ([of_ben], True)
    # They are in no order: one that waits for its next attempt holds back no other.
    found = await queue.take(database, "own mail", ann.id, now=NOW, limit=9)
    assert [row.id for row in found.messages] == [another]
    assert await due(database, "mail") == [by_server]


async def test_what_is_gone_does_not_come_again(database):
    first, second = await outbox.enqueue_all(database, [SMS, SMS], now=NOW)
    await queue.remove(database, first)
    assert await due(database, "sms") == [second]


async def test_what_expired_or_is_too_old_is_given_up_with_its_last_error(database):
    expired = await outbox.enqueue(database, MAIL, now=NOW - MINUTE, expires=NOW + MINUTE)
    assert await next_due(database, "mail", now=NOW) == NOW - MINUTE
    assert await next_due(database, "mail", now=NOW + MINUTE) is None
    kept = await outbox.enqueue(database, MAIL, now=NOW)
    old = await outbox.enqueue(database, SMS, now=NOW - timedelta(days=4))
    await postpone(database, old, error="gateway away", until=NOW)
    assert await queue.expire(database, now=NOW, oldest=NOW - timedelta(days=3)) == [
        (old, "sms", 1, "gateway away")
    ]
    assert await due(database, "mail", MINUTE) == [kept]
    assert await queue.expire(database, now=NOW + MINUTE, oldest=NOW - timedelta(days=3)) == [
        (expired, "mail", 0, "no attempt was made")
    ]
    assert await due(database, "mail", MINUTE) == [kept]


async def test_what_waits_for_a_user_goes_with_him(database):
    ann = await make_user(database, "ann")
    await outbox.enqueue(database, OutgoingMessage(channel="sms", to="112", text="", user_id=ann.id), now=NOW)
    await users.TABLE.delete(database, ann.id)
    assert await due(database, "sms") == []


async def test_a_message_to_a_user_that_there_is_not_is_rejected(database):
    with pytest.raises(StatementRejected):
        await outbox.enqueue(database, OutgoingMessage(channel="sms", to="112", text="", user_id=99), now=NOW)


async def test_a_lane_holds_only_so_much_and_the_others_go_on(database):
    await database.execute(
        "insert into deliveries (lane, message_id, message, created, next_attempt)"
        " select 'mail', n, '{}', now(), now() from generate_series(1, $1) n",
        outbox.MAX_QUEUED - 1,
    )
    await outbox.enqueue(database, MAIL, now=NOW)
    with pytest.raises(StatementRejected, match="too many messages wait"):
        await outbox.enqueue(database, MAIL, now=NOW)
    await outbox.enqueue(database, SMS, now=NOW)


async def test_a_message_is_adopted_by_one_server_and_another_follows_when_its_lease_ends(database):
    first, second, third = await outbox.enqueue_all(database, [MAIL] * 3, now=NOW)
    assert await receivers.acquire(database, "mail", -1, "one", now=NOW, until=NOW + MINUTE)
    assert [row.id for row in await claim(database, "mail", limit=2, keep=True)] == [first, second]
    assert [row.id for row in await claim(database, "mail", keep=True, server=-2)] == [third]

    async def waiting(name, now=NOW):
        return await receivers.due(database, "mail", name, now=now, limit=9)

    assert await waiting("one") == [(-2, NOW), (-1, NOW)]
    assert await waiting("another") == [(-2, NOW), (-1, NOW + MINUTE)]
    assert await receivers.acquire(database, "mail", -1, "another", now=NOW, until=NOW + MINUTE) is None
    await postpone(database, first, error="no", until=NOW + timedelta(seconds=5))
    assert await receivers.next_due(database, "mail", (-1,), "one", now=NOW) == NOW
    await queue.remove(database, second)
    assert await receivers.next_due(database, "mail", (-1,), "one", now=NOW) == NOW + timedelta(seconds=5)
    later = NOW + MINUTE
    assert await receivers.acquire(database, "mail", -1, "another", now=later, until=later + MINUTE)
    found = await queue.take(database, "mail", -1, now=later, limit=9)
    assert [row.id for row in found.messages] == [first]
    await receivers.release(database, "mail", -1, "another")
    assert await waiting("one", later) == [(-2, NOW), (-1, NOW + timedelta(seconds=5))]


async def test_a_server_that_has_adopted_nothing_is_forgotten(database):
    (row_id,) = await outbox.enqueue_all(database, [MAIL], now=NOW)
    for server in (-1, -2, -3):
        await receivers.acquire(database, "mail", server, "one", now=NOW, until=NOW + MINUTE)
    await claim(database, "mail", keep=True)
    await receivers.release(database, "mail", -1, "one")
    await receivers.release(database, "mail", -2, "one")

    async def known():
        return [row[0] for row in await database.fetch("select receiver from receivers order by receiver")]

    await receivers.forget_servers(database, now=NOW)
    assert await known() == [-3, -1]
    await queue.remove(database, row_id)
    await receivers.forget_servers(database, now=NOW + MINUTE)
    assert await known() == []


async def test_servers_that_adopt_at_the_same_moment_share_the_messages(database):
    ids = await outbox.enqueue_all(database, [MAIL] * 40, now=NOW)
    taken = []

    async def take(server):
        while rows := await claim(database, "mail", limit=3, keep=True, server=server):
            taken.extend(row.id for row in rows)
            for row in rows:
                await queue.remove(database, row.id)

    async with trio.open_nursery() as nursery:
        for server in (-1, -2, -3, -4):
            nursery.start_soon(take, server)
    assert sorted(taken) == ids


async def test_while_a_server_sends_to_a_webhook_no_other_does(database):
    ann = await make_user(database, "ann")
    ids = await outbox.enqueue_all(
        database, [OutgoingMessage(channel="webhook", to="", text="", user_id=ann.id)] * 3, now=NOW
    )
    holders = []

    async def acquire(name, now=NOW):
        if await receivers.acquire(database, "webhook", ann.id, name, now=now, until=now + MINUTE):
            holders.append(name)

    async with trio.open_nursery() as nursery:
        for name in "abcd":
            nursery.start_soon(acquire, name)
    (holder,) = holders
    found = await queue.take(database, "webhook", ann.id, now=NOW, limit=9)
    assert [row.id for row in found.messages] == ids[:1]

    async def waiting(name, now=NOW):
        return await receivers.due(database, "webhook", name, now=now, limit=5)

    assert await waiting(holder) == [(ann.id, NOW)]
    assert await waiting("another") == [(ann.id, NOW + MINUTE)]
    await attempts.remove_delivered(database, [ids[0]])
    await receivers.release(database, "webhook", ann.id, holder)
    assert await waiting("another") == [(ann.id, NOW)]
    await acquire("another")
    found = await queue.take(database, "webhook", ann.id, now=NOW, limit=9)
    assert [row.id for row in found.messages] == ids[1:2]
    # That server does not exist any more.
    await acquire("a third")
    await acquire("a third", NOW + MINUTE)
    assert holders == [holder, "another", "a third"]


async def test_a_user_who_is_gone_has_no_lease_and_no_failures(database):
    assert await receivers.acquire(database, "webhook", 999, "a", now=NOW, until=NOW + MINUTE) is None
    assert await postpone(database, 999, error="no", until=NOW) is None
    ann = await make_user(database, "ann")
    message = OutgoingMessage(channel="sms", to="112", text="", user_id=ann.id)
    row_id = await outbox.enqueue(database, message, now=NOW)
    await postpone(database, row_id, error="no such number", until=NOW)
    assert [each.last_error for each in await receivers.failing(database, ann.id)] == ["no such number"]
    await users.TABLE.delete(database, ann.id)
    assert await database.fetch_value("select count(*) from receivers") == 0
