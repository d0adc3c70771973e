"""What simulated trackers send, read by the server's codecs; and how they drive."""

from datetime import UTC, datetime

import pytest
import trio
from tests.bench.test_simulate import parse

from motorpool.bench.simulate import WrongArguments, find_fleet
from motorpool.bench.target import Target
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.tracked_vehicle import TrackedVehicle, plan_trackers
from motorpool.bench.vehicles.trackers import TRACKERS, Tracker
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Login, PositionReport
from motorpool.runtime.clock import SystemClock

MORNING = datetime(2026, 6, 1, 7, 30, 15, tzinfo=UTC)
STATE = VehicleState(52.516283, 13.377704, 12.5, 92.0, 1234.0, 0.0, 0.0)
each_tracker = pytest.mark.parametrize("tracker_type", TRACKERS.values(), ids=TRACKERS)


def made(tracker_type: type[Tracker]) -> Tracker:
    (plan,) = plan_trackers(tracker_type.protocol, count=1, interval_seconds=1, seed=7)
    assert len(plan.unique_id) == tracker_type.digits
    return tracker_type(plan.unique_id)


@each_tracker
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_codec_reads_what_its_tracker_sends(tracker_type: type[Tracker], transport: str) -> None:
    codec = CODECS[tracker_type.protocol]()
    if transport == "udp" and not codec.udp:
        return
    tracker = made(tracker_type)
    reports = []
    for message in (tracker.login(), tracker.heartbeat(), tracker.position(MORNING, STATE)):
        if message and transport == "udp":
            if datagram := tracker.datagram(message):
                reports += codec.receive_datagram(datagram)
        else:
            reports += codec.receive(message)
    assert not any(isinstance(report, FrameRejected) for report in reports)
    logins = [report for report in reports if isinstance(report, Login)]
    assert {tracker.unique_id in login.unique_ids for login in logins} == {True}
    position = [report for report in reports if isinstance(report, PositionReport)][-1]
    assert (position.fix_time or position.device_time) == MORNING
    assert position.valid
    assert position.latitude == pytest.approx(STATE.latitude, abs=1e-4)
    assert position.longitude == pytest.approx(STATE.longitude, abs=1e-4)
    assert position.speed == pytest.approx(12.5 * 3600 / 1852, abs=0.6)
    assert position.course == pytest.approx(92.0, abs=1)
    assert codec.checksum_errors == 0


@each_tracker
def test_a_tracker_says_whether_its_positions_are_answered(tracker_type: type[Tracker]) -> None:
    codec, tracker = CODECS[tracker_type.protocol](), made(tracker_type)
    codec.utc_now = lambda: MORNING
    *_, position = codec.receive(tracker.login() + tracker.position(MORNING, STATE))
    assert isinstance(position, PositionReport)
    assert (position.receipt is not None) == tracker_type.is_acknowledged


@each_tracker
def test_a_tracker_survives_all_commands(tracker_type: type[Tracker]) -> None:
    codec, tracker = CODECS[tracker_type.protocol](), made(tracker_type)
    codec.receive(tracker.login() or tracker.position(MORNING, STATE))
    attributes = {"data": "8104", "frequency": 30, "message": "x", "index": 1, "phone": "1", "port": 1}
    for command in sorted(codec.commands):
        try:
            sent = codec.encode(DeviceCommand(command, attributes, tracker.unique_id))
        except UnsupportedCommand:
            continue
        for report in codec.receive(tracker.receive(sent.data)):
            assert not isinstance(report, FrameRejected)


@pytest.mark.parametrize("udp", [False, True])
async def test_a_tracker_logs_in_and_reports(udp: bool) -> None:
    """The server here only answers logins."""
    received = b""
    kind = trio.socket.SOCK_DGRAM if udp else trio.socket.SOCK_STREAM
    with trio.socket.socket(trio.socket.AF_INET, kind) as listening:
        await listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        target = Target(host="127.0.0.1", port_offset=port - CODECS["gps103"].port)
        (plan,) = plan_trackers("gps103", count=1, interval_seconds=0.01, seed=7, udp=udp)
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                if not udp:
                    listening.listen()
                nursery.start_soon(TrackedVehicle(plan, target, SystemClock()).run)
                if udp:
                    received, address = await listening.recvfrom(1000)
                    await listening.sendto(b"LOAD", address)
                    while received.count(b"tracker") < 3:
                        received += await listening.recv(1000)
                else:
                    connection, _ = await listening.accept()
                    with connection:
                        received = await connection.recv(1000)
                        await connection.send(b"LOAD")
                        while received.count(b"tracker") < 3:
                            received += await connection.recv(1000)
                nursery.cancel_scope.cancel()
    assert received.startswith(f"##,imei:{plan.unique_id},A;imei:{plan.unique_id},tracker,".encode())


def test_the_command_line_names_a_protocol() -> None:
    fleet = find_fleet(parse("--protocol", "gps103", "--vehicles", "3", "--udp"))
    assert [plan.udp for plan in fleet.trackers] == [True] * 3
    assert len({device.unique_id for device in fleet.devices()}) == 3
    assert len(find_fleet(parse("--protocol", "osmand", "--vehicles", "2")).phones) == 2
    assert len(find_fleet(parse("--protocol", "jt808", "--vehicles", "2")).vehicles) == 2
    with pytest.raises(WrongArguments, match="gps103"):
        find_fleet(parse("--protocol", "nmea"))
    with pytest.raises(WrongArguments, match="--protocol"):
        find_fleet(parse("--udp"))
