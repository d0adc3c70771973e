"""Commands as text messages: at most once, bounded, each with an outcome in time."""

import json

import pytest
import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.deliveries.text_channel import (
    MAX_CONCURRENT,
    MAX_WAITING,
    OUTCOME_SECONDS,
    START_SECONDS,
    TextChannel,
)
from motorpool.actors.messages.text_channel import TEXT_CHANNEL, SendText
from motorpool.actors.messages.uplink import CommandRefused, CommandSent
from motorpool.runtime import ChildSpec

IN_TIME = "the SMS gateway did not answer in time: the text message may have been sent or not"


def text_channel_spec(sms):
    return ChildSpec(kind=TEXT_CHANNEL, factory=lambda: TextChannel(sms))


class Reply:
    """Stands for the `Deferred` of a device."""

    def __init__(self):
        self.answers = []

    def answer(self, value):
        self.answers.append(value)


class SlowSms:
    """Takes as long as the test says."""

    def __init__(self):
        self.free = trio.Event()
        self.sent = []

    def admit_here(self, user_id, messages=1):
        pass

    async def admit_together(self, user_id, messages=1):
        pass

    async def send(self, message, envelope):
        self.sent.append((message.to, message.text))
        await self.free.wait()


def texts(count, user_id=1):
    return [SendText("+49123", f"text {number}", user_id, Reply()) for number in range(count)]


def outcomes(messages):
    return [message.reply.answers for message in messages]


async def test_a_text_goes_to_the_gateway_once(tree, web_server):
    gateway = web_server()
    sms = OutgoingServices(sms=SmsSettings(url=gateway.url)).sms
    (message,) = texts(1)
    async with tree(text_channel_spec(sms)) as system:
        await system.ref(TEXT_CHANNEL).tell(message)
        with trio.fail_after(60):
            while not message.reply.answers:
                await trio.testing.wait_all_tasks_blocked(0.01)
    assert message.reply.answers == [CommandSent()]
    assert [json.loads(asked.body) for asked in gateway.asked] == [{"to": "+49123", "text": "text 0"}]


@pytest.mark.parametrize(
    ("status", "phone", "reason"),
    [
        (500, "+49123", "the SMS gateway answers 500"),
        (400, "+49123", "the SMS gateway answers 400"),
        (200, "none", "there is no such telephone number"),
    ],
)
async def test_what_the_gateway_refuses_is_refused_and_not_repeated(tree, web_server, status, phone, reason):
    gateway = web_server(lambda _: (status, b""))
    sms = OutgoingServices(sms=SmsSettings(url=gateway.url)).sms
    message = SendText(phone, "text", 1, Reply())
    async with tree(text_channel_spec(sms)) as system:
        await system.ref(TEXT_CHANNEL).tell(message)
        with trio.fail_after(60):
            while not message.reply.answers:
                await trio.testing.wait_all_tasks_blocked(0.01)
    assert message.reply.answers == [CommandRefused(reason)]
    assert len(gateway.asked) <= 1


async def test_a_user_and_all_together_send_so_many_within_an_hour(tree, time):
    sms = OutgoingServices(sms=SmsSettings(url="http://127.0.0.1:9", per_user=2, per_hour=5)).sms
    sent = []

    async def send(message, envelope):
        sent.append(message.text)

    sms.send = send
    async with tree(text_channel_spec(sms)) as system:

        async def outcomes_of(user_id, count):
            messages = texts(count, user_id)
            for message in messages:
                await system.ref(TEXT_CHANNEL).tell(message)
            await time.settle()
            return [message.reply.answers[0] for message in messages]

        of_user = CommandRefused("a user may send 2 text messages an hour")
        assert await outcomes_of(1, 3) == [CommandSent(), CommandSent(), of_user]
        assert await outcomes_of(2, 3) == [CommandSent(), CommandSent(), of_user]
        of_all = CommandRefused("all users may send 5 text messages an hour")
        assert await outcomes_of(3, 2) == [CommandSent(), of_all]
        await time.passes(3601)
        assert await outcomes_of(3, 2) == [CommandSent(), CommandSent()]
    assert len(sent) == 7


async def test_the_servers_of_a_cluster_send_no_more_together(tree, database, clock, time, until):
    sent = []

    async def send(message, envelope):
        sent.append(message.text)

    def channel():
        shared = SharedAttempts(database, clock)
        gateway = SmsSettings(url="http://127.0.0.1:9", per_user=3, per_hour=5)
        sms = OutgoingServices(sms=gateway, monotonic=clock.monotonic, shared=shared).sms
        sms.send = send
        return text_channel_spec(sms)

    async with tree(channel()) as one, tree(channel()) as other:

        async def outcomes_of(user_id, *systems):
            replies = []
            for system in systems:
                (message,) = texts(1, user_id)
                await system.ref(TEXT_CHANNEL).tell(message)
                replies.append(message.reply.answers)
                await until(lambda: replies[-1])
            return [answer for (answer,) in replies]

        of_user = CommandRefused("a user may send 3 text messages an hour")
        assert await outcomes_of(1, one, other, one, other, one) == [CommandSent()] * 3 + [of_user] * 2
        of_all = CommandRefused("all users may send 5 text messages an hour")
        assert await outcomes_of(2, other, other, other) == [CommandSent(), CommandSent(), of_all]
        assert len(sent) == 5
        await time.passes(3601)
        assert await outcomes_of(1, other, other, one) == [CommandSent()] * 3


async def test_a_text_that_cannot_be_counted_in_time_is_not_sent(tree, time):
    sms = SlowSms()

    async def admit_together(user_id, messages=1):
        await trio.sleep_forever()

    sms.admit_together = admit_together
    (message,) = texts(1)
    async with tree(text_channel_spec(sms)) as system:
        await system.ref(TEXT_CHANNEL).tell(message)
        await time.passes(START_SECONDS)
    slow = CommandRefused("the database is too slow: the text message was not sent")
    assert (message.reply.answers, sms.sent) == ([slow], [])


async def test_a_gateway_that_is_silent_ends_each_message_in_time(tree, time):
    sms = SlowSms()
    messages = texts(MAX_CONCURRENT + MAX_WAITING + 1)
    async with tree(text_channel_spec(sms)) as system:
        for message in messages:
            await system.ref(TEXT_CHANNEL).tell(message)
            if len(sms.sent) < MAX_CONCURRENT:
                await time.settle()
        assert outcomes(messages[:-1]) == [[]] * (MAX_CONCURRENT + MAX_WAITING)
        full = CommandRefused("too many text messages wait for the SMS gateway")
        assert messages[-1].reply.answers == [full]
        await time.passes(OUTCOME_SECONDS + 0.1)
        begun, waiting = messages[:MAX_CONCURRENT], messages[MAX_CONCURRENT:-1]
        assert outcomes(begun) == [[CommandRefused(IN_TIME, uncertain=True)]] * MAX_CONCURRENT
        # They have waited too long to be sent: their senders were told that they are not.
        assert START_SECONDS < OUTCOME_SECONDS
        late = CommandRefused("the SMS gateway is too slow: the text message was not sent")
        assert outcomes(waiting) == [[late]] * MAX_WAITING
        assert len(sms.sent) == MAX_CONCURRENT
        sms.free.set()
        (after,) = texts(1)
        await system.ref(TEXT_CHANNEL).tell(after)
        await time.settle()
        assert after.reply.answers == [CommandSent()]


async def test_a_message_that_breaks_the_client_does_not_end_the_others(tree, time, caplog):
    sms = SlowSms()

    async def fail(message, envelope):
        raise ZeroDivisionError

    sms.send = fail
    messages = texts(2)
    async with tree(text_channel_spec(sms)) as system:
        for message in messages:
            await system.ref(TEXT_CHANNEL).tell(message)
        await time.settle()
    broken = CommandRefused("the text message cannot be sent: ZeroDivisionError", uncertain=True)
    assert outcomes(messages) == [[broken], [broken]]
    assert "a text message cannot be sent" in caplog.text
