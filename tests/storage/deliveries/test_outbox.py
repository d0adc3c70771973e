"""What waits to leave the house."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox
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
    found = [row.id for row in await claim(database, lane, after, limit)]
    await outbox.release(database, found)
    return found


async def claim(database, lane, after=timedelta(0), limit=10, seconds=0):
    """The messages that are claimed; with 0 seconds they may be claimed again at once."""
    now = NOW + after
    return await outbox.claim(database, lane, now=now, until=now + timedelta(seconds=seconds), limit=limit)


async def test_a_message_comes_out_as_it_went_in_with_an_id_that_stays(database):
    row_id = await outbox.enqueue(database, MAIL, now=NOW)
    (waiting,) = await claim(database, "mail")
    assert (waiting.id, waiting.message, waiting.created, waiting.attempts) == (row_id, MAIL, NOW, 0)
    assert waiting.account == {}
    assert len(waiting.message_id) == 32
    (again,) = await claim(database, "mail")
    assert again.message_id == waiting.message_id


async def test_no_two_messages_have_the_same_id(database):
    await outbox.enqueue_all(database, [MAIL] * 50, now=NOW)
    rows = await claim(database, "mail", limit=100)
    assert len({row.message_id for row in rows}) == 50


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
    assert await due(database, "own mail") == [ids[2]]
    (own,) = await claim(database, "own mail")
    assert own.account == {"mail.smtp.host": "smtp.example.com"}
    assert all(row.account == {} for row in await claim(database, "mail"))


async def test_what_is_due_longest_comes_first_and_what_is_not_due_waits(database):
    late, early, now_due = await outbox.enqueue_all(database, [MAIL] * 3, now=NOW)
    await outbox.postpone(database, late, error="no", until=NOW + 2 * MINUTE)
    await outbox.postpone(database, early, error="no", until=NOW - MINUTE)
    assert await due(database, "mail") == [early, now_due]
    assert await due(database, "mail", limit=1) == [early]
    assert await due(database, "mail", 2 * MINUTE) == [early, now_due, late]
    assert await outbox.next_due(database, "mail", now=NOW) == NOW - MINUTE
    assert await outbox.next_due(database, "sms", now=NOW) is None


async def test_a_failed_attempt_is_noted(database):
    row_id = await outbox.enqueue(database, MAIL, now=NOW)
    await outbox.postpone(database, row_id, error="x" * 1000, until=NOW)
    await outbox.postpone(database, row_id, error="no such user", until=NOW)
    (waiting,) = await claim(database, "mail")
    assert waiting.attempts == 2
    assert await database.fetch_value("select last_error from outbox") == "no such user"


async def test_a_users_own_account_is_left_alone_for_a_while(database):
    ann = await make_user(database, "ann", **{"mail.smtp.host": "h"})
    ben = await make_user(database, "ben", **{"mail.smtp.host": "h"})
    messages = [
        OutgoingMessage(channel="mail", to="x@example.org", text="", user_id=each.id) for each in (ann, ben)
    ]
    of_ann, of_ben = await outbox.enqueue_all(database, messages, now=NOW)
    by_server = await outbox.enqueue(
        database, OutgoingMessage(channel="mail", to="x", text="", user_id=ann.id, system=True), now=NOW
    )
    await outbox.postpone_user(database, "own mail", ann.id, until=NOW + MINUTE)
    assert await due(database, "own mail") == [of_ben]
    assert await due(database, "own mail", MINUTE) == [of_ben, of_ann]
    assert await due(database, "mail") == [by_server]


async def test_what_is_gone_does_not_come_again(database):
    first, second = await outbox.enqueue_all(database, [SMS, SMS], now=NOW)
    await outbox.remove(database, first)
    assert await due(database, "sms") == [second]


async def test_what_expired_or_is_too_old_is_given_up_with_its_last_error(database):
    expired = await outbox.enqueue(database, MAIL, now=NOW - MINUTE, expires=NOW + MINUTE)
    assert await outbox.next_due(database, "mail", now=NOW) == NOW - MINUTE
    assert await outbox.next_due(database, "mail", now=NOW + MINUTE) is None
    kept = await outbox.enqueue(database, MAIL, now=NOW)
    old = await outbox.enqueue(database, SMS, now=NOW - timedelta(days=4))
    await outbox.postpone(database, old, error="gateway away", until=NOW)
    assert await outbox.expire(database, now=NOW, oldest=NOW - timedelta(days=3)) == [
        (old, "sms", 1, "gateway away")
    ]
    assert await due(database, "mail", MINUTE) == [kept]
    assert await outbox.expire(database, now=NOW + MINUTE, oldest=NOW - timedelta(days=3)) == [
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
        "insert into outbox (lane, message_id, message, created, next_attempt)"
        " select 'mail', n, '{}', now(), now() from generate_series(1, $1) n",
        outbox.MAX_QUEUED - 1,
    )
    await outbox.enqueue(database, MAIL, now=NOW)
    with pytest.raises(StatementRejected, match="too many messages wait"):
        await outbox.enqueue(database, MAIL, now=NOW)
    await outbox.enqueue(database, SMS, now=NOW)


async def test_a_message_is_claimed_by_one_server_until_its_claim_ends(database):
    first, second, third = await outbox.enqueue_all(database, [MAIL] * 3, now=NOW)
    assert [row.id for row in await claim(database, "mail", limit=2, seconds=60)] == [first, second]
    assert [row.id for row in await claim(database, "mail", seconds=60)] == [third]
    assert await due(database, "mail") == []
    # A server that waits does not ask in vain before.
    assert await outbox.next_due(database, "mail", now=NOW) == NOW + MINUTE
    await outbox.postpone(database, first, error="no", until=NOW + timedelta(seconds=5))
    await outbox.release(database, [second])
    assert await outbox.next_due(database, "mail", now=NOW) == NOW
    assert await due(database, "mail") == [second]
    assert await due(database, "mail", timedelta(seconds=5)) == [second, first]
    assert await due(database, "mail", MINUTE) == [second, third, first]


async def test_servers_that_claim_at_the_same_moment_share_the_messages(database):
    ids = await outbox.enqueue_all(database, [MAIL] * 40, now=NOW)
    taken = []

    async def take():
        while rows := await claim(database, "mail", limit=3, seconds=60):
            taken.extend(row.id for row in rows)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(take)
    assert sorted(taken) == ids


async def test_while_a_server_sends_to_a_webhook_no_other_does(database):
    ann = await make_user(database, "ann")
    ids = await outbox.enqueue_all(
        database, [OutgoingMessage(channel="webhook", to="", text="", user_id=ann.id)] * 3, now=NOW
    )
    claimed = []

    async def take(now=NOW):
        rows = await outbox.claim_next_of(database, "webhook", ann.id, now=now, until=now + MINUTE)
        claimed.extend(row.id for row in rows)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(take)
    assert claimed == ids[:1]

    async def waiting(now=NOW):
        return await outbox.users_due(database, "webhook", now=now, without=(), limit=5)

    assert await waiting() == []
    assert await outbox.next_due(database, "webhook", now=NOW) == NOW + MINUTE
    await outbox.remove_sent(database, ids[0])
    assert await waiting() == [ann.id]
    await take()
    # A server that does not exist any more.
    await take(NOW + MINUTE)
    assert claimed == [ids[0], ids[1], ids[1]]
