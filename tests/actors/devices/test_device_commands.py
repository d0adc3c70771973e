"""Steps of scheduled commands, and commands of tickets, at their device, and what is written of them.

What holds for all commands is tested with the device.
"""

from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.actors.devices.askers import FROM_ANYWHERE
from tests.runtime.actor_testing import Probe

from motorpool.actors.devices.command_queue import FORBIDDEN
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.downlink import (
    CONNECTION,
    DeliverInResponse,
    EncodingRefused,
    StopServing,
    Transmit,
    Transmitted,
)
from motorpool.actors.messages.tickets import TicketCommandAnswered, TicketCommandsChanged
from motorpool.actors.messages.uplink import (
    CommandQueued,
    CommandRefused,
    CommandSent,
    Connected,
    Disconnected,
    GetCommandTypes,
    PositionReported,
    Reported,
    SendCommand,
)
from motorpool.codecs.reports import CommandResult, PositionReport
from motorpool.runtime import Actor
from motorpool.storage.accounts import users
from motorpool.storage.devices import commands, devices
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.helpdesk import ticket_commands
from motorpool.storage.records import User
from motorpool.storage.schedules import runs

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
pytestmark = FROM_ANYWHERE
OFFLINE = CommandRefused("the device is offline", offline=True)


@pytest.fixture
async def row(make_known_device):
    """The device under test, offline."""
    return await make_known_device()


@pytest.fixture
async def running(device_harness):
    """A running `DeviceHarness`."""
    async with device_harness() as harness:
        yield harness


def described(events):
    return [(event.type, event.attributes) for event in events]


class TestSending:
    async def test_an_online_device_is_sent_it_and_the_sender_settles_it(self, running, row):
        _, probe = await running.connect(row)
        run_id, outcome = await running.step(row, attributes={"data": "x"}, minutes=5)
        assert outcome == CommandSent()
        ((order,),) = [[message.command for message in probe.messages]]
        assert (order.type, order.attributes) == ("positionSingle", {"data": "x"})
        assert (await running.run(run_id))[0] == "sending"
        assert await running.queued(row) == []

    async def test_a_command_that_may_not_wait_is_refused_while_the_device_is_offline(self, running, row):
        for fields in ({"minutes": 0}, {"minutes": 5, "attributes": {"noQueue": True}}):
            run_id, outcome = await running.step(row, **fields)
            assert outcome == OFFLINE
            assert (await running.run(run_id))[0] == "sending"
        assert await running.queued(row) == []

    async def test_what_may_wait_waits_so_many_minutes(self, running, row, time):
        await time.settle()
        run_id, outcome = await running.step(row, attributes={"data": "x"}, minutes=5)
        assert isinstance(outcome, CommandQueued)
        assert await running.queued(row) == [outcome.queued]
        assert (outcome.queued.type, outcome.queued.attributes) == ("positionSingle", {"data": "x"})
        assert await running.run(run_id) == ("queued", None, None, NOW)
        expires = await running.database.fetch_value("select expires from queued_commands")
        assert expires == NOW + 5 * MINUTE

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"text_channel": True}, "no SMS gateway is configured"),
            (
                {"kind": "videoStart", "attributes": {"channel": 32}},
                "attributes.channel: cameras have the numbers 1 to 31",
            ),
            ({"kind": "makeCoffee"}, "jt808 devices do not know the command makeCoffee"),
        ],
        ids=["text channel", "no camera", "unknown"],
    )
    async def test_what_is_wrong_with_it_is_found_before_it_is_sent_or_waits(
        self, running, row, fields, reason
    ):
        connection, probe = await running.connect(row)
        assert (await running.step(row, **fields, minutes=5))[1] == CommandRefused(reason)
        await running.device(row).tell(Disconnected(connection))
        assert (await running.step(row, **fields, minutes=5))[1] == CommandRefused(reason)
        assert probe.messages == []
        assert await running.queued(row) == []

    async def test_a_command_that_cannot_be_encoded_is_refused_with_the_reason(self, running, row):
        await running.connect(row, answers={Transmit: EncodingRefused("data is required")})
        assert (await running.step(row, minutes=5))[1] == CommandRefused("data is required")

    async def test_one_that_was_cancelled_as_it_was_sent_does_not_wait(self, running, row):
        run_id, _ = await running.step(row)
        await runs.cancel(running.database, 1, NOW)
        order = SendCommand("positionSingle", run_id=run_id, queue_minutes=5)
        assert await running.device(row).ask(order) == CommandRefused("it was cancelled meanwhile")
        assert await running.queued(row) == []
        _, probe = await running.connect(row)
        assert probe.messages == []

    async def test_an_outage_as_it_would_wait_is_an_error_of_the_asker(self, running, row, outage):
        run_id, _ = await running.step(row)
        with outage(), pytest.raises(StorageUnavailable):
            await running.device(row).ask(SendCommand("positionSingle", run_id=run_id, queue_minutes=5))
        assert (await running.run(run_id))[0] == "sending"


class TestTextMessages:
    CUSTOM = SendCommand("custom", {"data": "reset {uniqueId}"}, text_channel=True, user_id=7)

    @pytest.fixture
    async def texting(self, device_harness):
        async with device_harness(text_channel=lambda: True) as harness:
            yield harness

    @pytest.mark.parametrize("connected", [False, True])
    async def test_a_custom_command_goes_to_the_telephone_of_the_device(
        self, texting, make_device, time, connected
    ):
        """Whether or not it is connected, and whatever its protocol is."""
        row = await make_device("phone 1", phone="+49 123")
        if connected:
            _, probe = await texting.connect(row)
        outcomes = []
        async with trio.open_nursery() as nursery:

            async def ask():
                outcomes.append(await texting.device(row).ask(self.CUSTOM))

            nursery.start_soon(ask)
            message = await texting.texts.receive()
            assert (message.phone, message.text, message.user_id) == ("+49 123", "reset phone 1", 7)
            # The device goes on with other messages while the gateway is slow.
            assert "custom" in await texting.device(row).ask(GetCommandTypes())
            message.reply.answer(CommandSent())
        assert outcomes == [CommandSent()]
        assert await texting.queued(row) == []
        assert not connected or probe.messages == []

    async def test_what_cannot_be_sent_is_refused_at_once(self, texting, make_device):
        row = await make_device("phone 1")
        assert await texting.device(row).ask(self.CUSTOM) == CommandRefused(
            "the device has no telephone number"
        )
        other = await make_device("phone 2", phone="+49 123")
        for command, reason in (
            (
                SendCommand("positionSingle", text_channel=True),
                "only custom commands can be sent as text messages",
            ),
            (SendCommand("custom", text_channel=True), "attributes.data: the text of the message is needed"),
        ):
            assert await texting.device(other).ask(command) == CommandRefused(reason)
        assert texting.texts.messages == []

    async def test_without_a_gateway_it_is_refused(self, running, make_device):
        row = await make_device("phone 1", phone="+49 123")
        assert await running.device(row).ask(self.CUSTOM) == CommandRefused("no SMS gateway is configured")


class TestDelivery:
    async def test_it_is_delivered_when_the_device_connects(self, running, row, time):
        ids = [(await running.step(row, kind, minutes=5))[0] for kind in ("engineStop", "positionSingle")]
        numbers = [waiting.id for waiting in await running.queued(row)]
        await time.passes(60)
        _, probe = await running.connect(row)
        await time.settle()
        assert [message.command.type for message in probe.messages] == ["engineStop", "positionSingle"]
        for run_id in ids:
            assert await running.run(run_id) == ("delivered", None, None, NOW + MINUTE)
        assert described(running.events) == [("queuedCommandSent", {"id": number}) for number in numbers]
        assert await running.queued(row) == []

    async def test_of_what_waits_only_what_has_its_time_yet_is_delivered(self, running, row, time):
        (old, _), (young, _) = (
            await running.step(row, minutes=5),
            await running.step(row, "engineStop", minutes=6),
        )
        await time.passes(300)
        _, probe = await running.connect(row)
        await time.settle()
        assert [message.command.type for message in probe.messages] == ["engineStop"]
        assert await running.run(old) == ("skipped", "queue_expired", None, NOW + 5 * MINUTE)
        assert (await running.run(young))[0] == "delivered"
        assert await running.queued(row) == []

    async def test_a_queued_command_that_was_cancelled_is_not_delivered(self, running, row, time):
        run_id, _ = await running.step(row, minutes=5)
        await running.device(row).ask(SendCommand("engineStop"))
        await runs.cancel(running.database, 1, NOW)
        _, probe = await running.connect(row)
        await time.settle()
        assert [message.command.type for message in probe.messages] == ["engineStop"]
        assert (await running.run(run_id))[:2] == ("skipped", "schedule_inactive")

    async def test_a_device_that_declines_it_then_has_not_been_sent_it(self, running, row, time):
        run_id, _ = await running.step(row, minutes=5)
        await time.passes(60)
        await running.connect(row, answers={Transmit: EncodingRefused("data is required")})
        await time.settle()
        assert await running.run(run_id) == ("skipped", "not_sent", "data is required", NOW + MINUTE)
        ((kind, attributes),) = described(running.events)
        assert (kind, attributes["command"], attributes["reason"]) == (
            "queuedCommandFailed",
            "positionSingle",
            "data is required",
        )
        # The run record is what the sender of a step looks at.
        assert await running.database.fetch_value("select count(*) from audit") == 0
        assert await running.queued(row) == []

    async def test_a_command_whose_sender_has_lost_the_right_is_not_sent(self, running, row, time):
        sender = await users.TABLE.insert(running.database, User(email="a@example.com"))
        lost = SendCommand("custom", {"data": "x"}, user_id=sender.id)
        queued = (await running.device(row).ask(lost)).queued
        await running.device(row).ask(SendCommand("custom", {"data": "y"}))
        _, probe = await running.connect(row)
        await time.settle()
        assert [message.command.attributes for message in probe.messages] == [{"data": "y"}]
        (kind, attributes), (other, _) = described(running.events)
        assert (kind, other) == ("queuedCommandFailed", "queuedCommandSent")
        assert (attributes["id"], attributes["reason"]) == (queued.id, FORBIDDEN)

    async def test_a_command_of_a_user_that_is_declined_then_leaves_an_event_and_is_audited(
        self, running, row, time
    ):
        sender = await users.TABLE.insert(running.database, User(email="a@example.com", administrator=True))
        sent = SendCommand("custom", {"data": "x"}, user_id=sender.id)
        queued = (await running.device(row).ask(sent)).queued
        await running.connect(row, answers={Transmit: EncodingRefused("data must be hex digits")})
        await time.settle()
        found = {"id": queued.id, "command": "custom", "reason": "data must be hex digits"}
        assert described(running.events) == [("queuedCommandFailed", found)]
        (audited,) = await running.database.fetch(
            "select user_id, action_type, object_type, object_id, attributes from audit"
        )
        assert tuple(audited.values()) == (
            sender.id,
            "commandFailed",
            "device",
            row.id,
            {"id": queued.id, "type": "custom", "reason": "data must be hex digits"},
        )
        assert await running.queued(row) == []

    async def test_what_a_phone_does_not_take_leaves_an_event_as_well(self, running, row, time):
        await running.device(row).ask(SendCommand("custom", {"data": "do"}))
        connection, _ = await running.connect(row, protocol="osmand")
        await time.settle()
        await connection.stop()
        report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0, longitude=2.0)
        await running.device(row).tell(PositionReported(report, "osmand", connection))
        await time.settle()
        ((kind, attributes),) = described(running.events)
        assert (kind, attributes["reason"]) == ("queuedCommandFailed", "the connection has ended")

    async def test_commands_that_leave_the_queue_otherwise_are_not_kept_in_memory(self, running, row, time):
        device = running.device(row)
        for number in range(3):
            queued = (await device.ask(SendCommand("custom", {"data": str(number)}))).queued
            if number < 2:
                assert await commands.cancel(running.database, queued.id, NOW) == ()
        _, probe = await running.connect(row)
        await time.settle()
        assert [message.command.attributes for message in probe.messages] == [{"data": "2"}]

    async def test_a_device_that_speaks_in_requests_takes_one_with_each(self, running, row, time):
        for number in (1, 2):
            await running.step(row, "custom", {"data": f"do {number}"}, minutes=5)
        connection, probe = await running.connect(row, protocol="osmand")
        await time.settle()
        assert probe.messages == []
        report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0, longitude=2.0)
        statuses = []
        for _ in range(3):
            await running.device(row).tell(PositionReported(report, "osmand", connection))
            await time.settle()
            rows = await running.database.fetch("select status from scheduled_command_runs order by id")
            statuses.append([row[0] for row in rows])
        assert statuses == [["delivered", "queued"], ["delivered"] * 2, ["delivered"] * 2]
        assert probe.messages == [DeliverInResponse("do 1"), DeliverInResponse("do 2")]
        assert [kind for kind, _ in described(running.events)] == ["queuedCommandSent"] * 2

    async def test_a_request_that_has_ended_before_its_answer_takes_none(self, running, row, time):
        run_id, _ = await running.step(row, "custom", {"data": "do"}, minutes=5)
        connection, _ = await running.connect(row, protocol="osmand")
        await time.settle()
        await connection.stop()
        report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0, longitude=2.0)
        await running.device(row).tell(PositionReported(report, "osmand", connection))
        await time.settle()
        assert await running.run(run_id) == ("skipped", "not_sent", "the connection has ended", NOW)

    async def test_it_is_being_delivered_until_the_connection_answers(self, running, row, time):
        """As it stands in its row when the server dies just then: never sent a second time."""
        run_id, _ = await running.step(row, minutes=5)
        free = trio.Event()
        seen = []

        class Slow(Actor):
            async def handle(self, message):
                seen.append(message)
                await free.wait()
                return Transmitted(None)

        connection = await running.system.start(CONNECTION, 77, Slow)
        await running.device(row).tell(
            Connected(connection, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,))
        )
        await time.settle()
        assert len(seen) == 1
        assert (await running.run(run_id))[0] == "delivering"
        assert await running.queued(row) == []
        await runs.cancel(running.database, 1, NOW)
        free.set()
        await time.settle()
        assert (await running.run(run_id))[0] == "delivered"

    async def test_where_the_database_leaves_as_it_goes_out_that_is_logged_and_settled_by_the_next_start(
        self, running, row, time, outage, caplog
    ):
        run_id, _ = await running.step(row, minutes=5)
        leaving = outage()

        class Last(Actor):
            def handle(self, message):
                leaving.__enter__()
                return Transmitted(None)

        connection = await running.system.start(CONNECTION, 77, Last)
        await running.device(row).tell(
            Connected(connection, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,))
        )
        await time.settle()
        leaving.__exit__(None, None, None)
        assert "cannot store the outcome of command 1: " in caplog.text
        assert (await running.run(run_id))[0] == "delivering"
        assert [kind for kind, _ in described(running.events)] == ["queuedCommandSent"]
        later = {"delivering_before": NOW + timedelta(minutes=1), "sending": False}
        assert await runs.fail_interrupted(running.database, NOW, "who knows", **later) == {run_id: False}

    async def test_it_outlives_the_devices_actor_and_ends_with_the_device(self, running, row, time):
        run_id, _ = await running.step(row, minutes=5)
        await running.device(row).stop()
        async with running.database.transaction() as transaction:
            await runs.cancel_for_device(transaction, row.id, NOW)
            await devices.TABLE.delete(transaction, row.id)
        await running.device(row).tell(DeviceChanged(row.id, "deleted"))
        _, probe = await running.connect(row)
        await time.settle()
        assert [type(message) for message in probe.messages] == [StopServing]
        assert (await running.run(run_id))[:2] == ("skipped", "device_not_found")


async def connect_with(running, row, answers):
    """Connect the device, and answer what is to be sent to it with these."""

    class Connection(Probe):
        def handle(self, message):
            super().handle(message)
            return next(answers) if isinstance(message, Transmit) else None

    ref = await running.system.start(CONNECTION, 70, lambda: Connection({Transmit: Transmitted(None)}))
    await running.device(row).ask(Connected(ref, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,)))
    return ref


class TestForTickets:
    async def test_answers_to_commands_of_tickets_are_reported_and_no_others(self, running, row):
        ref = await connect_with(running, row, map(Transmitted, (7, 8, 9)))
        device = running.device(row)
        for kind, number in (("positionSingle", 31), ("videoStop", 32), ("positionSingle", 0)):
            command = SendCommand(kind, {"channel": 1}, ticket_command_id=number)
            assert await device.ask(command) == CommandSent()
        results = (CommandResult(9, True), CommandResult(8, False, "busy"), CommandResult(7, True, "ok"))
        for result in (*results, CommandResult(None, True)):
            await device.tell(Reported(result, "jt808", ref))
        await device.ask(GetCommandTypes())
        reported = running.ticket_commands.messages
        assert reported == [
            TicketCommandAnswered(32, False, "busy"),
            TicketCommandAnswered(31, True, "ok"),
        ]
        # The numbers of a new connection begin again.
        await device.tell(Connected(ref, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,)))
        await device.tell(Reported(CommandResult(7, True), "jt808", ref))
        await device.ask(GetCommandTypes())
        assert len(reported) == 2

    async def test_an_answer_to_a_stream_is_an_event_only_where_the_device_refuses(self, running, row):
        ref = await connect_with(running, row, map(Transmitted, (7, 8, 9, 7)))
        device = running.device(row)

        async def results(*answers):
            before = len(running.appended)
            for result in answers:
                await device.tell(Reported(result, "jt808", ref))
            await device.ask(GetCommandTypes())
            return [append.position.attributes["result"] for append in running.appended[before:]]

        for by_reader in (True, True, False):
            start = SendCommand("videoStart", {"channel": 1}, no_queue=True, by_reader=by_reader)
            assert await device.ask(start) == CommandSent()
        answers = (CommandResult(7, True), CommandResult(8, False), CommandResult(9, True, "filming"))
        assert await results(*answers) == ["failed", "filming"]
        # The number of one for readers, used again by somebody's command.
        assert await device.ask(SendCommand("positionSingle")) == CommandSent()
        assert await results(CommandResult(7, True)) == ["ok"]
        assert running.ticket_commands.messages == []

    async def test_a_queued_command_is_delivered_or_refused_for_its_ticket(self, running, row, database):
        rows = [await ticket_commands.add(database, 1, 1, {"deviceId": row.id}, now=NOW) for _ in range(2)]
        for number in rows:
            queued = await running.device(row).ask(SendCommand("positionSingle", ticket_command_id=number))
            assert isinstance(queued, CommandQueued)
        states = "select status from ticket_commands order by id"
        assert [each[0] for each in await database.fetch(states)] == ["queued", "queued"]
        answers = (Transmitted(5), EncodingRefused("too long"))
        ref = await connect_with(running, row, iter(answers))
        await running.device(row).tell(Reported(CommandResult(5, True, "ok"), "jt808", ref))
        await running.device(row).ask(GetCommandTypes())
        news = await database.fetch("select command_id, attributes from ticket_command_news order by id")
        known = [(each[0], each[1]["status"], each[1].get("reason")) for each in news]
        assert known == [(rows[0], "delivered", None), (rows[1], "refused", "too long")]
        assert [each[0] for each in await database.fetch(states)] == ["sent"]
        assert running.ticket_commands.messages == [
            TicketCommandsChanged(),
            TicketCommandsChanged(),
            TicketCommandAnswered(rows[0], True, "ok"),
        ]
