"""What simulated trackers send, read by the server's codecs; and how they drive."""

from datetime import UTC, datetime

import pytest
import trio
from tests.bench.test_simulate import parse

from motorpool.bench.simulate import WrongArguments, find_fleet
from motorpool.bench.target import Target
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.tracked_vehicle import TrackedVehicle, plan_trackers
from motorpool.bench.vehicles.trackers import TRACKERS, Tracker, new_tracker
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Login, PositionReport
from motorpool.runtime.clock import SystemClock

MORNING = datetime(2026, 6, 1, 7, 30, 15, tzinfo=UTC)
STATE = VehicleState(52.516283, 13.377704, 12.5, 92.0, 1234.0, 0.0, 0.0)
each_tracker = pytest.mark.parametrize("tracker_type", TRACKERS.values(), ids=TRACKERS)


SHOWN: dict[tuple[str, str], dict[str, object]] = {
    ("gl200", "GL320M"): {"type": "ERI", "batteryLevel": 90, "externalBattery": 80},
    ("gl200", "GL500"): {"batteryLevel": 90, "mode": 1, "motion": True},
    ("gl200", "GV200"): {"adc3": 0.3, "input": 1, "output": 2},
    ("gl200", "GV310LAU"): {"adc3": 0.3, "batteryLevel": 90, "ignition": True},
    ("gt06", "AZ735"): {"rssi": 31, "status": 1},
    ("gt06", "BENWAY"): {"temp1": 20},
    ("gt06", "G18"): {"alarm": "hardBraking"},
    ("gt06", "GT06E"): {"card": "%1234?", "odometer": 123_456},
    ("gt06", "GT06N"): {"sat": 9},
    ("gt06", "H'02"): {"sat": 9, "type": 0x12},
    ("gt06", "JC100"): {"event": 0x87, "alarm": "overspeed"},
    ("gt06", "JC400"): {"power": 12.3, "alarm": "overspeed"},
    ("gt06", "JM-VL03"): {"odometer": 123_456},
    ("gt06", "LL303"): {"alarm": "hardBraking"},
    ("gt06", "LW4G"): {"hours": 3_600_000, "input": 5, "batteryLevel": 66},
    ("gt06", "NT11"): {"odometer": 12345, "power": 12.34},
    ("gt06", "NT20"): {"odometer": 12345, "power": 12.34},
    ("gt06", "NT26"): {"odometer": 12345, "power": 12.34},
    ("gt06", "NT40"): {"odometer": 12345, "power": 12.34},
    ("gt06", "NT46"): {"odometer": 12345, "power": 12.34},
    ("gt06", "QH302R"): {"sat": 9},
    ("gt06", "R11"): {"event": 0},
    ("gt06", "S5"): {"oil": 300, "temp1": 20, "odometer": 123_450},
    ("gt06", "SL4X"): {"event": 2},
    ("gt06", "SR411"): {"power": 12.34, "battery": 4.12},
    ("gt06", "Seeworld"): {"temp1": 5.25, "humidity": 51.2},
    ("gt06", "TRX16i"): {"driverUniqueId": "0000000012ab34cd", "battery": 4.2},
    ("gt06", "VL100"): {"odometer": 12345, "power": 12.34},
    ("gt06", "VL103"): {"alarm": "hardBraking"},
    ("gt06", "VL512"): {"alarm": "hardBraking"},
    ("gt06", "VXT01"): {"power": 12.34},
    ("gt06", "WETRUST"): {"card": "7", "cardStatus": 2},
    ("gt06", "Wetrack"): {"ignition": True, "archive": False, "type": 0x22},
    ("gt06", "X1"): {"driverUniqueId": "305419896", "adc2": 2.0},
    ("gt06", "XT40"): {"driverUniqueId": "12ab34cd"},
    ("gt06", "iTriangle"): {"ignition": True, "archive": False, "type": 0x22},
    ("jt808", "AL300"): {"tag1Battery": 3.0, "tag1Temp": 25.0, "batteryLevel": 80, "imei": "490154203237518"},
    ("jt808", "C5L"): {"steps": 1204},
    ("jt808", "GL100"): {"iccid": "8986001234567890123", "tag1Mac": "001122334455"},
    ("jt808", "JC371"): {"charge": True, "battery": 3.98, "power": 12.36, "batteryLevel": 83},
    ("jt808", "MV710G"): {"armed": True, "door": False, "input": 1},
    ("meitrack", "MT90"): {"battery": 4.139502, "power": 12},
    ("meitrack", "MVT380"): {"battery": 4.142578, "power": 12.515625},
    ("meitrack", "T3"): {"battery": 4.139502, "power": 12.503906},
    ("suntech", "ST4300"): {"rssi": 24, "versionFw": "1.0.15", "reason": 1},
    ("suntech", "ST600"): {"hours": 3_600_000, "battery": 4.1, "index": 1},
    ("suntech", "ST910"): {"type": "Location", "versionFw": "564"},
    ("teltonika", "FMB003"): {"obdOdometer": 12_345_000, "vin": "WVWZZZ1JZXW000001"},
    ("teltonika", "FMB120"): {"batteryLevel": 90, "adc1": 1.234},
    ("teltonika", "FMC640"): {"bleTemp1": 27.5, "driverUniqueId": "DRIVER0123456789", "io85": 3},
    ("teltonika", "TAT100"): {"batteryLevel": 90},
}
"""Attributes that are the model's own."""


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


@pytest.mark.parametrize(
    ("protocol", "model"), [(name, model) for name, each in TRACKERS.items() for model in each.models]
)
def test_a_tracker_has_the_ways_of_its_model(protocol: str, model: str) -> None:
    (plan,) = plan_trackers(protocol, count=1, interval_seconds=1, seed=7, model=model)
    assert plan.device().model == model
    codec, tracker = CODECS[protocol](), new_tracker(protocol, plan.unique_id, model)
    codec.configure(model, {})
    *_, position = codec.receive(tracker.login() + tracker.heartbeat() + tracker.position(MORNING, STATE))
    assert isinstance(position, PositionReport)
    assert position.latitude == pytest.approx(STATE.latitude, abs=1e-4)
    assert SHOWN[protocol, model].items() <= position.attributes.items()


def test_a_wetrack_tells_the_supply_voltage_with_its_states() -> None:
    codec, tracker = CODECS["gt06"](), new_tracker("gt06", "353358017784062", "Wetrack")
    *_, states, supply = codec.receive(tracker.login() + tracker.heartbeat())
    assert isinstance(states, PositionReport)
    assert states.attributes["batteryLevel"] == 100
    assert isinstance(supply, PositionReport)
    assert supply.attributes == {"adc1": 12.34}
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
    tagged = find_fleet(parse("--protocol", "jt808", "--model", "AL300", "--vehicles", "2"))
    assert [device.model for device in tagged.devices()] == ["AL300", "AL300"]
    plain = find_fleet(parse("--protocol", "suntech")).devices()
    models = find_fleet(parse("--protocol", "suntech", "--model", "ST910")).devices()
    assert not {device.unique_id for device in plain} & {device.unique_id for device in models}
    with pytest.raises(WrongArguments, match="ST4300, ST600, ST910"):
        find_fleet(parse("--protocol", "suntech", "--model", "ST300"))
    with pytest.raises(WrongArguments, match="left out"):
        find_fleet(parse("--protocol", "gps103", "--model", "x"))
    with pytest.raises(WrongArguments, match="--protocol"):
        find_fleet(parse("--model", "AL300"))
    with pytest.raises(WrongArguments, match="gps103"):
        find_fleet(parse("--protocol", "nmea"))
    with pytest.raises(WrongArguments, match="--protocol"):
        find_fleet(parse("--udp"))
