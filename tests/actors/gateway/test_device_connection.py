"""A device's connection: real sockets and codecs, devices that record."""

import socket
import sys
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Probe

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.gateway import connection_devices, device_connection
from motorpool.actors.gateway.deadlines import CHECK_SECONDS
from motorpool.actors.gateway.device_connection import DeviceConnection
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.hub import Hub, HubActor
from motorpool.actors.gateway.identity import IDENTIFICATION, Identification
from motorpool.actors.gateway.recorder import RECORDER, Tap
from motorpool.actors.gateway.settings import DeviceSettings, RegisterSettings
from motorpool.actors.messages.counters import CHECKSUM_ERRORS, MESSAGES_RECEIVED
from motorpool.actors.messages.downlink import (
    CONNECTION,
    AcknowledgeStored,
    Close,
    ConfigureDecoder,
    DeliverInResponse,
    Depart,
    EncodingRefused,
    Reannounce,
    Settled,
    StopServing,
    Transmit,
    Transmitted,
)
from motorpool.actors.messages.topics import DEVICE_TRAFFIC
from motorpool.actors.messages.uplink import (
    DEVICE,
    Connected,
    DeviceSeen,
    Disconnected,
    PositionReported,
    Reported,
    TellStored,
)
from motorpool.bench import traffic_recording
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    RecordingListQuery,
    RegistrationResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.reports import (
    CommandResult,
    DeviceCommand,
    MediaFile,
    PositionReport,
    Recording,
    RecordingList,
)
from motorpool.runtime import Actor, ActorFailed, ActorStopped, ChildSpec, DynamicSpec, TaskSpec
from motorpool.storage.accounts import users
from motorpool.storage.devices import devices
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
PHONE = "13912345678"


class Line:
    """A connection under test and the peer's end of it."""

    def __init__(self, system, ref, device_socket, socket, read, terminal):
        self.system, self.ref, self.device_socket = system, ref, device_socket
        self.socket, self.terminal, self._read = socket, terminal, read

    def answers(self):
        """What the terminal has been told since the last look."""
        return self.terminal.receive(self._read(self.socket) or b"")

    def text(self):
        return self._read(self.socket)


@pytest.fixture
def line(database, tcp, tree, neighbours, read, time):
    """`async with line(codec, …) as peer:` a connection that reads a socket."""

    def opened(
        codec=Jt808,
        *,
        phone=PHONE,
        version=2013,
        tap=False,
        devices_spec=None,
        register_unknown=False,
        hub=None,
        **limits,
    ):
        return _Opened(codec, phone, version, tap, devices_spec, register_unknown, hub, limits)

    class _Opened:
        def __init__(self, *arguments):
            self.arguments = arguments

        async def __aenter__(self):
            codec, phone, version, tap, devices_spec, register_unknown, hub, limits = self.arguments
            self.recorder = Probe()
            recorder = ChildSpec(kind=RECORDER, factory=lambda: self.recorder)
            self.running = tree(
                recorder,
                neighbours.directory_spec,
                devices_spec or neighbours.devices_spec,
                ChildSpec(
                    kind=IDENTIFICATION,
                    factory=lambda: Identification(database, RegisterSettings(unknown=register_unknown)),
                ),
                *((TaskSpec(name="hub", factory=lambda: HubActor(hub)),) if hub is not None else ()),
                neighbours.checked_connections_spec,
            )
            system = await self.running.__aenter__()
            ours, theirs = tcp
            device_socket = DeviceSocket(ours, hub=hub, peer="127.0.0.1")

            def make():
                return DeviceConnection(
                    device_socket,
                    codec_type=codec,
                    database=database,
                    rule_cache=RuleCache(database),
                    settings=DeviceSettings(**limits),
                    tap=Tap(system.ref(RECORDER), 1, codec.name, device_socket.peer) if tap else None,
                )

            ref = await system.start(CONNECTION, 1, make)
            found = Line(system, ref, device_socket, theirs, read, Terminal(phone, version))
            found.recorder = self.recorder
            return found

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return opened


def location(terminal, seconds=0):
    return terminal.location(encode_location(1, 2, NOW + timedelta(seconds=seconds)))


def small(*sockets):
    """Let the kernel hold little for either side."""
    for each in sockets:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


async def send_until_stuck(peer, time):
    """Send positions until the socket takes no more although the server had time; how many went out whole."""
    for sent in range(200_000):
        frame = location(peer.terminal, sent)
        waited = False
        while frame:
            try:
                frame = frame[peer.socket.send(frame) :]
            except BlockingIOError:
                if waited:
                    return sent
                waited = True
                await time.settle()
    raise AssertionError("the server reads and reads")


def kinds(probe):
    return [type(message) for message in probe.messages]


class TestIdentity:
    @pytest.mark.parametrize("version", [2013, 2019])
    async def test_a_known_device_signs_in_and_its_reports_reach_its_actor(
        self, make_device, line, neighbours, time, version
    ):
        row = await make_device()
        async with line(version=version) as peer:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            (answer,) = peer.answers()
            assert isinstance(answer, RegistrationResponse)
            assert (answer.result, answer.answered_serial) == (0, 0)
            peer.terminal.code = answer.code
            peer.socket.send(peer.terminal.authenticate() + location(peer.terminal))
            await time.settle()
            (accepted,) = peer.answers()  # the position waits until it is stored
            assert (accepted.answered_id, accepted.result) == (0x0102, 0)
            probe = neighbours.devices[row.id]
            identities = probe.messages[0].unique_ids
            registration = probe.messages[0].registration
            assert registration["manufacturer"] == "MTRPL"
            assert probe.messages[0] == Connected(
                peer.ref,
                "jt808",
                "127.0.0.1",
                "127.0.0.1",
                identities,
                registration=registration,
                wants_code=True,
            )
            assert row.unique_id in identities
            assert kinds(probe) == [Connected, PositionReported]
            reported = probe.messages[1]
            assert (reported.protocol, reported.connection) == ("jt808", peer.ref)
            await peer.ref.tell(AcknowledgeStored((reported.report.receipt,)))
            (stored,) = peer.answers()
            assert (stored.answered_id, stored.answered_serial, stored.result) == (0x0200, 2, 0)

    async def test_an_unknown_device_is_refused_and_closed_after_a_few(self, line, neighbours, time):
        async with line() as peer:
            for _ in range(2):
                peer.socket.send(peer.terminal.register())
                await time.settle()
                (answer,) = peer.answers()
                assert answer.result == 4  # no such terminal
            peer.socket.send(location(peer.terminal))
            await time.settle()
            assert peer.answers()[0].result == 1
            assert peer.device_socket.reason == "not a known device"
            assert not peer.ref.alive
            assert neighbours.devices == {}

    async def test_an_identity_that_cannot_be_stored_is_unknown(self, line, time):
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=a%00b&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\n\r\n")
            await time.settle()
            assert peer.text().startswith(b"HTTP/1.1 400")
            assert peer.ref.alive

    @pytest.mark.parametrize("edit", [{"disabled": True}, {"expiration_time": NOW}])
    async def test_a_disabled_or_expired_device_is_refused(self, make_device, line, neighbours, time, edit):
        await make_device(**edit)
        async with line() as peer:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            assert peer.answers()[0].result == 4
            assert neighbours.devices == {}

    async def test_a_device_that_becomes_known_is_served_on_the_same_connection(
        self, make_device, line, neighbours, time
    ):
        async with line() as peer:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            row = await make_device()
            for _ in range(2):  # what it was refused before is forgotten
                peer.socket.send(peer.terminal.register())
                await time.settle()
            assert [answer.result for answer in peer.answers()] == [4, 0, 0]
            assert kinds(neighbours.devices[row.id]) == [Connected]

    async def test_an_unknown_device_is_registered_where_that_is_switched_on(
        self, database, line, neighbours, time
    ):
        await users.TABLE.insert(database, User(name="a", email="a@example.org", administrator=True))
        async with line(register_unknown=True) as peer:
            peer.socket.send(location(peer.terminal))
            await time.settle()
            ((device_id, probe),) = neighbours.devices.items()
            assert kinds(probe) == [Connected, PositionReported]
        row = await database.fetch_row("select unique_id, name from devices where id = $1", device_id)
        assert tuple(row.values()) == (PHONE, PHONE)

    async def test_another_number_on_the_same_connection_is_another_device(
        self, make_device, line, neighbours, time
    ):
        one, two = await make_device("13900000001"), await make_device("13900000002")
        async with line(phone="13900000001") as peer:
            second = Terminal("13900000002")
            peer.socket.send(location(peer.terminal) + location(second) + location(second))
            await time.settle()
            assert kinds(neighbours.devices[one.id]) == [Connected, PositionReported]
            assert kinds(neighbours.devices[two.id]) == [Connected, PositionReported, PositionReported]
            # Each acknowledgement goes to the number whose message it answers.
            receipts = [
                told.report.receipt
                for probe in neighbours.devices.values()
                for told in probe.messages
                if isinstance(told, PositionReported)
            ]
            await peer.ref.tell(AcknowledgeStored(tuple(receipts)))
            answers = peer.text()
            assert len(answers.split(b"~~")) == 3
            assert peer.terminal.receive(answers[: answers.index(b"~~") + 1])[0].answered_id == 0x0200

    async def test_devices_that_report_in_turn_stay_connected_until_the_connection_ends(
        self, make_device, line, neighbours, time
    ):
        one, two = await make_device("13900000001"), await make_device("13900000002")
        noon = datetime(2026, 6, 15, 12, tzinfo=timezone(timedelta(hours=8)))
        async with line(phone="13900000001") as peer:
            second = Terminal("13900000002")
            for _ in range(3):
                for terminal in (peer.terminal, second):
                    peer.socket.send(terminal.location(encode_location(1, 2, noon)))
                    await time.settle()
                # The first device lives in Tokyo; the zone of the second is that of the protocol.
                await peer.ref.tell(ConfigureDecoder("Asia/Tokyo", device_id=one.id))
            await peer.ref.tell(Reannounce())
            await peer.ref.tell(Transmit(DeviceCommand("engineStop", {}, "13900000001")))
            assert peer.text()[5:11].hex() == "013900000001"
            await peer.ref.tell(Close("enough"))
            await time.settle()
            reports = [Connected, PositionReported, PositionReported, PositionReported]
            for row, hours in ((one, [4, 3, 3]), (two, [4, 4, 4])):
                probe = neighbours.devices[row.id]
                assert kinds(probe) == [*reports, Connected, Disconnected]
                found = [each for each in probe.messages if isinstance(each, PositionReported)]
                assert [each.report.device_time.hour for each in found] == hours

    async def test_a_connection_has_only_so_many_devices(
        self, make_device, line, neighbours, time, monkeypatch
    ):
        monkeypatch.setattr(connection_devices, "MAX_OTHERS", 1)
        rows = [await make_device(f"1390000000{number}") for number in range(3)]
        async with line(phone="13900000000") as peer:
            for number in range(3):
                peer.socket.send(location(Terminal(f"1390000000{number}")))
            await time.settle()
            last = [kinds(neighbours.devices[row.id])[-1] for row in rows]
            assert last == [Disconnected, PositionReported, PositionReported]

    async def test_the_same_login_again_is_answered_and_not_told(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            for _ in range(3):
                peer.socket.send(peer.terminal.register())
            await time.settle()
            assert [answer.result for answer in peer.answers()] == [0, 0, 0]
            assert kinds(neighbours.devices[row.id]) == [Connected]

    async def test_a_login_during_an_outage_ends_the_connection(self, make_device, line, outage, time):
        await make_device()
        async with line() as peer:
            with outage():
                peer.socket.send(peer.terminal.register())
                await time.settle()
            assert peer.device_socket.reason.startswith("cannot be looked up now")
            assert peer.text() is None

    async def test_a_request_during_an_outage_is_answered_with_503(self, make_device, line, outage, time):
        await make_device("7")
        async with line(OsmAnd) as peer:
            with outage():
                peer.socket.send(b"GET /?id=7&lat=1&lon=2 HTTP/1.1\r\nHost: x\r\n\r\n")
                await time.settle()
            answer = peer.text()
            assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert b"\r\nretry-after: 5\r\n" in answer
            assert peer.device_socket.reason.startswith("cannot be looked up now")

    async def test_a_request_that_is_not_stored_in_time_is_answered_with_503_and_the_next_is_served(
        self, make_device, line, neighbours, time
    ):
        row = await make_device("7")
        async with line(OsmAnd) as peer:
            request = b"GET /?id=7&lat=1&lon=2 HTTP/1.1\r\nHost: x\r\n\r\n"
            peer.socket.send(request)
            # Its device does not get it stored.
            await time.passes(2 * CHECK_SECONDS, step=1)
            assert peer.text().startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            peer.socket.send(request)
            await time.settle()
            stored = neighbours.devices[row.id].messages[-1]
            await peer.ref.ask(AcknowledgeStored((stored.report.receipt,)))
            assert peer.text().startswith(b"HTTP/1.1 200 OK\r\n")

    async def test_a_device_that_signs_off_is_told_and_answered(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.register() + peer.terminal.unregister())
            await time.settle()
            assert [answer.result for answer in peer.answers()] == [0, 0]
            assert kinds(neighbours.devices[row.id]) == [Connected, DeviceSeen, Disconnected]


class TestUpwards:
    async def test_a_heartbeat_is_answered_at_once(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            (answer,) = peer.answers()
            assert (answer.answered_id, answer.result) == (0x0002, 0)
            assert neighbours.devices[row.id].messages[-1] == DeviceSeen("jt808", peer.ref)

    async def test_each_message_counts_once_whoever_waits_for_it(self, make_device, line, time):
        await make_device()
        async with line() as peer:
            before = MESSAGES_RECEIVED.value
            # Alone, in one piece with others, and broken.
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            assert MESSAGES_RECEIVED.value - before == 1
            peer.socket.send(location(peer.terminal) + location(peer.terminal, 1))
            await time.settle()
            assert MESSAGES_RECEIVED.value - before == 3
            peer.socket.send(location(peer.terminal, 2) + peer.terminal.heartbeat() + b"~nothing~")
            await time.settle()
            assert MESSAGES_RECEIVED.value - before == 5

    async def test_answers_files_and_information_reach_the_device(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            peer.answers()
            await peer.ref.ask(Transmit(DeviceCommand("positionSingle", unique_id=PHONE)))
            (asked,) = peer.answers()
            body = encode_location(1, 2, NOW)
            peer.socket.send(peer.terminal.position_response(asked, body))
            peer.socket.send(peer.terminal.general_response(asked, 1))
            peer.socket.send(peer.terminal.photo(5, b"\xff\xd8\xff\xd9", body))
            peer.socket.send(peer.terminal.passengers(NOW - timedelta(minutes=5), NOW, 3, 1))
            await time.settle()
            told = neighbours.devices[row.id].messages[1:]
            assert {type(each) for each in told} == {DeviceSeen, PositionReported, Reported}
            others = [each.report for each in told if isinstance(each, Reported)]
            assert {type(report) for report in others} == {CommandResult, MediaFile}
            assert [each.content for each in others if isinstance(each, MediaFile)] == [b"\xff\xd8\xff\xd9"]
            passengers = told[-1].report
            assert (passengers.located, passengers.receipt is not None) == (False, True)

    async def test_the_answer_to_our_own_query_is_told_to_the_device_which_acknowledges_it(
        self, make_device, line, neighbours, time
    ):
        row = await make_device(PHONE)
        found = Recording(3, NOW, NOW + timedelta(minutes=5), 0, 0, 1, 1, 1_234)
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            # What nobody asked for.
            peer.socket.send(peer.terminal.recordings(77, [found]))
            await time.settle()
            probe = neighbours.devices[row.id]
            assert not any(isinstance(told, Reported) for told in probe.messages)
            await peer.ref.ask(Transmit(DeviceCommand(type="videoPlaybackList", unique_id=PHONE)))
            asked = [each for each in peer.answers() if isinstance(each, RecordingListQuery)]
            peer.socket.send(peer.terminal.recordings(asked[0].serial, [found]))
            await time.settle()
            (listed,) = [told for told in probe.messages if isinstance(told, Reported)]
            assert isinstance(listed.report, RecordingList)
            assert listed.report.recordings == (found,)
            assert listed.connection == peer.ref
            assert peer.answers() == []
            await peer.ref.tell(AcknowledgeStored((listed.report.receipt,)))
            await time.settle()
            assert [type(each) for each in peer.answers()] == [GeneralResponse]

    async def test_a_busy_device_leaves_the_socket_unread(self, make_device, line, time, tcp):
        """Back-pressure: device's mailbox, then connection, then the kernel's buffers, then the terminal."""
        await make_device()
        free, handled = trio.Event(), []

        class Busy(Actor):
            async def handle(self, message):
                await free.wait()
                handled.append(message)

        small(*tcp)
        busy = DynamicSpec(kind=DEVICE, name="devices", factory=lambda key: Busy(), mailbox_size=10)
        async with line(devices_spec=busy) as peer:
            sent = await send_until_stuck(peer, time)
            assert handled == []
            free.set()
            await time.settle()
            assert len(handled) >= sent
            times = [each.report.device_time for each in handled[1:]]
            assert times == sorted(times)

    async def test_what_the_peer_sends_is_recorded(self, make_device, line, time):
        await make_device()
        async with line(tap=True) as peer:
            frame = peer.terminal.heartbeat()
            peer.socket.send(frame)
            await time.settle()
            await peer.ref.stop()
            await time.settle()
            packed = b"".join(chunk.packed for chunk in peer.recorder.messages)
        begun, received, ended = traffic_recording.TrafficRecordingReader().receive(packed)
        assert begun == traffic_recording.Opened(1, "jt808", begun.seconds, "127.0.0.1")
        assert received.content == frame
        assert ended == traffic_recording.Closed(1, ended.seconds)


class TestTolerance:
    @pytest.mark.parametrize("keeps", [False, True])
    async def test_an_unknown_message_is_kept_where_the_setting_asks_for_it(
        self, make_device, line, neighbours, time, keeps
    ):
        row = await make_device("8612345678")
        unknown = b"*HQ,8612345678,XYZ,1,2#"
        async with line(CODECS["h02"], keep_unknown_messages=keeps) as peer:
            peer.socket.send(unknown)
            await time.settle()
            found = neighbours.devices[row.id].messages[1:]
            if keeps:
                (reported,) = found
                assert reported.report == PositionReport({"raw": unknown.hex(), "type": "XYZ"}, located=False)
            else:
                assert found == [DeviceSeen("h02", peer.ref)]
            assert peer.ref.alive

    async def test_only_the_first_bytes_of_an_unknown_message_are_kept(
        self, make_device, line, neighbours, time
    ):
        row = await make_device("8612345678")
        async with line(CODECS["h02"], keep_unknown_messages=True) as peer:
            peer.socket.send(b"*HQ,8612345678,XYZ,%b#" % (b"1" * 3000))
            await time.settle()
            (reported,) = neighbours.devices[row.id].messages[1:]
            assert len(bytes.fromhex(reported.report.attributes["raw"])) == 1024

    @pytest.mark.parametrize("strict", [False, True])
    async def test_a_wrong_check_value_is_counted_or_drops_the_frame(
        self, make_device, line, neighbours, time, strict
    ):
        row = await make_device("353358017784062")
        record = (
            b"$$F160,353358017784062,AAA,35,22.573100,113.921300,240305142231,A,9,24,47,92,0.9,35,18446,38250,"
            b"460|0|287D|1FB8,0421,0008|0000|0000|019E|04E2,00000001,,3,,,12,34*%b\r\n"
        )
        counted = CHECKSUM_ERRORS.labels("meitrack")
        before = counted._value.get()
        async with line(CODECS["meitrack"], strict_checksums=strict) as peer:
            peer.socket.send(record % b"EC" + record % b"00")
            await time.settle()
            found = [each for each in neighbours.devices[row.id].messages if type(each) is PositionReported]
            assert len(found) == 2 - strict
            assert peer.ref.alive
            await peer.ref.tell(Close("enough"))
            await time.settle()
        assert counted._value.get() - before == 1 - strict


class TestDownwards:
    async def test_a_command_goes_out_and_a_refused_one_says_why(self, make_device, line, time):
        await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            peer.answers()
            outcome = await peer.ref.ask(Transmit(DeviceCommand("positionSingle", unique_id=PHONE)))
            (asked,) = peer.answers()
            assert asked.message_id == 0x8201
            assert isinstance(outcome, Transmitted)
            refused = await peer.ref.ask(Transmit(DeviceCommand("makeCoffee", unique_id=PHONE)))
            assert isinstance(refused, EncodingRefused)
            assert "makeCoffee" in refused.reason
            assert peer.answers() == []

    async def test_a_time_zone_changes_how_times_are_read_and_a_wrong_one_does_not(
        self, make_device, line, neighbours, time, caplog
    ):
        row = await make_device()
        noon_of_the_device = datetime(2026, 6, 15, 12, tzinfo=timezone(timedelta(hours=8)))
        frames = Terminal(PHONE)
        async with line() as peer:
            for zone in ("", "Asia/Tokyo", "Mars/Olympus", "../../etc/passwd", ""):
                await peer.ref.tell(ConfigureDecoder(zone))
                peer.socket.send(frames.location(encode_location(1, 2, noon_of_the_device)))
                await time.settle()
            told = [
                each for each in neighbours.devices[row.id].messages if isinstance(each, PositionReported)
            ]
            assert [each.report.device_time.hour for each in told] == [4, 3, 3, 3, 4]
        assert caplog.text.count("is not a time zone") == 2

    async def test_it_introduces_itself_when_asked_and_only_as_somebody(
        self, make_device, line, neighbours, time
    ):
        row = await make_device()
        async with line() as peer:
            await peer.ref.tell(Reannounce())
            assert neighbours.devices == {}
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            await peer.ref.tell(Reannounce())
            assert kinds(neighbours.devices[row.id]) == [Connected, DeviceSeen, Connected]

    async def test_a_queued_text_goes_out_with_the_next_answer(self, make_device, line, neighbours, time):
        row = await make_device("phone")
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=phone&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\n\r\n")
            await time.settle()
            assert peer.text() == b""
            await peer.ref.tell(DeliverInResponse("hello"))
            receipt = neighbours.devices[row.id].messages[-1].report.receipt
            await peer.ref.tell(AcknowledgeStored((receipt,)))
            answer = peer.text()
            assert answer.startswith(b"HTTP/1.1 200")
            assert answer.endswith(b"\r\n\r\nhello")
            assert peer.ref.alive

    async def test_a_codec_that_has_given_its_last_answer_closes(self, make_device, line, neighbours, time):
        row = await make_device("phone")
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=phone&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            await time.settle()
            assert peer.ref.alive
            receipt = neighbours.devices[row.id].messages[-1].report.receipt
            await peer.ref.tell(AcknowledgeStored((receipt,)))
            await time.settle()
            assert peer.text().startswith(b"HTTP/1.1 200")
            assert peer.text() is None
            assert peer.device_socket.reason == "the device asked to close after the answer"
            assert kinds(neighbours.devices[row.id])[-1] is Disconnected

    async def test_a_refusal_that_is_the_last_answer_closes(self, line, time):
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=nobody&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            await time.settle()
            assert peer.text().startswith(b"HTTP/1.1 400")
            assert peer.device_socket.reason == "refused"


class TestStopServing:
    async def test_a_terminal_is_closed_at_once(self, make_device, line, neighbours, time):
        await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            await peer.ref.tell(StopServing("disabled"))
            assert peer.device_socket.reason == "disabled"
            await time.settle()
            assert not peer.ref.alive

    async def test_requests_are_answered_and_later_ones_are_identified_anew(
        self, database, make_device, line, neighbours, time
    ):
        row = await make_device("phone")
        request = b"GET /?id=phone&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\n\r\n"
        async with line(OsmAnd) as peer:
            peer.socket.send(request)
            await time.settle()
            receipt = neighbours.devices[row.id].messages[-1].report.receipt
            await devices.TABLE.update(database, msgspec.structs.replace(row, disabled=True))
            await peer.ref.tell(StopServing("disabled"))
            await peer.ref.tell(AcknowledgeStored((receipt,)))
            assert peer.text().startswith(b"HTTP/1.1 200")
            peer.socket.send(request)
            await time.settle()
            assert peer.text().startswith(b"HTTP/1.1 400")
            assert kinds(neighbours.devices[row.id]) == [Connected, PositionReported]
            await time.passes(0.6)
            assert peer.device_socket.reason == "disabled"
            assert peer.text() is None

    async def test_the_message_that_the_device_refuses_is_answered(self, make_device, line, neighbours, time):
        row = await make_device("phone")
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=phone&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\n\r\n")
            await time.settle()
            receipt = neighbours.devices[row.id].messages[-1].report.receipt
            await peer.ref.tell(StopServing("deleted", receipt))
            assert peer.text().startswith(b"HTTP/1.1 400")


class TestEnd:
    async def test_a_stream_that_cannot_go_on_is_closed(self, make_device, line, neighbours, time):
        row = await make_device("phone")
        async with line(OsmAnd) as peer:
            peer.socket.send(b"GET /?id=phone&lat=1&lon=2 HTTP/1.1\r\nHost: a\r\n\r\n" * 40)
            await time.settle()
            assert peer.device_socket.reason.startswith("cannot be decoded: more than 16 requests")
            assert peer.text() is None
            assert not peer.ref.alive
            assert row.id not in neighbours.devices

    async def test_noise_is_closed_but_not_where_a_good_frame_is_between(
        self, make_device, line, time, caplog
    ):
        await make_device()
        async with line() as peer:
            good = peer.terminal.heartbeat()
            bad = good[:-2] + bytes((good[-2] ^ 1,)) + good[-1:]
            for _ in range(3):
                peer.socket.send(bad * 99 + peer.terminal.heartbeat())
                await time.settle()
                assert len(peer.answers()) == 1
            peer.socket.send(bad * 99)
            await time.settle()
            assert peer.ref.alive
            peer.socket.send(bad)
            await time.settle()
            assert peer.device_socket.reason == "too many invalid frames in a row"
        # A flood of bad frames is no flood of log lines.
        assert sum("dropped bytes" in record.getMessage() for record in caplog.records) <= 4

    async def test_who_does_not_say_who_he_is_is_closed_in_time(self, line, time):
        async with line(login_seconds=30) as peer:
            await time.passes(29, step=5)
            assert peer.ref.alive
            peer.socket.send(b"~\x02\x00\x00\x28")
            await time.passes(11, step=5)
            assert peer.device_socket.reason == "did not identify itself in time"
            assert peer.text() is None

    async def test_who_says_nothing_whole_for_too_long_is_closed(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line(idle_seconds=100) as peer:
            peer.socket.send(peer.terminal.heartbeat())
            for _ in range(3):
                await time.passes(80, step=10)
                peer.socket.send(peer.terminal.heartbeat())
            await time.passes(80, step=10)
            assert peer.ref.alive
            peer.socket.send(b"~\x02")
            await time.passes(40, step=10)
            assert peer.device_socket.reason == "sent no complete message for too long"
            assert kinds(neighbours.devices[row.id])[-1] is Disconnected

    async def test_who_leaves_answers_unread_is_closed_after_a_minute(self, make_device, line, time, tcp):
        await make_device()
        small(*tcp)
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            while not peer.device_socket.backlog:
                peer.device_socket.send(bytes(60_000))
                await time.settle()
            await time.passes(60, step=10)
            assert peer.ref.alive
            await time.passes(20, step=10)
            assert peer.device_socket.reason == "does not read what it is sent"

    async def test_told_to_close_it_ends_and_takes_nothing_more(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            await peer.ref.tell(Close("because"))
            await time.settle()
            assert peer.device_socket.reason == "because"
            assert neighbours.devices[row.id].messages[-1] == Disconnected(peer.ref)
            with pytest.raises((ActorStopped, ActorFailed)):
                await peer.ref.ask(Transmit(DeviceCommand("positionSingle")))

    async def test_the_servers_stop_closes_the_socket(self, make_device, line, neighbours, time):
        row = await make_device()
        async with line() as peer:
            peer.socket.send(peer.terminal.heartbeat())
            await time.settle()
            assert isinstance(peer.answers()[0], GeneralResponse)
        assert peer.device_socket.reason == "the server stops"
        assert peer.text() is None
        assert msgspec.structs.astuple(neighbours.devices[row.id].messages[-1]) == (peer.ref,)


async def test_incomplete_messages_are_counted_for_the_port_and_given_back(line, time):
    async with line(OsmAnd) as peer:
        budget = peer.device_socket.guard.memory
        peer.socket.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + bytes(50_000))
        await time.settle()
        assert budget.held >= 50_000
        assert budget.take("203.0.113.7", (1 << 40) - budget.held)
        peer.socket.send(b"x")
        await time.settle()
        assert peer.device_socket.reason == "incomplete messages hold too much memory"
        assert budget.held < 1 << 40
        assert budget.take("203.0.113.7", -budget.held)
        assert budget.held == 0


class TestTraffic:
    def follow(self, peer):
        """Have its traffic published; what has been so far."""
        topic = peer.system.topic(DEVICE_TRAFFIC)
        peer.device_socket.guard.traffic.topic = topic
        return topic.subscribe(10)

    async def test_what_a_device_sends_is_published_with_its_id_also_what_came_before_its_login(
        self, make_device, line, time
    ):
        row = await make_device()
        async with line() as peer, self.follow(peer) as following:
            first, second = peer.terminal.register(), location(peer.terminal)
            peer.socket.send(first)
            await time.settle()
            peer.socket.send(second)
            await time.settle()
            published = [each for each in await following.receive_batch() if not each.sent]
        assert [(each.data, each.device_id, each.protocol) for each in published] == [
            (first, row.id, "jt808"),
            (second, row.id, "jt808"),
        ]
        assert {each.unique_id for each in published} == {PHONE.zfill(12)}

    async def test_what_is_sent_to_a_known_device_is_published_too(self, make_device, line, time):
        row = await make_device()
        async with line() as peer, self.follow(peer) as following:
            peer.socket.send(peer.terminal.register())
            await time.settle()
            answer = peer.socket.recv(1000)
            sent = [each for each in await following.receive_batch() if each.sent]
        assert [(each.data, each.device_id, each.protocol) for each in sent] == [(answer, row.id, "jt808")]

    async def test_unknown_devices_and_those_who_say_nothing_of_themselves_have_id_0(self, line, time):
        async with line() as peer, self.follow(peer) as following:
            sent = peer.terminal.register()
            peer.socket.send(sent)
            await time.settle()
            peer.socket.send(b"GET / HT")
            peer.socket.send(b"x" * 5_000)
            await time.settle()
            peer.socket.close()
            await time.settle()
            unknown, *dropped, silent = await following.receive_batch()
            assert (unknown.data, unknown.device_id, unknown.unique_id) == (sent, 0, PHONE.zfill(12))
            assert unknown.problem == "not known, disabled or expired"
            assert all(each.problem and not each.unique_id for each in dropped)
            assert silent.problem == peer.device_socket.reason != ""
            assert (silent.data, silent.device_id, silent.unique_id) == (
                b"GET / HT" + b"x" * 2_040,
                0,
                "",
            )

    async def test_a_dropped_frame_is_published_with_its_reason_before_and_after_the_login(
        self, make_device, line, time
    ):
        row = await make_device()
        async with line() as peer, self.follow(peer) as following:
            frame = bytearray(peer.terminal.heartbeat())
            frame[-2] ^= 1
            peer.socket.send(bytes(frame))
            await time.settle()
            peer.socket.send(peer.terminal.register())
            await time.settle()
            # Of several in a row the first.
            peer.socket.send(bytes(frame) * 3)
            await time.settle()
            published = [each for each in await following.receive_batch() if not each.sent]
        dropped = [each for each in published if each.problem]
        assert [(each.device_id, each.unique_id) for each in dropped] == [(0, ""), (row.id, PHONE.zfill(12))]
        assert {each.problem for each in dropped} == {"the check byte is wrong"}
        assert all(each.data in bytes(frame) for each in dropped)
        assert len(published) == 4

    async def test_without_followers_nothing_is_kept(self, make_device, line, time):
        await make_device()
        async with line() as peer:
            traffic = peer.device_socket.guard.traffic
            traffic.topic = peer.system.topic(DEVICE_TRAFFIC)
            peer.socket.send(peer.terminal.register())
            await time.settle()
            assert traffic.topic.statistics().published == 0
            assert not traffic._held


async def test_refused_frames_of_a_peer_fill_no_log(line, time, caplog, make_device):
    await make_device()
    caplog.set_level("INFO")
    async with line() as peer:
        for number in range(40):
            # Each valid message begins a new run of broken ones.
            peer.socket.send(peer.terminal.register() + b"~broken%d~" % number)
            await time.settle()
        dropped = [record for record in caplog.records if "dropped bytes" in record.getMessage()]
        assert len(dropped) == 10


async def test_logins_of_one_connection_and_refused_files_fill_no_log(line, time, caplog, make_device):
    await make_device()
    caplog.set_level("INFO")
    async with line() as peer:
        for _ in range(40):
            peer.terminal.code = "x"
            peer.socket.send(peer.terminal.authenticate())
            peer.socket.send(peer.terminal.message(0x1211, b"\x01a\x00\x00\x00\x00\x01"))
            peer.socket.send(peer.terminal.unregister())
            await time.settle()
            peer.answers()
        texts = [record.getMessage() for record in caplog.records]
        logins = [text for text in texts if "jt808 device" in text]
        refused = [text for text in texts if "refused files" in text]
        assert len(logins) > 1
        assert refused
        # The first login is always written, further lines are those of the peer.
        assert len(logins) + len(refused) == 1 + 10


@pytest.mark.skipif(sys.platform != "linux", reason="the hub needs epoll")
class TestHub:
    """What differs where the hub reads: a task is there only while something waits."""

    @pytest.fixture
    def hub(self, time):
        # It gathers what is ready for a few milliseconds, on this clock.
        time.let_go()
        return Hub()

    async def test_an_idle_connection_has_no_task(self, make_device, line, neighbours, hub):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register())
            assert await response(peer) == 0
            await trio.testing.wait_all_tasks_blocked(0.01)
            names = [task.name for task in all_tasks()]
            assert not [name for name in names if "connections/1" in name]
            peer.socket.send(location(peer.terminal))
            await until(lambda: kinds(neighbours.devices[row.id]) == [Connected, PositionReported])

    async def test_what_waits_for_nothing_needs_no_task(
        self, make_device, line, neighbours, hub, monkeypatch
    ):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register())
            assert await response(peer) == 0
            await trio.testing.wait_all_tasks_blocked(0.01)
            monkeypatch.delattr(DeviceConnection, "run")
            terminal = peer.terminal
            await peer.ref.ask(Transmit(DeviceCommand("positionSingle", unique_id=row.unique_id)))
            (asked,) = peer.answers()
            answer = terminal.general_response(asked, 1)
            peer.socket.send(location(terminal) + answer + terminal.heartbeat() + location(terminal, 1))
            told = [Connected, PositionReported, Reported, DeviceSeen, PositionReported]
            await until(lambda: kinds(neighbours.devices[row.id]) == told)
            assert peer.ref.alive
            assert [answer.answered_id for answer in peer.answers()] == [0x0002]
            # A device that may not report any more is refused at once.
            neighbours.devices[row.id].handle = lambda message: message.connection.offer(StopServing("gone"))
            peer.socket.send(terminal.heartbeat() * 2)
            await until(lambda: peer.device_socket.closed)
            assert peer.device_socket.reason == "gone"

    async def test_what_comes_with_the_end_of_the_stream_is_processed_before_it(
        self, make_device, line, neighbours, hub
    ):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register() + location(peer.terminal))
            peer.socket.close()
            await until(lambda: not peer.ref.alive)
            assert kinds(neighbours.devices[row.id]) == [Connected, PositionReported, Disconnected]
        assert peer.device_socket.reason == "closed by the device"

    async def test_what_was_decoded_before_another_of_the_turn_closed_it_is_not_forwarded(
        self, make_device, line, neighbours, hub
    ):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register())
            assert await response(peer) == 0
            await trio.testing.wait_all_tasks_blocked(0.01)
            # As the hub calls it.
            reader = peer.device_socket.reader
            reader.on_data(location(peer.terminal))
            peer.device_socket.close("replaced")
            reader.forward()
            await until(lambda: not peer.ref.alive)
            assert kinds(neighbours.devices[row.id]) == [Connected, Disconnected]

    async def test_a_crash_closes_the_socket_and_detaches_the_device(
        self, make_device, line, neighbours, hub, caplog
    ):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register())
            assert await response(peer) == 0
            with pytest.raises(ActorFailed):
                await peer.ref.ask(Transmit(None))
            assert not peer.ref.alive
            assert peer.device_socket.closed
            await until(lambda: kinds(neighbours.devices[row.id]) == [Connected, Disconnected])

    async def test_one_that_is_to_depart_reads_no_more_and_ends_once_all_is_stored(
        self, make_device, line, neighbours, hub, monkeypatch
    ):
        monkeypatch.setattr(device_connection, "DEPART_SECONDS", 0.1)
        monkeypatch.setattr(device_connection, "SETTLE_SECONDS", 0.1)
        monkeypatch.setattr(device_connection, "ANSWER_SECONDS", 0.1)
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(location(peer.terminal))
            await until(lambda: row.id in neighbours.devices)
            probe = neighbours.devices[row.id]
            await until(lambda: kinds(probe) == [Connected, PositionReported])
            receipt = probe.messages[-1].report.receipt
            assert await peer.ref.ask(Depart())
            peer.socket.send(location(peer.terminal, 1))
            # It asks again and again: a device that was busy has not heard it.
            await until(lambda: kinds(probe)[2:] == [TellStored] * 3)
            assert not peer.device_socket.closed
            await peer.ref.tell(AcknowledgeStored((receipt,)))
            await peer.ref.tell(Settled(row.id))
            (answer,) = peer.answers()
            assert answer.answered_id == 0x0200
            await until(lambda: peer.device_socket.closed)
            assert peer.device_socket.reason == "the server leaves"
            await until(lambda: kinds(probe)[-1] is Disconnected)
            assert PositionReported not in kinds(probe)[2:]

    async def test_one_that_is_to_depart_ends_although_nothing_can_be_stored(
        self, make_device, line, neighbours, hub, monkeypatch
    ):
        monkeypatch.setattr(device_connection, "DEPART_SECONDS", 0.1)
        monkeypatch.setattr(device_connection, "DEPART_LIMIT_SECONDS", 0.3)
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(location(peer.terminal))
            await until(lambda: row.id in neighbours.devices)
            await until(lambda: kinds(neighbours.devices[row.id]) == [Connected, PositionReported])
            await peer.ref.tell(Depart())
            await until(lambda: peer.device_socket.closed)
            assert peer.answers() == []

    async def test_one_without_a_device_that_is_to_depart_ends(self, line, hub, monkeypatch):
        monkeypatch.setattr(device_connection, "DEPART_SECONDS", 0.1)
        monkeypatch.setattr(device_connection, "ANSWER_SECONDS", 0.1)
        async with line(hub=hub) as peer:
            await peer.ref.tell(Depart())
            await until(lambda: peer.device_socket.closed)

    async def test_one_whose_device_is_to_stay_goes_on(self, make_device, line, neighbours, hub):
        row = await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(location(peer.terminal))
            await until(lambda: row.id in neighbours.devices)
            probe = neighbours.devices[row.id]
            await until(lambda: kinds(probe) == [Connected, PositionReported])
            assert not await peer.ref.ask(Depart(staying=frozenset({row.id})))
            assert not await peer.ref.ask(Depart(only=frozenset({row.id + 1})))
            peer.socket.send(location(peer.terminal, 1))
            await until(lambda: kinds(probe) == [Connected, PositionReported, PositionReported])
            assert await peer.ref.ask(Depart(only=frozenset({row.id})))

    async def test_a_request_to_one_that_is_to_depart_is_answered(
        self, make_device, line, neighbours, hub, monkeypatch
    ):
        monkeypatch.setattr(device_connection, "DEPART_SECONDS", 0.5)
        row = await make_device("van1")
        async with line(OsmAnd, hub=hub) as peer:
            peer.socket.send(b"GET /?id=van1&lat=1&lon=2 HTTP/1.1\r\nHost: x\r\n\r\n")
            await until(lambda: row.id in neighbours.devices)
            probe = neighbours.devices[row.id]
            await until(lambda: kinds(probe) == [Connected, PositionReported])
            await peer.ref.tell(Depart())
            await until(lambda: kinds(probe)[-1] is TellStored)
            await peer.ref.tell(AcknowledgeStored((probe.messages[1].report.receipt,)))
            await peer.ref.tell(Settled(row.id))
            assert peer.text().startswith(b"HTTP/1.1 200")
            await until(lambda: peer.device_socket.closed)

    async def test_the_servers_stop_closes_the_socket(self, make_device, line, hub):
        await make_device()
        async with line(hub=hub) as peer:
            peer.socket.send(peer.terminal.register())
            assert await response(peer) == 0
        assert peer.device_socket.reason == "the server stops"


async def until(condition):
    with trio.fail_after(30):
        while not condition():
            await trio.testing.wait_all_tasks_blocked(0.001)


async def response(peer):
    """The result of the next response."""
    received = []
    await until(lambda: received.extend(peer.answers()) or received)
    return received[0].result


def all_tasks():
    tasks, nurseries = [], list(trio.lowlevel.current_root_task().child_nurseries)
    while nurseries:
        for task in nurseries.pop().child_tasks:
            tasks.append(task)
            nurseries.extend(task.child_nurseries)
    return tasks
