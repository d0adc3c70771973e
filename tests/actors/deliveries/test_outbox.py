"""What waits goes out: at least once, later where it fails, and nobody's trouble is another's."""

import json
import secrets
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.deliveries.outbox import OUTBOX, Outbox, OutboxFilled
from motorpool.actors.deliveries.settings import OutboxSettings
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox, queue, receivers
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MAIL = OutgoingMessage(channel="mail", to="ann@example.org", subject="Hi", text="Hello")
SMS = OutgoingMessage(channel="sms", to="112", text="Hello")


def outbox_spec(database, outgoing, give_up_days=OutboxSettings.give_up_days):
    holder = secrets.token_hex(8)
    return ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, give_up_days, holder))


def ways(mail=None, sms=None, seconds=30.0):
    account = MailSettings(
        host="127.0.0.1", port=mail or 1, security="none", address="fleet@example.net", seconds=seconds
    )
    return OutgoingServices(
        allow=("127.0.0.0/8",),
        mail=account if mail else MailSettings(),
        sms=SmsSettings(url=sms and sms.url, template='["{message}", "{id}"]'),
    )


@pytest.fixture
def left(database):
    """How many wait."""

    async def count(number=0):
        return await database.fetch_value("select count(*) from deliveries") == number

    return count


async def put(database, system, *messages, **fields):
    ids = await outbox.enqueue_all(database, messages, **{"now": NOW, **fields})
    system.ref(OUTBOX).tell_nowait(OutboxFilled())
    return ids


async def attempts(database):
    rows = await database.fetch("select attempts, next_attempt, last_error from deliveries order by id")
    return [(row[0], row[1] - NOW, row[2]) for row in rows]


@pytest.fixture
def tried(database, until):
    """`await tried(2)`: until the second attempt of the only message has failed and is noted.

    Its end, not its beginning: while an attempt is under way, passing time would be time that it takes.
    """

    async def wait(number):
        async def noted():
            return [row[0] for row in await attempts(database)] == [number]

        await until(noted)

    return wait


async def test_what_is_put_goes_out_at_once_and_is_forgotten(
    database, tree, until, left, mail_server, web_server
):
    mails, gateway = await mail_server(), web_server()
    async with tree(outbox_spec(database, ways(mails.port, gateway))) as system:
        await put(database, system, MAIL, SMS)
        await until(left)
        assert (await mails.next())[1]["Subject"] == "Hi"
        assert json.loads(gateway.asked[0].body)[0] == "Hello"
        # And the next one too.
        await put(database, system, MAIL)
        await until(left)
        assert (await mails.next())[1]["To"] == "ann@example.org"


async def test_what_waits_at_the_start_goes_out_without_being_told(database, tree, until, left, mail_server):
    mails = await mail_server()
    await outbox.enqueue_all(database, [MAIL] * 120, now=NOW)
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(left)
    assert mails.left == 120


async def test_what_nobody_told_of_goes_out_within_a_minute(database, tree, until, left, mail_server, time):
    mails = await mail_server()
    async with tree(outbox_spec(database, ways(mails.port))):
        await time.settle()
        await outbox.enqueue(database, MAIL, now=NOW)
        await time.settle()
        assert mails.left == 0
        await time.passes(61)
        await until(left)
    assert mails.left == 1


async def test_a_mail_that_is_not_taken_now_is_tried_again_later_and_later(
    database, tree, until, left, tried, mail_server, time
):
    mails = await mail_server(refusals={"ann@example.org": "450 greylisted"})
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await put(database, system, MAIL)
        for number, wait in enumerate((30, 60, 120, 240), 1):
            await tried(number)
            await time.passes(wait - 1)
            assert mails.attempts == number
            await time.passes(1)
        await tried(5)
        assert mails.attempts == 5
        mails.refusals.clear()
        await time.passes(481)
        await until(left)
    assert mails.left == 1


async def test_each_attempt_carries_the_same_id(database, tree, until, left, tried, web_server, time):
    statuses = [400, 400, 200]
    gateway = web_server(lambda _: (statuses.pop(0), b""))
    async with tree(outbox_spec(database, ways(sms=gateway))) as system:
        await put(database, system, SMS)
        await tried(1)
        await time.passes(31)
        await tried(2)
        await time.passes(61)
        await until(left)
    assert len(gateway.asked) == 3
    assert len({asked.body for asked in gateway.asked}) == 1


async def test_the_wait_grows_to_an_hour_and_no_further(database, tree, until, mail_server, time):
    mails = await mail_server(refusals={"ann@example.org": "450 greylisted"})
    await outbox.enqueue(database, MAIL, now=NOW)
    await database.execute("update deliveries set attempts = 60")
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(lambda: mails.attempts == 1)

        async def noted():
            return (await attempts(database))[0][0] == 61

        await until(noted)
        ((_, wait, error),) = await attempts(database)
        assert wait == timedelta(hours=1)
        assert "450 greylisted" in error


async def test_what_will_never_be_taken_is_given_up_at_once_and_the_others_go_out(
    database, tree, until, left, mail_server, caplog
):
    mails = await mail_server(refusals={"ann@example.org": "550 no such user"})
    other = OutgoingMessage(channel="mail", to="ben@example.org", text="Hello")
    broken = OutgoingMessage(channel="mail", to="nobody", text="Hello")
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        (first, second, _) = await put(database, system, MAIL, broken, other)
        await until(left)
    assert (await mails.next())[1]["To"] == "ben@example.org"
    assert f"message {first} (mail) discarded after 1 attempts" in caplog.text
    assert f"message {second} (mail) discarded after 1 attempts" in caplog.text
    assert "ann@example.org" not in caplog.text


async def test_a_server_that_is_away_is_tried_with_one_message_until_it_is_back(
    database, tree, until, left, mail_server, time, caplog
):
    mails = await mail_server()
    mails.stop()
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await put(database, system, *[MAIL] * 20)

        async def tried():
            return sum(row[0] for row in await attempts(database))

        async def once():
            return await tried() >= 1

        await until(once)
        await time.settle()
        first = await tried()
        assert 1 <= first <= 4  # as many as go at once
        for number, wait in enumerate((10, 20), 1):
            await time.passes(wait + 0.1)

            async def again(number=number):
                return await tried() == first + number

            await until(again)
        assert caplog.text.count("not sending mail for") == 3
        await mail_server(mails.port)
        await time.passes(600)
        await until(left)


async def test_a_hanging_mail_server_holds_up_no_text_messages(
    database, tree, until, left, hanging_port, web_server, time
):
    gateway = web_server()
    async with tree(outbox_spec(database, ways(hanging_port, gateway))) as system:
        await put(database, system, *[MAIL] * 10, *[SMS] * 10)

        async def mails_only():
            return await left(10)

        await until(mails_only)
        assert len(gateway.asked) == 10
        await time.passes(30.1)

        async def tried():
            return [row[0] for row in await attempts(database)].count(1) == 4

        await until(tried)


async def test_a_users_own_server_that_hangs_holds_up_nobody_elses_mail(
    database, tree, until, left, hanging_port, mail_server, time
):
    mails = await mail_server()
    own = {"mail.smtp.host": "127.0.0.1", "mail.smtp.port": hanging_port}
    ann = await users.TABLE.insert(database, User(name="ann", email="ann@example.org", attributes=own))
    own = {"mail.smtp.host": "127.0.0.1", "mail.smtp.port": mails.port}
    ben = await users.TABLE.insert(database, User(name="ben", email="ben@example.org", attributes=own))
    of_ann = OutgoingMessage(channel="mail", to="ann@example.org", text="", user_id=ann.id)
    of_ben = OutgoingMessage(channel="mail", to="ben@example.org", text="", user_id=ben.id)
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await put(database, system, *[of_ann] * 5, MAIL)

        async def sent():
            return await left(5)

        await until(sent)
        await put(database, system, of_ben)
        # His goes out meanwhile, and once the first of hers has had its time, all of hers wait.
        await until(lambda: mails.left == 2)
        await until(sent)
        await time.passes(30.1)

        async def waits():
            until = await database.fetch_value("select held_until from receivers where receiver = $1", ann.id)
            return until is not None and until - NOW >= timedelta(seconds=60) and await left(5)

        await until(waits)


async def test_after_a_restart_what_was_left_goes_out(database, tree, until, left, mail_server):
    mails = await mail_server()
    mails.stop()
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await put(database, system, MAIL)

        async def tried():
            return (await attempts(database))[0][0] == 1

        await until(tried)
    assert not await left()
    await mail_server(mails.port)
    await database.execute("update deliveries set next_attempt = $1", NOW)
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(left)


async def test_what_could_not_be_sent_for_days_is_given_up_with_a_line_in_the_log(
    database, tree, until, left, time, clock, mail_server, caplog
):
    mails = await mail_server()
    mails.stop()
    async with tree(outbox_spec(database, ways(mails.port), give_up_days=3)) as system:
        await put(database, system, MAIL)
        await until(lambda: "not sending mail" in caplog.text)
        clock.set_wall(NOW + timedelta(days=3, seconds=1))
        await time.passes(61)
        await until(left)
    assert "discarded after" in caplog.text


async def test_what_nobody_wants_any_more_does_not_go_out(database, tree, until, left, mail_server):
    mails = await mail_server()
    await outbox.enqueue(database, MAIL, now=NOW - timedelta(hours=2), expires=NOW - timedelta(hours=1))
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(left)
    assert mails.left == 0


async def test_an_outage_of_the_database_is_survived(
    database, tree, until, left, mail_server, outage, time, caplog
):
    mails = await mail_server()
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await time.settle()
        with outage():
            system.ref(OUTBOX).tell_nowait(OutboxFilled())
            await until(lambda: "cannot read the outbox, retrying later" in caplog.text)
        await outbox.enqueue(database, MAIL, now=NOW)
        await time.passes(61)
        await until(left)
        assert [state.restarts for state in system.snapshot()[0].children] == [0]
    assert mails.left == 1


async def test_a_message_that_breaks_us_is_put_off_and_stops_nobody(
    database, tree, until, time, mail_server, caplog
):
    mails = await mail_server()
    await outbox.enqueue(database, MAIL, now=NOW)
    # Nothing of ours makes such an id, and no header can hold it.
    await database.execute("update deliveries set message_id = E'a\nb'")
    async with tree(outbox_spec(database, ways(mails.port))) as system:
        await put(database, system, MAIL)

        async def put_off():
            return await attempts(database) == [(1, timedelta(seconds=30), "ValueError")]

        await until(put_off)
        assert "message 1 cannot be sent" in caplog.text
        assert [state.restarts for state in system.snapshot()[0].children] == [0]


async def test_two_servers_send_each_message_once(database, tree, until, left, mail_server, time):
    mails = await mail_server()
    await outbox.enqueue_all(database, [MAIL] * 130, now=NOW)
    outgoing = ways(mails.port)
    async with tree(outbox_spec(database, outgoing)), tree(outbox_spec(database, outgoing)):
        await until(left)
    assert mails.left == 130


async def test_what_a_server_that_is_gone_was_sending_another_sends_later(
    database, tree, until, left, mail_server, time
):
    mails = await mail_server()
    await outbox.enqueue_all(database, [MAIL] * 2, now=NOW)
    await receivers.acquire(database, "mail", -1, "gone", now=NOW, until=NOW + timedelta(seconds=180))
    await queue.adopt(database, "mail", -1, now=NOW, limit=1)
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(lambda: left(1))
        await time.passes(170, step=30)
        assert mails.left == 1
        await time.passes(11)
        await until(left)
    assert mails.left == 2


async def test_what_an_orderly_stop_interrupts_is_sent_at_once_after_the_start(
    database, tree, until, left, mail_server, web_server
):
    mails = await mail_server()
    await outbox.enqueue_all(database, [MAIL] * 3, now=NOW)
    sending = trio.Event()

    async def never_answers(*_):
        sending.set()
        await trio.sleep_forever()

    outgoing = ways()
    outgoing.mail.send = never_answers
    async with tree(outbox_spec(database, outgoing)):
        await sending.wait()
    async with tree(outbox_spec(database, ways(mails.port))):
        await until(left)
    assert mails.left == 3
