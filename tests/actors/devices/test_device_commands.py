"""Steps of scheduled commands at their device: sent, kept, delivered or refused, and what is written of it.

What holds for all commands is tested with the device.
"""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
import trio

from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.position_writer import AppendEvents
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.downlink import (
    CONNECTION,
    DeliverInResponse,
    EncodingRefused,
    Transmit,
    Transmitted,
)
from motorpool.actors.messages.live_stream import (
    STREAM,
)
from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandQueued,
    CommandRefused,
    CommandSent,
    Connected,
    Disconnected,
    PositionReported,
    SendCommand,
)
from motorpool.codecs.reports import MediaAddress, PositionReport
from motorpool.runtime import Actor, DynamicSpec
from motorpool.runtime.testing import Probe
from motorpool.storage import commands, devices, runs
from motorpool.storage.errors import StorageUnavailable

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OFFLINE = CommandRefused("the device is offline", offline=True)


class CommandHarness:
    """A device's actor between probes, and its run records."""

    def __init__(self, database, neighbours, row):
        self.database, self.neighbours, self.row = database, neighbours, row
        self.system = None
        self.numbers = count(1)

    @property
    def device(self):
        return self.system.ref(DEVICE, self.row.id)

    @property
    def events(self):
        return [
            (event.type, event.attributes)
            for told in self.neighbours.writer.messages
            if isinstance(told, AppendEvents)
            for event in told.events
        ]

    async def connect(self, answers=None, protocol="jt808"):
        ref, probe = await self.neighbours.connect(self.system, next(self.numbers), answers)
        await self.device.tell(Connected(ref, protocol, "192.0.2.7", "198.51.100.1"))
        return ref, probe

    async def step(self, kind="positionSingle", attributes=None, *, minutes=0, **fields):
        """A run that is `sending`, as the dispatcher has it sent; the run and the device's answer."""
        run_id = await self.database.fetch_value(
            "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
            " command_id, delay_seconds, followed, time, status)"
            " values (1, $3, 'start', 0, $1, 1, 0, false, $2, 'sending') returning id",
            self.row.id,
            NOW - MINUTE,
            next(self.numbers),
        )
        order = SendCommand(
            kind,
            attributes or {},
            no_queue=minutes == 0,
            run_id=run_id,
            queue_minutes=minutes,
            **fields,
        )
        return run_id, await self.device.ask(order)

    async def run(self, run_id):
        row = await self.database.fetch_row(
            "select status, reason, detail, time from scheduled_command_runs where id = $1", run_id
        )
        return tuple(row.values())

    async def queued(self):
        return await commands.queued_for(self.database, self.row.id)


@pytest.fixture
async def device_harness(database, neighbours, tree, make_device, tmp_path):
    """One device, offline."""
    its = CommandHarness(database, neighbours, await make_device())
    specs = (
        neighbours.writer_spec,
        neighbours.directory_spec,
        neighbours.media_requests_spec,
        device_spec(
            database,
            media=MediaAddress("203.0.113.5", 5263, 5363, 5015),
            media_folder=tmp_path,
            status_timeout_seconds=600.0,
        ),
        DynamicSpec(kind=STREAM, name="streams", factory=lambda _: Probe()),
        neighbours.connections_spec,
    )
    async with tree(*specs) as system:
        its.system = system
        yield its


class TestSending:
    async def test_an_online_device_is_sent_it_and_the_sender_settles_it(self, device_harness):
        _, probe = await device_harness.connect()
        run_id, outcome = await device_harness.step(attributes={"data": "x"}, minutes=5)
        assert outcome == CommandSent()
        ((order,),) = [[told.command for told in probe.messages]]
        assert (order.type, order.attributes) == ("positionSingle", {"data": "x"})
        assert (await device_harness.run(run_id))[0] == "sending"
        assert await device_harness.queued() == []

    async def test_an_offline_device_is_told_of_as_such_where_nothing_may_wait(self, device_harness):
        for fields in ({"minutes": 0}, {"minutes": 5, "attributes": {"noQueue": True}}):
            run_id, outcome = await device_harness.step(**fields)
            assert outcome == OFFLINE
            assert (await device_harness.run(run_id))[0] == "sending"
        assert await device_harness.queued() == []

    async def test_what_may_wait_waits_so_many_minutes(self, device_harness, time):
        await time.settle()
        run_id, outcome = await device_harness.step(attributes={"data": "x"}, minutes=5)
        assert isinstance(outcome, CommandQueued)
        assert await device_harness.queued() == [outcome.queued]
        assert (outcome.queued.type, outcome.queued.attributes) == ("positionSingle", {"data": "x"})
        assert await device_harness.run(run_id) == ("queued", None, None, NOW)
        expires = await device_harness.database.fetch_value("select expires from queued_commands")
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
        self, device_harness, fields, reason
    ):
        connection, probe = await device_harness.connect()
        assert (await device_harness.step(**fields, minutes=5))[1] == CommandRefused(reason)
        await device_harness.device.tell(Disconnected(connection))
        assert (await device_harness.step(**fields, minutes=5))[1] == CommandRefused(reason)
        assert probe.messages == []
        assert await device_harness.queued() == []

    async def test_what_the_device_declines_is_told_in_its_words(self, device_harness):
        await device_harness.connect({Transmit: EncodingRefused("data is required")})
        assert (await device_harness.step(minutes=5))[1] == CommandRefused("data is required")

    async def test_one_that_was_cancelled_as_it_was_sent_does_not_wait(self, device_harness):
        run_id, _ = await device_harness.step()
        await runs.cancel(device_harness.database, 1, NOW)
        order = SendCommand("positionSingle", run_id=run_id, queue_minutes=5)
        assert await device_harness.device.ask(order) == CommandRefused("it was cancelled meanwhile")
        assert await device_harness.queued() == []
        _, probe = await device_harness.connect()
        assert probe.messages == []

    async def test_an_outage_as_it_would_wait_is_an_error_of_the_asker(self, device_harness, outage):
        run_id, _ = await device_harness.step()
        with outage(), pytest.raises(StorageUnavailable):
            await device_harness.device.ask(SendCommand("positionSingle", run_id=run_id, queue_minutes=5))
        assert (await device_harness.run(run_id))[0] == "sending"


class TestDelivery:
    async def test_it_is_delivered_when_the_device_connects(self, device_harness, time):
        ids = [(await device_harness.step(kind, minutes=5))[0] for kind in ("engineStop", "positionSingle")]
        numbers = [waiting.id for waiting in await device_harness.queued()]
        await time.passes(60)
        _, probe = await device_harness.connect()
        await time.settle()
        assert [told.command.type for told in probe.messages] == ["engineStop", "positionSingle"]
        for run_id in ids:
            assert await device_harness.run(run_id) == ("delivered", None, None, NOW + MINUTE)
        assert device_harness.events == [("queuedCommandSent", {"id": number}) for number in numbers]
        assert await device_harness.queued() == []

    async def test_of_what_waits_only_what_has_its_time_yet_is_delivered(self, device_harness, time):
        (old, _), (young, _) = (
            await device_harness.step(minutes=5),
            await device_harness.step("engineStop", minutes=6),
        )
        await time.passes(300)
        _, probe = await device_harness.connect()
        await time.settle()
        assert [told.command.type for told in probe.messages] == ["engineStop"]
        assert await device_harness.run(old) == ("skipped", "queue_expired", None, NOW + 5 * MINUTE)
        assert (await device_harness.run(young))[0] == "delivered"
        assert await device_harness.queued() == []

    async def test_of_what_waits_only_what_is_wanted_yet_is_delivered(self, device_harness, time):
        run_id, _ = await device_harness.step(minutes=5)
        await device_harness.device.ask(SendCommand("engineStop"))
        await runs.cancel(device_harness.database, 1, NOW)
        _, probe = await device_harness.connect()
        await time.settle()
        assert [told.command.type for told in probe.messages] == ["engineStop"]
        assert (await device_harness.run(run_id))[:2] == ("skipped", "schedule_inactive")

    async def test_a_device_that_declines_it_then_has_not_been_sent_it(self, device_harness, time):
        run_id, _ = await device_harness.step(minutes=5)
        await time.passes(60)
        await device_harness.connect({Transmit: EncodingRefused("data is required")})
        await time.settle()
        assert await device_harness.run(run_id) == ("skipped", "not_sent", "data is required", NOW + MINUTE)
        assert device_harness.events == []
        assert await device_harness.queued() == []

    async def test_a_device_that_speaks_in_requests_takes_one_with_each(self, device_harness, time):
        for number in (1, 2):
            await device_harness.step("custom", {"data": f"do {number}"}, minutes=5)
        connection, probe = await device_harness.connect(protocol="osmand")
        await time.settle()
        assert probe.messages == []
        report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0, longitude=2.0)
        statuses = []
        for _ in range(3):
            await device_harness.device.tell(PositionReported(report, "osmand", connection))
            await time.settle()
            rows = await device_harness.database.fetch(
                "select status from scheduled_command_runs order by id"
            )
            statuses.append([row[0] for row in rows])
        assert statuses == [["delivered", "queued"], ["delivered"] * 2, ["delivered"] * 2]
        assert probe.messages == [DeliverInResponse("do 1"), DeliverInResponse("do 2")]
        assert [kind for kind, _ in device_harness.events] == ["queuedCommandSent"] * 2

    async def test_a_request_that_has_ended_before_its_answer_takes_none(self, device_harness, time):
        run_id, _ = await device_harness.step("custom", {"data": "do"}, minutes=5)
        connection, _ = await device_harness.connect(protocol="osmand")
        await time.settle()
        await connection.stop()
        report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0, longitude=2.0)
        await device_harness.device.tell(PositionReported(report, "osmand", connection))
        await time.settle()
        assert await device_harness.run(run_id) == ("skipped", "not_sent", "the connection has ended", NOW)

    async def test_it_is_being_delivered_while_nobody_knows_whether_it_arrived(self, device_harness, time):
        """As it stands in its row when the server dies just then: never sent a second time."""
        run_id, _ = await device_harness.step(minutes=5)
        free = trio.Event()
        seen = []

        class Slow(Actor):
            async def handle(self, message):
                seen.append(message)
                await free.wait()
                return Transmitted(None)

        connection = await device_harness.system.start(CONNECTION, 77, Slow)
        await device_harness.device.tell(Connected(connection, "jt808", "192.0.2.7", "198.51.100.1"))
        await time.settle()
        assert len(seen) == 1
        assert (await device_harness.run(run_id))[0] == "delivering"
        assert await device_harness.queued() == []
        await runs.cancel(device_harness.database, 1, NOW)
        free.set()
        await time.settle()
        assert (await device_harness.run(run_id))[0] == "delivered"

    async def test_where_the_database_leaves_as_it_goes_out_that_is_logged_and_settled_by_the_next_start(
        self, device_harness, time, outage, caplog
    ):
        run_id, _ = await device_harness.step(minutes=5)
        leaving = outage()

        class Last(Actor):
            def handle(self, message):
                leaving.__enter__()
                return Transmitted(None)

        connection = await device_harness.system.start(CONNECTION, 77, Last)
        await device_harness.device.tell(Connected(connection, "jt808", "192.0.2.7", "198.51.100.1"))
        await time.settle()
        leaving.__exit__(None, None, None)
        assert f"what came of step {run_id} is not written down" in caplog.text
        assert (await device_harness.run(run_id))[0] == "delivering"
        assert [kind for kind, _ in device_harness.events] == ["queuedCommandSent"]
        later = {"delivering_before": NOW + timedelta(minutes=1), "sending": False}
        assert await runs.fail_interrupted(device_harness.database, NOW, "who knows", **later) == {
            run_id: False
        }

    async def test_it_outlives_the_devices_actor_and_ends_with_the_device(self, device_harness, time):
        run_id, _ = await device_harness.step(minutes=5)
        await device_harness.device.stop()
        async with device_harness.database.transaction() as transaction:
            await runs.cancel_for_device(transaction, device_harness.row.id, NOW)
            await devices.TABLE.delete(transaction, device_harness.row.id)
        await device_harness.device.tell(DeviceChanged(device_harness.row.id, "deleted"))
        _, probe = await device_harness.connect()
        await time.settle()
        assert probe.messages == []
        assert (await device_harness.run(run_id))[:2] == ("skipped", "device_not_found")
