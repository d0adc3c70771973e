"""The device actor between its neighbours, with its tables."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import trio
from tests.actors.devices.askers import FROM_ANYWHERE
from tests.runtime.actor_testing import Probe

from motorpool.actors.devices.device_session import REASON
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents
from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.directory import DeviceStatusChanged
from motorpool.actors.messages.downlink import (
    CONNECTION,
    AcknowledgeStored,
    Close,
    ConfigureDecoder,
    DeliverInResponse,
    EncodingRefused,
    Reannounce,
    Settled,
    StopServing,
    Transmit,
)
from motorpool.actors.messages.live_stream import (
    HoldStream,
    ReleaseStream,
)
from motorpool.actors.messages.playback import (
    PlaybackCommandCompleted,
    PlaybackControlSent,
    PlaybackRequested,
)
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.messages.uplink import (
    DEVICE,
    AlarmFileStored,
    AttachConnection,
    AuthorizeAlarmUpload,
    CommandQueued,
    CommandRefused,
    CommandSent,
    Connected,
    DetachConnection,
    DeviceSeen,
    Disconnected,
    GetCommandTypes,
    GetSoundFormat,
    PositionReported,
    Reported,
    SendCommand,
    SetAccumulators,
    TellStored,
)
from motorpool.actors.rules.times import UNKNOWN_FIX_TIME
from motorpool.actors.video.media_requests import MediaRequested
from motorpool.codecs.channel_map import CHANNEL_MAP_ATTRIBUTE
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    CommandResult,
    FileUploadCompleted,
    MediaAddress,
    MediaFile,
    PositionReport,
    Recording,
    RecordingList,
    SoundFormat,
)
from motorpool.runtime import Actor, ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.devices import commands, device_states, devices, groups, position_rows, positions
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Group, Position, User
from motorpool.storage.video import recordings

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def fix(moment, latitude=1.0, longitude=2.0, **fields):
    fields.setdefault("attributes", {})
    return PositionReport(device_time=moment, valid=True, latitude=latitude, longitude=longitude, **fields)


def said(report, connection, protocol="jt808"):
    return PositionReported(report, protocol, connection)


UNKNOWN_PROTOCOL = "the protocol of the device is not known yet: only custom commands can be sent to it"


class TestPositions:
    async def test_a_report_becomes_a_position_with_its_receipt_and_connection(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            report = fix(
                NOW - MINUTE, speed=12.5, course=90.0, altitude=30.0, accuracy=5.0, attributes={"sat": 9}
            )
            await running.device(row).tell(said(msgspec.structs.replace(report, receipt=77), connection))
            await time.settle()
            (append,) = running.appended
            assert (append.receipt, append.connection, append.events) == (77, connection, ())
            assert append.position == Position(
                device_id=row.id,
                protocol="jt808",
                server_time=NOW,
                device_time=NOW - MINUTE,
                fix_time=NOW - MINUTE,
                valid=True,
                latitude=1.0,
                longitude=2.0,
                altitude=30.0,
                speed=12.5,
                course=90.0,
                accuracy=5.0,
                attributes={"sat": 9, "distance": 0.0, "totalDistance": 0.0, "motion": True},
            )

    async def test_it_is_told_behind_what_was_reported_when_that_is_stored(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            await running.device(row).tell(said(fix(NOW), connection))
            await running.device(row).tell(TellStored(connection))
            await time.settle()
            first, last = running.neighbours.writer.messages
            assert isinstance(first, Append)
            assert last == AppendEvents((), connection, settled=Settled(row.id))

    async def test_a_message_without_a_location_repeats_the_last_one(self, make_device, device_harness, time):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            device = running.device(row)
            blind = PositionReport({"alarm": "sos"}, device_time=NOW, located=False)
            await device.tell(said(blind, connection))
            await device.tell(said(fix(NOW - MINUTE, speed=8.0), connection))
            await device.tell(said(blind, connection))
            await time.settle()
            never, known, repeated = running.positions
        assert (never.fix_time, never.latitude, never.valid, never.outdated) == (
            UNKNOWN_FIX_TIME,
            0.0,
            False,
            True,
        )
        assert not known.outdated
        assert repeated.outdated
        assert repeated.valid
        assert (repeated.fix_time, repeated.device_time) == (NOW - MINUTE, NOW)
        assert (repeated.latitude, repeated.longitude, repeated.speed) == (1.0, 2.0, 8.0)
        assert repeated.attributes["alarm"] == "sos"
        assert repeated.attributes["motion"] is True

    @pytest.mark.parametrize(
        ("report", "is_latest"),
        [
            (fix(NOW + timedelta(seconds=59), 40.002), True),
            (fix(NOW + timedelta(seconds=61), 40.002), False),
            (fix(NOW + timedelta(hours=25), 40.002), False),
            (fix(NOW - timedelta(hours=1), 40.002, archived=True), False),
            (fix(NOW - timedelta(hours=1), 40.002), False),
            (fix(NOW, 40.002), True),
            (fix(NOW, 40.01), False),
        ],
        ids=["soon", "wrong clock", "future", "archived", "older", "same time", "elsewhere"],
    )
    async def test_only_the_newest_fix_that_is_not_of_the_future_is_the_latest(
        self, make_device, device_harness, time, report, is_latest
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            for sent in (fix(NOW, 40.0), report, PositionReport({}, device_time=NOW, located=False)):
                await running.device(row).tell(said(sent, connection))
            await time.settle()
            _, kept, repeated = running.positions
        assert kept.latitude == report.latitude
        assert kept.attributes.get("archive", False) is report.archived
        assert repeated.latitude == (report.latitude if is_latest else 40.0)

    async def test_the_latest_position_is_loaded_from_the_table(self, database, make_device, device_harness):
        row = await make_device()
        stored = Position(
            id=5,
            device_id=row.id,
            protocol="jt808",
            server_time=NOW,
            device_time=NOW,
            fix_time=NOW - MINUTE,
            latitude=1.0,
            longitude=2.0,
            attributes={"totalDistance": 1000.0},
        )
        await positions.store(database, [position_rows.pack_row(stored)], [5])
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            await running.device(row).tell(said(fix(NOW, 1.0, 2.001), connection))
            await running.device(row).ask(GetCommandTypes())
            (position,) = running.positions
        # A thousandth of a degree of longitude near the equator.
        assert position.attributes["distance"] == pytest.approx(111.3, abs=0.3)
        assert position.attributes["totalDistance"] == pytest.approx(1111.3, abs=0.3)

    async def test_a_position_without_any_time_takes_ours(self, make_device, device_harness, time):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            report = PositionReport({}, latitude=1.0, longitude=2.0)
            await running.device(row).tell(said(report, connection))
            await running.device(row).tell(said(msgspec.structs.replace(report, valid=True), connection))
            await time.settle()
            unsure, sure = running.positions
        assert (unsure.device_time, unsure.fix_time) == (NOW, NOW)
        assert unsure.outdated
        assert not sure.outdated

    @pytest.mark.parametrize(
        "distance",
        [10**400, -(10**400), float("inf"), float("nan"), 1e300, "far", True, None],
        ids=["huge", "hugely back", "infinite", "no number", "past all stars", "text", "true", "nothing"],
    )
    async def test_no_number_that_a_device_sends_stops_its_actor(
        self, make_device, device_harness, time, distance
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            for _ in range(3):
                await running.device(row).tell(
                    said(fix(NOW, attributes={"distance": distance, "motion": distance}), connection)
                )
            await time.settle()
            totals = [one.attributes["totalDistance"] for one in running.positions]
            assert totals == ([1, 2, 3] if distance is True else [0, 0, 0])

    async def test_a_device_without_a_row_stores_nothing(self, device_harness, time):
        async with device_harness() as running:
            connection, probe = await running.neighbours.connect(running.system, 1)
            device = running.system.ref(DEVICE, 4242)
            for message in (
                said(fix(NOW), connection),
                DeviceSeen("jt808", connection),
                Connected(connection, "jt808", "", "", ("4242",)),
                Reported(CommandResult(None, True), "jt808", connection),
                Reported(MediaFile("image", "jpg", b"x"), "jt808", connection),
                Disconnected(connection),
            ):
                await device.tell(message)
            assert await device.ask(SendCommand("custom")) == CommandRefused("there is no such device")
            assert running.neighbours.writer.messages == []
            assert running.neighbours.directory.messages == []
            assert {type(message) for message in probe.messages} == {StopServing}
            assert list(running.folder.iterdir()) == []

    async def test_a_busy_writer_slows_the_device_down_and_loses_nothing(
        self, make_device, device_harness, time, until_full
    ):
        row = await make_device()
        free = trio.Event()
        written = []

        class Busy(Actor):
            async def handle(self, message):
                await free.wait()
                written.append(message.receipt)

        busy = ChildSpec(kind=POSITION_WRITER, factory=Busy, mailbox_size=2)
        async with device_harness(writer=busy) as running:
            connection, _ = await running.connect(row)
            await time.settle()
            device = running.device(row)
            accepted = until_full(
                lambda number: device.tell_nowait(
                    said(fix(NOW + timedelta(seconds=number), receipt=number), connection)
                )
            )
            assert accepted == 1 + 2 + 1 + 256  # with the writer, its mailbox, the device, its mailbox
            free.set()
            await time.settle()
            assert written == list(range(accepted))


class TestConnections:
    async def test_the_newest_connection_wins_and_the_older_is_closed(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            older_ref, older = await running.connect(row, 1)
            newer_ref, newer = await running.connect(row, 2)
            await time.settle()
            assert older.messages == [Close("replaced by a newer connection of the same device")]
            await running.device(row).tell(Disconnected(older_ref))  # late: it says nothing of the newer
            await running.device(row).ask(SendCommand("positionSingle"))
            assert [type(message) for message in newer.messages] == [Transmit]
            assert running.statuses[-1] == "online"
            await running.device(row).tell(Disconnected(newer_ref))
            assert running.statuses[-1] == "offline"

    async def test_a_connection_that_introduces_itself_again_is_not_closed(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            await running.device(row).tell(
                Connected(connection, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,))
            )
            await time.settle()
            assert probe.messages == []

    @pytest.mark.parametrize("first", ["position", "heartbeat"])
    async def test_after_a_crash_it_asks_the_sender_of_a_message_to_announce_itself(
        self, make_device, device_harness, time, first
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            await time.settle()
            await running.device(row).tell("nonsense")  # no such message: a crash
            await time.passes(0.2)
            message = said(fix(NOW), connection) if first == "position" else DeviceSeen("jt808", connection)
            await running.device(row).tell(message)
            await time.settle()
            assert probe.messages == [Reannounce()]
            assert running.statuses[-1] == "online"
            assert len(running.positions) == (first == "position")
            await running.device(row).tell(
                Connected(connection, "jt808", "192.0.2.7", "198.51.100.1", (row.unique_id,))
            )
            assert await running.device(row).ask(SendCommand("positionSingle")) == CommandSent()
            await running.device(row).tell(message)
            assert [type(each) for each in probe.messages] == [Reannounce, Transmit]

    @pytest.mark.parametrize(
        "edit", [{"disabled": True}, {"expiration_time": NOW - MINUTE}, {"expiration_time": NOW}]
    )
    async def test_a_device_that_is_disabled_or_expired_is_closed(
        self, database, make_device, device_harness, time, edit
    ):
        row = await make_device()
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await time.settle()
            await devices.TABLE.update(database, msgspec.structs.replace(row, name="harmless"))
            await running.device(row).tell(DeviceChanged(row.id, "updated"))
            await time.settle()
            assert probe.messages == []
            await devices.TABLE.update(database, msgspec.structs.replace(row, **edit))
            await running.device(row).tell(DeviceChanged(row.id, "updated"))
            await time.settle()
            assert probe.messages == [StopServing(REASON)]

    async def test_a_deleted_device_is_closed_and_stores_nothing_more(
        self, database, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            await time.settle()
            await devices.TABLE.delete(database, row.id)
            await running.device(row).tell(DeviceChanged(row.id, "updated"))
            await running.device(row).tell(said(fix(NOW, receipt=7), connection))
            await time.settle()
            assert probe.messages == [StopServing(REASON), StopServing(REASON, 7)]
            assert running.positions == []

    async def test_only_an_edit_of_fields_that_it_uses_makes_the_actor_read_its_row(
        self, database, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await time.settle()
            await devices.TABLE.update(database, msgspec.structs.replace(row, name="b", disabled=True))
            await running.device(row).tell(DeviceChanged(row.id, "updated", ("name", "model")))
            await time.settle()
            assert probe.messages == []
            await running.device(row).tell(DeviceChanged(row.id, "updated", ("name", "disabled")))
            await time.settle()
            assert [type(message) for message in probe.messages] == [StopServing]

    async def test_an_edit_during_an_outage_is_looked_at_afterwards(
        self, database, make_device, device_harness, outage, time
    ):
        row = await make_device()
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await devices.TABLE.update(database, msgspec.structs.replace(row, disabled=True))
            with outage():
                await running.device(row).tell(DeviceChanged(row.id, "updated"))
                await time.passes(11, step=5.5)
                assert probe.messages == []
            await time.passes(5)
            assert [type(message) for message in probe.messages] == [StopServing]

    @pytest.mark.parametrize("edit", ["disabled", "expired", "renamed", "deleted"])
    async def test_the_end_of_the_right_to_report_closes_all_connections(
        self, database, make_device, device_harness, time, edit
    ):
        row = await make_device(attributes={"device.protocols": "jt808, osmand"})
        async with device_harness() as running:
            device = running.device(row)
            main, main_probe = await running.connect(row)
            media, media_probe = await running.neighbours.connect(running.system, 8)
            files, files_probe = await running.neighbours.connect(running.system, 9)
            phone, phone_probe = await running.connect(row, 10, protocol="osmand")
            gone, gone_probe = await running.neighbours.connect(running.system, 11)
            assert await device.ask(AttachConnection(media, (row.unique_id,)))
            offered = AlarmFilesAnnounced((row.unique_id,), "aa01", "aa", is_ours=True, files=1)
            assert await device.ask(AuthorizeAlarmUpload(offered, files)) == row.unique_id
            assert await device.ask(AttachConnection(gone, (row.unique_id,)))
            await device.tell(DetachConnection(gone))
            if edit == "deleted":
                await devices.TABLE.delete(database, row.id)
            else:
                fields = {
                    "disabled": {"disabled": True},
                    "expired": {"expiration_time": NOW},
                    "renamed": {"unique_id": "another"},
                }
                await devices.TABLE.update(database, msgspec.structs.replace(row, **fields[edit]))
            await device.tell(DeviceChanged(row.id, "updated"))
            await time.settle()
            for probe in (main_probe, media_probe, files_probe, phone_probe):
                assert probe.messages == [StopServing(REASON)]
            assert gone_probe.messages == []
            assert running.statuses[-1] == ("online" if edit == "deleted" else "offline")
            # Whatever was found by the old row is turned away.
            assert not await device.ask(AttachConnection(gone, (row.unique_id,)))
            assert await device.ask(AuthorizeAlarmUpload(offered, gone)) == ""
            await device.tell(Connected(gone, "jt808", "", "", (row.unique_id,)))
            assert {type(message) for message in gone_probe.messages} == {StopServing}
            outcome = await device.ask(SendCommand("custom", {"data": "?"}, no_queue=True))
            assert outcome.reason in {"the device is offline", "there is no such device"}
            for connection in (main, media, files, phone):
                await device.tell(DetachConnection(connection))

    async def test_an_expiration_takes_effect_at_its_instant(
        self, database, make_device, device_harness, time
    ):
        row = await make_device(expiration_time=NOW + 2 * MINUTE)
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            later = msgspec.structs.replace(row, expiration_time=NOW + 4 * MINUTE)
            await devices.TABLE.update(database, later)
            await running.device(row).tell(DeviceChanged(row.id, "updated", ("expiration_time",)))
            await time.passes(239, step=1)
            await running.device(row).tell(said(fix(NOW, receipt=1), connection))
            assert probe.messages == []
            await time.passes(2, step=1)
            assert probe.messages == [StopServing(REASON)]
            await running.device(row).tell(said(fix(NOW, receipt=2), connection))
            assert probe.messages[1:] == [StopServing(REASON, 2)]
            assert len(running.positions) == 1
            assert running.statuses[-1] == "offline"

    async def test_a_device_with_an_open_connection_stays_in_memory(self, make_device, device_harness, time):
        """An edit reaches only the actors that are there."""
        row = await make_device()
        async with device_harness(idle_seconds=50, status_timeout_seconds=20) as running:
            connection, _ = await running.connect(row, protocol="osmand")
            await running.device(row).tell(DeviceSeen("osmand", connection))
            await time.passes(200, step=10)
            assert running.system.keys(DEVICE) == [row.id]
            await running.device(row).tell(Disconnected(connection))
            await time.passes(200, step=10)
            assert running.system.keys(DEVICE) == []

    async def test_the_connection_is_sent_the_time_zone_and_its_removal(
        self, database, make_device, device_harness, time
    ):
        row = await make_device(attributes={"decoder.timezone": "Europe/Lisbon"})
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await time.settle()
            assert probe.messages == [ConfigureDecoder("Europe/Lisbon", device_id=row.id)]
            for zone in ("Europe/Lisbon", "Asia/Tokyo", ""):
                edited = msgspec.structs.replace(row, attributes={"decoder.timezone": zone} if zone else {})
                await devices.TABLE.update(database, edited)
                await running.device(row).tell(DeviceChanged(row.id, "updated"))
                await time.settle()
            assert probe.messages[1:] == [
                ConfigureDecoder("Asia/Tokyo", device_id=row.id),
                ConfigureDecoder("", device_id=row.id),
            ]
            _, newer = await running.connect(row, 2)
            await time.settle()
            assert newer.messages == []

    async def test_the_connection_is_sent_what_its_group_has_of_a_protocol(
        self, database, make_device, device_harness, time
    ):
        inherited = {"gps103.x": 1, "gps103.y": 2, "color": "red"}
        group = await groups.TABLE.insert(database, Group(name="g", attributes=inherited))
        row = await make_device(group_id=group.id, attributes={"gps103.x": 3})
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await time.settle()
            assert probe.messages == [ConfigureDecoder("", "", {"gps103.x": 3, "gps103.y": 2}, row.id)]

    async def test_the_connection_is_sent_the_model_and_what_belongs_to_a_protocol(
        self, database, make_device, device_harness, time
    ):
        attributes = {"gps103.x": 1, "devicePassword": "123456", "color": "red", "speedLimit": 3}
        row = await make_device(model="FMB920", attributes=attributes)
        async with device_harness() as running:
            _, probe = await running.connect(row)
            await time.settle()
            kept = {"gps103.x": 1, "devicePassword": "123456"}
            assert probe.messages == [ConfigureDecoder("", "FMB920", kept, row.id)]
            await devices.TABLE.update(database, msgspec.structs.replace(row, model="", attributes={}))
            await running.device(row).tell(DeviceChanged(row.id, "updated"))
            await time.settle()
            assert probe.messages[1:] == [ConfigureDecoder("", "", {}, row.id)]


class TestStatus:
    async def test_a_device_is_online_while_heard_then_unknown_then_online_again(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness(status_timeout_seconds=100) as running:
            connection, _ = await running.connect(row)
            await time.passes(90, step=5)
            await running.device(row).tell(DeviceSeen("jt808", connection))
            await time.passes(90, step=5)
            assert set(running.statuses) == {"online"}
            # At least the time-out after the last message, and at most a fifth of it later.
            await time.passes(30, step=5)
            assert running.statuses[-1] == "unknown"
            await running.device(row).tell(said(fix(NOW), connection))
            assert running.statuses[-1] == "online"
            await time.passes(90, step=5)
            assert running.statuses[-1] == "online"
            await running.device(row).tell(Disconnected(connection))
            assert running.statuses[-1] == "offline"
            await time.passes(300, step=50)
            assert running.statuses[-1] == "offline"

    async def test_the_last_update_is_published_at_most_once_a_second(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            await time.settle()
            seen = len(running.statuses)
            for _ in range(10):
                await time.passes(0.25)
                await running.device(row).tell(DeviceSeen("jt808", connection))
            messages = running.neighbours.directory.messages[seen:]
            assert messages == [
                DeviceStatusChanged(DeviceStatus(row.id, "online", NOW + timedelta(seconds=seconds), 0))
                for seconds in (1, 2)
            ]

    async def test_a_protocol_of_requests_is_online_without_a_connection(
        self, make_device, device_harness, time
    ):
        row = await make_device("phone")
        async with device_harness(status_timeout_seconds=100) as running:
            connection, probe = await running.connect(row, protocol="osmand")
            await running.device(row).tell(said(fix(NOW), connection, "osmand"))
            await running.device(row).tell(Disconnected(connection))
            await time.settle()
            assert probe.messages == []  # it is not asked to announce itself
            assert running.statuses == ["online"]
            await time.passes(120, step=5)
            assert running.statuses == ["online", "unknown"]

    async def test_a_silent_device_leaves_memory_and_an_online_one_stays(
        self, database, make_device, device_harness, time
    ):
        one, two = await make_device("1"), await make_device("2")
        async with device_harness(idle_seconds=50) as running:
            connection, _ = await running.connect(one)
            await running.connect(two, 2)
            await time.passes(200, step=10)
            assert sorted(running.system.keys(DEVICE)) == [one.id, two.id]
            await running.device(one).tell(Disconnected(connection))
            await time.passes(200, step=10)
            assert running.system.keys(DEVICE) == [two.id]
            await device_states.save(database, {one.id: NOW})
            assert await running.device(one).ask(GetCommandTypes()) == ("custom",)


@FROM_ANYWHERE
class TestCommands:
    async def test_commands_for_an_offline_device_are_sent_in_order_and_once(
        self, database, make_known_device, device_harness, time
    ):
        row = await make_known_device()
        kinds = ["positionSingle", "engineStop", "engineResume"]
        async with device_harness() as running:
            device = running.device(row)
            queued = [await device.ask(SendCommand(kind)) for kind in kinds]
            assert [outcome.queued.type for outcome in queued] == kinds
            ids = [outcome.queued.id for outcome in queued]
            assert [one.id for one in await commands.queued_for(database, row.id)] == ids
            await running.device(row).stop()  # … and they outlive it
            _, probe = await running.connect(row)
            await time.settle()
            assert [message.command.type for message in probe.messages] == kinds
            assert [message.command.unique_id for message in probe.messages] == [row.unique_id] * 3
            assert await commands.queued_for(database, row.id) == []
            assert [(event.type, event.attributes["id"]) for event in running.events] == [
                ("queuedCommandSent", number) for number in ids
            ]
            _, newer = await running.connect(row, 2)
            await time.settle()
            assert newer.messages == []

    async def test_a_queued_command_is_out_of_its_table_before_its_bytes_go_out(
        self, database, make_known_device, device_harness, time
    ):
        """At most once: whatever happens while it is sent, it is not sent again (docs/decisions/0002)."""
        row = await make_known_device()
        left = []

        class Connection(Actor):
            async def handle(self, message):
                left.append(await commands.queued_for(database, row.id))
                raise RuntimeError("the power went")

        async with device_harness() as running:
            await running.device(row).ask(SendCommand("engineStop"))
            await running.device(row).ask(SendCommand("engineResume"))
            ref = await running.system.start(CONNECTION, 9, Connection)
            await running.device(row).tell(Connected(ref, "jt808", "", "", (row.unique_id,)))
            await time.settle()
            assert [one.type for one in left[0]] == ["engineResume"]
            # The others wait on for the next connection.
            assert [one.type for one in await commands.queued_for(database, row.id)] == ["engineResume"]
            assert [event.type for event in running.events] == ["queuedCommandFailed"]
            _, probe = await running.connect(row, 10)
            await time.settle()
            assert [message.command.type for message in probe.messages] == ["engineResume"]

    async def test_queued_commands_wait_on_through_an_outage(
        self, database, make_known_device, device_harness, outage, time
    ):
        row = await make_known_device()
        async with device_harness() as running:
            await running.device(row).ask(SendCommand("positionSingle"))
            with outage():
                connection, probe = await running.connect(row)
                await time.settle()
                assert probe.messages == []
            await running.device(row).tell(Disconnected(connection))
            await running.connect(row, 2)
            await time.settle()
            assert [message.command.type for message in running.neighbours.connections[2].messages] == [
                "positionSingle"
            ]

    async def test_what_is_refused_says_why(self, database, make_known_device, device_harness):
        row = await make_known_device()
        refusal = {Transmit: EncodingRefused("data is required")}
        async with device_harness() as running:
            device = running.device(row)
            for order in (
                SendCommand("positionSingle", no_queue=True),
                SendCommand("positionSingle", {"noQueue": True}),
            ):
                assert await device.ask(order) == CommandRefused("the device is offline", offline=True)
            connection, _ = await running.connect(row, answers=refusal)
            assert await device.ask(SendCommand("makeCoffee")) == CommandRefused(
                "jt808 devices do not know the command makeCoffee"
            )
            assert await device.ask(SendCommand("custom")) == CommandRefused("data is required")
            await connection.stop()
            outcome = await device.ask(SendCommand("positionSingle"))
            assert isinstance(outcome, CommandRefused)
            assert "has just ended" in outcome.reason
            assert await commands.queued_for(database, row.id) == []

    async def test_a_device_that_never_connected_takes_only_what_it_lists(
        self, database, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness() as running:
            device = running.device(row)
            assert await device.ask(GetCommandTypes()) == ("custom",)
            for kind in ("fooBar", "positionSingle", "videoStart"):
                assert await device.ask(SendCommand(kind)) == CommandRefused(UNKNOWN_PROTOCOL)
            assert isinstance(await device.ask(SendCommand("custom", {"data": "7e"})), CommandQueued)
            assert [each.type for each in await commands.queued_for(database, row.id)] == ["custom"]

    async def test_the_unique_id_is_filled_into_custom_commands_when_they_are_sent(
        self, make_known_device, device_harness, time
    ):
        row = await make_known_device()
        custom = SendCommand("custom", {"data": "{uniqueId}00{uniqueId}", "text": "{uniqueId}"})
        async with device_harness() as running:
            device = running.device(row)
            queued = (await device.ask(custom)).queued
            assert queued.attributes == custom.attributes
            _, probe = await running.connect(row)
            await time.settle()
            await device.ask(custom)
            await device.ask(SendCommand("message", {"data": "{uniqueId}"}))
            filled = {"data": f"{row.unique_id}00{row.unique_id}", "text": "{uniqueId}"}
            sent = [message.command.attributes for message in probe.messages]
            assert sent == [filled, filled, {"data": "{uniqueId}"}]

    async def test_the_unique_id_is_filled_into_what_a_phone_takes_with_its_answer(
        self, make_device, device_harness, time
    ):
        row = await make_device("phone 1")
        async with device_harness() as running:
            await running.device(row).ask(SendCommand("custom", {"data": "hello {uniqueId}"}))
            connection, probe = await running.connect(row, protocol="osmand")
            await running.device(row).tell(said(fix(NOW), connection, "osmand"))
            await time.settle()
            assert probe.messages == [DeliverInResponse("hello phone 1")]

    async def test_a_full_queue_is_an_error_of_the_asker_and_not_of_the_device(
        self, database, make_known_device, device_harness
    ):
        row = await make_known_device()
        await database.execute(
            "insert into queued_commands (device_id, type, attributes)"
            " select $1, 'positionSingle', '{}' from generate_series(1, $2)",
            row.id,
            commands.MAX_QUEUED,
        )
        async with device_harness() as running:
            with pytest.raises(StatementRejected, match="1000 commands wait"):
                await running.device(row).ask(SendCommand("positionSingle"))
            assert "custom" in await running.device(row).ask(GetCommandTypes())

    async def test_the_command_types_are_those_of_the_protocol_it_spoke_last(
        self, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness() as running:
            assert await running.device(row).ask(GetCommandTypes()) == ("custom",)
            await running.connect(row)
            types = await running.device(row).ask(GetCommandTypes())
            assert set(types) == {"custom"} | Jt808.commands
            assert list(types) == sorted(types)

    async def test_a_protocol_of_requests_gets_one_queued_command_with_each_answer(
        self, database, make_device, device_harness, time
    ):
        row = await make_device("phone")
        async with device_harness() as running:
            device = running.device(row)
            for text in ("one", "two"):
                outcome = await device.ask(SendCommand("custom", {"data": text}))
                assert isinstance(outcome, CommandQueued)
            connection, probe = await running.connect(row, protocol="osmand")
            for delivered in (1, 2, 2, 2):
                await device.tell(said(fix(NOW), connection, "osmand"))
                await time.settle()
                assert len(probe.messages) == delivered
            assert probe.messages == [DeliverInResponse("one"), DeliverInResponse("two")]
            assert len(running.positions) == 4
            assert await commands.queued_for(database, row.id) == []

    async def test_a_video_start_announces_the_media_connection_and_holds_the_stream(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness(host="") as running:
            _, probe = await running.connect(row)
            device = running.device(row)
            messages = running.neighbours.media_requests.messages
            assert await device.ask(SendCommand("videoStart", {"channel": 3})) == CommandSent()
            assert messages == [MediaRequested(row.id, row.unique_id, {"channel": 3}, "live", "192.0.2.7")]
            # No public host is set: the device is sent to where it reached us.
            assert probe.messages[-1].command.media == MediaAddress("198.51.100.1", 5263, 5363, 5015)
            assert running.streams[(row.id, 3)].messages == [HoldStream()]
            await device.ask(SendCommand("videoStop", {"index": 3}))
            assert running.streams[(row.id, 3)].messages == [HoldStream(), ReleaseStream()]
            await device.ask(SendCommand("videoStart", {"channel": 4}, by_reader=True))
            assert (row.id, 4) not in running.streams
            await device.ask(SendCommand("videoPlayback", {"channel": 1}))
            assert [one.kind for one in messages] == ["live", "live", "playback"]
            assert (row.id, 1) not in running.streams

    async def test_talk_is_announced_as_such_and_begun_by_its_socket_alone(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        attributes = {"channel": 3, "dataType": 2}
        async with device_harness() as running:
            await running.connect(row)
            device = running.device(row)
            refused = await device.ask(SendCommand("videoStart", attributes))
            assert isinstance(refused, CommandRefused)
            assert "/talk" in refused.reason
            assert await device.ask(SendCommand("videoStart", attributes, by_reader=True)) == CommandSent()
            assert [one.kind for one in running.neighbours.media_requests.messages] == ["talk"]
            assert running.streams == {}

    async def test_the_coding_of_its_sound_is_asked_once_for_a_connection(
        self, make_known_device, device_harness, time
    ):
        row = await make_known_device()
        async with device_harness() as running:
            device = running.device(row)
            assert await device.ask(GetSoundFormat()) == CommandRefused("the device is offline", offline=True)
            connection, probe = await running.connect(row)
            told = []
            async with trio.open_nursery() as nursery:

                async def ask():
                    told.append(await device.ask(GetSoundFormat()))

                nursery.start_soon(ask)
                await time.settle()
                assert [sent.command.type for sent in probe.messages] == ["soundFormat"]
                await device.tell(Reported(SoundFormat(26, 168), "jt808", connection))
            assert told == [SoundFormat(26, 168)]
            assert await device.ask(GetSoundFormat()) == SoundFormat(26, 168)
            assert len(probe.messages) == 1
            connection, probe = await running.connect(row)
            told.clear()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask)
                await time.passes(4)
            assert told == [None]
            assert len(probe.messages) == 1

    async def test_a_refused_video_start_holds_no_stream(self, make_device, device_harness):
        row = await make_device()
        async with device_harness() as running:
            await running.connect(row, answers={Transmit: EncodingRefused("no such channel")})
            outcome = await running.device(row).ask(SendCommand("videoStart", {"channel": 9}))
            assert outcome == CommandRefused("no such channel")
            assert running.streams == {}

    async def test_a_video_start_from_the_queue_holds_its_stream_as_well(
        self, make_known_device, device_harness, time, database
    ):
        row = await make_known_device()
        sender = await users.TABLE.insert(database, User(email="a@example.com", administrator=True))
        async with device_harness() as running:
            device = running.device(row)
            queued = [
                SendCommand("videoStart", {"channel": 3}),
                SendCommand(
                    "videoPlayback", {"channel": 4, "startTime": "2026-06-15T10:00:00Z"}, user_id=sender.id
                ),
                SendCommand("videoPlaybackControl", {"channel": 4, "control": "pause"}),
            ]
            for command in queued:
                assert isinstance(await device.ask(command), CommandQueued)
            assert running.streams == running.playbacks == {}
            await running.connect(row)
            await time.settle()
            assert running.streams[(row.id, 3)].messages == [HoldStream()]
            messages = running.playbacks[(row.id, 4)].messages
            assert messages == [
                PlaybackRequested(datetime(2026, 6, 15, 10, tzinfo=UTC), None, sender.id),
                PlaybackCommandCompleted(sent=True),
                PlaybackControlSent(1),
            ]

    async def test_a_video_stop_that_must_wait_lets_go_of_the_stream_at_once(
        self, make_known_device, device_harness, time
    ):
        row = await make_known_device()
        async with device_harness() as running:
            device = running.device(row)
            assert isinstance(await device.ask(SendCommand("videoStop", {"channel": 3})), CommandQueued)
            assert running.streams[(row.id, 3)].messages == [ReleaseStream()]
            await device.ask(SendCommand("videoStop", {"channel": 5}, no_queue=True))
            assert (row.id, 5) not in running.streams
            _, probe = await running.connect(row)
            await time.settle()
            assert [message.command.type for message in probe.messages] == ["videoStop"]

    async def test_a_queued_video_start_that_is_refused_holds_no_stream(
        self, make_known_device, device_harness, time
    ):
        row = await make_known_device()
        async with device_harness() as running:
            await running.device(row).ask(SendCommand("videoStart", {"channel": 9}))
            await running.connect(row, answers={Transmit: EncodingRefused("no such channel")})
            await time.settle()
            assert running.streams == {}

    @pytest.mark.parametrize(("text", "numbers"), [("0:1,1:2", {0: 1, 1: 2}), ("first", {})])
    async def test_commands_and_media_know_what_the_device_calls_its_channels(
        self, make_device, device_harness, text, numbers
    ):
        row = await make_device(attributes={CHANNEL_MAP_ATTRIBUTE: text})
        async with device_harness() as running:
            _, probe = await running.connect(row)
            assert await running.device(row).ask(SendCommand("videoStart", {"channel": 1})) == CommandSent()
            (announced,) = running.neighbours.media_requests.messages
            assert (
                announced.channels.channel_by_number
                == probe.messages[-1].command.channels.channel_by_number
                == numbers
            )
            # Streams, like all that the API tells, go by our numbers.
            assert running.streams.keys() == {(row.id, 1)}

    async def test_a_playback_is_notified_of_its_commands(self, make_device, device_harness):
        row = await make_device()
        async with device_harness() as running:
            await running.connect(row)
            device = running.device(row)
            start = {"channel": 2, "startTime": "2026-06-15T10:00:00Z"}
            end = {"to": "2026-06-15T12:30:00+02:00"}
            await device.ask(SendCommand("videoPlayback", {**start, **end}, user_id=7))
            messages = running.playbacks[(row.id, 2)].messages
            ten = datetime(2026, 6, 15, 10, tzinfo=UTC)
            assert messages == [
                PlaybackRequested(ten, ten.replace(minute=30), 7),
                PlaybackCommandCompleted(sent=True),
            ]
            for attributes in (
                {"control": "pause"},
                {"control": 3, "speed": "4"},
                {"control": "nonsense"},
                {"control": "seek", "time": "2026-06-15T10:05:00Z"},
            ):
                await device.ask(SendCommand("videoPlaybackControl", {"index": 2, **attributes}))
            sought = PlaybackControlSent(5, time=ten.replace(minute=5))
            assert messages[2:] == [PlaybackControlSent(1), PlaybackControlSent(3, 4), sought]
            # What the playback itself has sent it knows.
            stop = SendCommand("videoPlaybackControl", {"channel": 2, "control": "stop"}, by_reader=True)
            await device.ask(stop)
            await device.ask(SendCommand("videoStop", {"channel": 2}))
            assert len(messages) == 5
            assert running.streams.keys() == {(row.id, 2)}

    async def test_a_playback_is_notified_before_the_command_is_sent_and_of_a_refusal(
        self, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness() as running:
            seen = []

            class TerminalProbe(Probe):
                def handle(self, message):
                    if isinstance(message, Transmit):
                        seen.append(list(running.playbacks[(row.id, 1)].messages))
                    return super().handle(message)

            running.neighbours.connections[1] = TerminalProbe(
                {Transmit: EncodingRefused("startTime is required")}
            )
            running.neighbours.connection = lambda number, answers: running.neighbours.connections[number]
            await running.connect(row)
            outcome = await running.device(row).ask(SendCommand("videoPlayback", {"channel": 1}))
            assert outcome == CommandRefused("startTime is required")
            assert seen == [[PlaybackRequested()]]
            assert running.playbacks[(row.id, 1)].messages[1:] == [PlaybackCommandCompleted(sent=False)]

    async def test_an_answer_is_stored_as_a_position_with_its_event(self, make_device, device_harness):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            for result in (
                CommandResult(1, True, "oil cut", receipt=5),
                CommandResult(1, True),
                CommandResult(1, False),
            ):
                await running.device(row).tell(Reported(result, "jt808", connection))
            await running.device(row).ask(GetCommandTypes())
            appended = running.appended
        assert [each.position.attributes["result"] for each in appended] == ["oil cut", "ok", "failed"]
        assert [each.events[0].type for each in appended] == ["commandResult"] * 3
        assert appended[0].events[0].attributes == {"result": "oil cut"}
        assert (appended[0].receipt, appended[0].connection) == (5, connection)


@FROM_ANYWHERE
class TestMedia:
    async def test_an_upload_is_a_file_before_its_position_is_stored(self, make_device, device_harness, time):
        row = await make_device()
        photo = MediaFile("image", "jpg", b"\xff\xd8", channel=2, position=fix(NOW, 7.0), receipt=9)
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            await running.device(row).tell(Reported(photo, "jt808", connection))
            append = await running.neighbours.writer.receive()
            name = append.position.attributes["image"]
            assert (running.folder / row.unique_id / name).read_bytes() == b"\xff\xd8"
            assert append.position.attributes["channel"] == 2
            assert [(event.type, event.attributes) for event in append.events] == [
                ("media", {"media": "image", "file": name})
            ]
            assert (append.position.latitude, append.receipt, append.connection) == (7.0, 9, connection)

    async def test_an_upload_survives_a_power_failure_before_it_is_acknowledged(
        self, make_device, device_harness, disk_log
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            photo = MediaFile("image", "jpg", b"\xff\xd8", position=fix(NOW, 7.0), receipt=9)
            await running.device(row).tell(Reported(photo, "jt808", connection))
            append = await running.neighbours.writer.receive()
            # The position, whose commit acknowledges the photo, comes after all of it.
            name, folder = append.position.attributes["image"], row.unique_id
            assert disk_log == [
                f"sync {running.folder.name}",
                "sync .part",
                f"rename {name}",
                f"sync {folder}",
            ]

    async def test_an_upload_tells_our_channel(self, make_device, device_harness):
        row = await make_device(attributes={CHANNEL_MAP_ATTRIBUTE: "0:1"})
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            photo = MediaFile("image", "jpg", b"\xff\xd8", channel=0, position=fix(NOW))
            await running.device(row).tell(Reported(photo, "jt808", connection))
            append = await running.neighbours.writer.receive()
            assert append.position.attributes["channel"] == 1

    async def test_an_upload_that_the_disk_does_not_take_is_not_acknowledged(
        self, make_device, device_harness, caplog
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            (running.folder / row.unique_id).write_bytes(b"a file where the folder should be")
            photo = MediaFile("image", "jpg", b"\xff\xd8", receipt=9)
            await running.device(row).tell(Reported(photo, "jt808", connection))
            await running.device(row).ask(GetCommandTypes())
            assert running.appended == []
        assert "cannot write a file of 2 bytes" in caplog.text


class TestFilesOfAlarms:
    LABEL = "aa01"

    def alarm(self, moment=NOW, label=LABEL):
        return fix(moment, 7.0, attributes={"alarm": "general", "alarmLabel": label})

    def offered(self, key="aa", is_ours=False):
        return AlarmFilesAnnounced(("13912345678",), "aa01", key, is_ours=is_ours, files=1)

    async def test_a_device_is_asked_once_for_the_files_of_each_alarm(self, make_device, device_harness):
        row = await make_device()
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            for label in ("aa01", "aa01,bb01", "bb01"):
                await running.device(row).tell(said(self.alarm(label=label), connection))
            await running.device(row).tell(said(fix(NOW), connection))
            await running.device(row).ask(GetCommandTypes())
            asked = [message.command for message in probe.messages if isinstance(message, Transmit)]
            assert [(order.type, order.attributes) for order in asked] == [
                ("alarmFiles", {"label": "aa01"}),
                ("alarmFiles", {"label": "bb01"}),
            ]
            assert asked[0].media == MediaAddress("203.0.113.5", 5263, 5363, 5015)
            assert len(running.appended) == 4

    async def test_what_could_not_be_asked_is_asked_with_the_next_word_of_it(
        self, make_device, device_harness, caplog
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, probe = await running.connect(row, answers={Transmit: EncodingRefused("no address")})
            for _ in range(2):
                await running.device(row).tell(said(self.alarm(), connection))
            await running.device(row).ask(GetCommandTypes())
            assert len([message for message in probe.messages if isinstance(message, Transmit)]) == 2
            assert caplog.text.count("cannot request the files of an alarm: no address") == 2

    async def test_where_uploads_are_disabled_no_files_are_requested_or_accepted(
        self, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness(requests_alarm_files=False) as running:
            connection, probe = await running.connect(row)
            await running.device(row).tell(said(self.alarm(), connection))
            upload = AuthorizeAlarmUpload(self.offered(is_ours=True), connection)
            assert await running.device(row).ask(upload) == ""
            assert not [message for message in probe.messages if isinstance(message, Transmit)]

    async def test_files_of_requested_alarms_are_accepted_even_after_a_restart(
        self, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            other, _ = await running.neighbours.connect(running.system, 9)
            claim = running.device(row).ask
            assert await claim(AuthorizeAlarmUpload(self.offered(), connection)) == ""
            ours = AuthorizeAlarmUpload(self.offered(is_ours=True), other)
            assert await claim(ours) == row.unique_id
            await running.device(row).tell(said(self.alarm(), connection))
            # The label alone, which can be guessed, suffices only where the request was sent.
            assert await claim(AuthorizeAlarmUpload(self.offered(), connection)) == row.unique_id
            assert await claim(AuthorizeAlarmUpload(self.offered(), other)) == ""
            assert await claim(AuthorizeAlarmUpload(self.offered(key="ab"), connection)) == ""
            assert await running.system.ref(DEVICE, row.id + 1).ask(ours) == ""

    async def test_a_kept_file_is_named_by_a_position_where_the_alarm_was_and_by_an_event(
        self, make_device, device_harness
    ):
        row = await make_device()
        async with device_harness() as running:
            main, _ = await running.connect(row)
            other, _ = await running.neighbours.connect(running.system, 2)
            await running.device(row).tell(said(self.alarm(), main))
            await running.device(row).tell(said(fix(NOW + MINUTE, 8.0), main))
            for kind in ("video", "file"):
                ended = FileUploadCompleted("theirs", kind, "bin", 5, receipt=kind.encode())
                await running.device(row).tell(AlarmFileStored("ours", ended, self.offered(), "jt808", other))
            await running.device(row).ask(GetCommandTypes())
            film, text = running.appended[2:]
            assert (film.position.latitude, film.position.fix_time) == (7.0, NOW)
            assert film.position.attributes["video"] == "ours"
            assert film.position.attributes["alarmLabel"] == "aa01"
            assert "alarm" not in film.position.attributes
            assert (film.connection, film.receipt) == (other, b"video")
            (event,) = film.events
            assert (event.type, event.attributes) == ("media", {"media": "video", "file": "ours"})
            assert (text.position.attributes["file"], text.events) == ("ours", ())
            # The device's connection is the one that it was.
            await running.device(row).ask(SendCommand("custom", {"data": "0200"}))
            assert [type(message) for message in running.neighbours.connections[1].messages][-1] is Transmit
            assert not [
                message
                for message in running.neighbours.connections[2].messages
                if isinstance(message, Transmit)
            ]


class TestRecordings:
    async def test_a_list_takes_the_place_of_the_last_one_and_is_acknowledged_once_stored(
        self, make_device, database, device_harness, time
    ):
        row = await make_device()
        found = Recording(3, NOW, NOW + MINUTE, 1 << 40, 0, 1, 2, 5_000)
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            for number, listed in enumerate([(found, found), (found,), ()]):
                received = RecordingList(7, listed, receipt=number)
                await running.device(row).tell(Reported(received, "jt808", connection))
                await time.settle()
                kept, received_at = await recordings.load(database, row.id, Recording)
                assert received_at is not None
                assert [each.size for each in kept] == [5_000] * len(listed)
                assert probe.messages[-1] == AcknowledgeStored((number,))

    async def test_recordings_are_listed_by_our_channels(self, database, make_device, device_harness, time):
        row = await make_device(attributes={CHANNEL_MAP_ATTRIBUTE: "0:1,1:2"})
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            found = [Recording(number, NOW, NOW + MINUTE, 5, 1, 2, 1, 999) for number in (0, 1, 7)]
            listed = RecordingList(None, tuple(found))
            await running.device(row).tell(Reported(listed, "jt808", connection))
            await time.settle()
            kept, _ = await recordings.load(database, row.id, Recording)
            assert [each.channel for each in kept] == [1, 2, 7]
            assert (kept[0].start_time, kept[0].alarm_flag, kept[0].size) == (NOW, 5, 999)

    async def test_a_list_that_cannot_be_stored_is_not_acknowledged(
        self, make_device, device_harness, time, outage, caplog
    ):
        row = await make_device()
        found = Recording(3, NOW, NOW + MINUTE, 0, 0, 1, 2, 5_000)
        async with device_harness() as running:
            connection, probe = await running.connect(row)
            await time.settle()
            with outage():
                message = Reported(RecordingList(7, (found,), receipt=1), "jt808", connection)
                await running.device(row).tell(message)
                await time.settle()
            assert not any(isinstance(message, AcknowledgeStored) for message in probe.messages)
            assert "cannot store a list of 1 recordings" in caplog.text


@FROM_ANYWHERE
class TestCorrections:
    async def test_values_set_by_hand_are_stored_at_the_latest_place_and_counted_on(
        self, make_device, device_harness, time
    ):
        row = await make_device()
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            await running.device(row).tell(said(fix(NOW - MINUTE, attributes={"hours": 5}), connection))
            replies = []
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def set_accumulators():
                    replies.append(await running.device(row).ask(SetAccumulators(1000.0, None)))

                await time.settle()
                # Not before it is stored.
                assert replies == []
                stored = msgspec.structs.replace(running.positions[-1], id=7)
                running.appended[-1].reply.answer(stored)
            assert replies == [stored]
            # 4.5 km further in a minute.
            await running.device(row).tell(said(fix(NOW, latitude=1.04), connection))
            await time.settle()
            first, again, onward = running.positions
            assert again == msgspec.structs.replace(stored, id=0)
            assert again.attributes == {**first.attributes, "totalDistance": 1000.0}
            assert (again.fix_time, again.latitude, again.server_time) == (NOW - MINUTE, 1.0, NOW)
            assert 5400 < onward.attributes["totalDistance"] < 5500

    async def test_without_a_position_there_is_nothing_to_set(self, make_device, device_harness):
        row = await make_device()
        async with device_harness() as running:
            assert await running.device(row).ask(SetAccumulators(1.0, 2.0)) is None
            assert running.appended == []

    async def test_after_a_deletion_the_newest_that_remains_is_counted_on_from(
        self, database, make_device, device_harness, time
    ):
        row = await make_device()
        kept = Position(
            id=5,
            device_id=row.id,
            server_time=NOW - MINUTE,
            device_time=NOW - MINUTE,
            fix_time=NOW - MINUTE,
            latitude=1.0,
            longitude=2.0,
            attributes={"totalDistance": 7000.0},
        )
        await positions.store(database, [position_rows.pack_row(kept)], [5])
        async with device_harness() as running:
            connection, _ = await running.connect(row)
            # A jump to nowhere, which somebody deletes afterwards.
            await running.device(row).tell(said(fix(NOW, latitude=50.0), connection))
            await running.device(row).tell(PositionsDeleted(row.id))
            await time.settle()
            await running.device(row).tell(said(fix(NOW, latitude=1.0), connection))
            await time.settle()
            assert running.positions[-1].attributes["totalDistance"] == 7000.0
