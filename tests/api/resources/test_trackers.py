"""Each protocol from the socket to `GET /positions` and back: a simulated device, its position, a command.

A protocol brings a row of `TRACKERS`.
"""

import select
from dataclasses import dataclass, field

import pytest
import trio
from tests.api.conftest import NOON
from tests.bench.test_trackers import SHOWN

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.bench.vehicles import trackers as simulated
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.tracked_vehicle import plan_trackers
from motorpool.bench.vehicles.trackers import new_tracker
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"


@dataclass
class Tracker:
    """What a device sends, what it is answered, and what the API shows then."""

    unique_id: str
    dialogue: list[tuple[bytes, bytes]]
    """Messages and the answers to wait for; empty: none comes."""
    position: dict
    command: str
    command_bytes: bytes
    command_attributes: dict = field(default_factory=dict)
    udp_dialogue: list[tuple[bytes, bytes]] | None = None
    """Where datagrams differ from the messages of a connection."""


def jt808():
    terminal = Terminal("13912345678")
    return Tracker(
        "13912345678",
        [
            (
                terminal.location(encode_location(22.5731, 113.9213, NOON)),
                bytes.fromhex("7e8001000501391234567800000000020000b67e"),
            )
        ],
        {"latitude": 22.5731, "longitude": 113.9213, "deviceTime": "2026-05-01T12:00:00Z"},
        "custom",
        bytes.fromhex("7e8104"),
        {"data": "8104"},
    )


TRACKERS = {
    "gps103": Tracker(
        "353358017784062",
        [
            (b"##,imei:353358017784062,A;", b"LOAD"),
            (
                b"imei:353358017784062,tracker,2403052222,,F,142231.000,A,2234.3860,N,11355.2780,E,25.40;",
                b"",
            ),
        ],
        {
            "latitude": 22.5731,
            "longitude": 113.9213,
            "speed": 25.4,
            "fixTime": "2024-03-05T14:22:31Z",
        },
        "engineStop",
        b"**,imei:353358017784062,J",
    ),
    "gl200": Tracker(
        "135790246811220",
        [
            (
                b"+ACK:GTHBD,1A0102,135790246811220,,20240305142231,0012$",
                b"+SACK:GTHBD,1A0102,0012$",
            ),
            (
                b"+RESP:GTFRI,0F0106,135790246811220,,,00,1,1,4.3,92,70.0,121.354335,31.222073,20240305142231,0460,"
                b"0000,18D8,6141,00,2000.0,00012:34:56,,,87,220000,,,,20240305142233,11F0$",
                b"",
            ),
        ],
        {
            "latitude": 31.222073,
            "longitude": 121.354335,
            "course": 92.0,
            "fixTime": "2024-03-05T14:22:31Z",
            "deviceTime": "2024-03-05T14:22:33Z",
        },
        "engineStop",
        b"AT+GTOUT=,1,,,0,0,0,0,0,0,0,,,,,,,FFFF$",
    ),
    "gt06": Tracker(
        "353358017784062",
        [
            (
                bytes.fromhex("78780D01035335801778406200015E940D0A"),
                bytes.fromhex("787805010001D9DC0D0A"),
            ),
            (
                bytes.fromhex("78781F121803050E161FC9026BFD1C0C38F1242F145C01CC00287D001FB80003A1950D0A"),
                bytes.fromhex("787805120003903F0D0A"),
            ),
        ],
        {"latitude": 22.5731, "longitude": 113.9213, "course": 92.0, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        bytes.fromhex("787812800C0000000052656C61792C312300009DEE0D0A"),
    ),
    "h02": Tracker(
        "8612345678",
        [(b"*HQ,8612345678,V6,142231,A,2234.3860,N,11355.2780,E,047.00,092,050324,FFFFFFFF#", b"")],
        {"latitude": 22.5731, "longitude": 113.9213, "speed": 47.0, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        b"*HQ,8612345678,S20,",
    ),
    "jt808": jt808(),
    "meitrack": Tracker(
        "353358017784062",
        [
            (
                b"$$F160,353358017784062,AAA,35,22.573100,113.921300,240305142231,A,9,24,47,92,0.9,35,18446,38250,"
                b"460|0|287D|1FB8,0421,0008|0000|0000|019E|04E2,00000001,,3,,,12,34*EC\r\n",
                b"",
            )
        ],
        {"latitude": 22.5731, "longitude": 113.9213, "course": 92.0, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        b"@@A33,353358017784062,C01,0,12222*DC\r\n",
    ),
    "ruptela": Tracker(
        "353358017784062",
        [
            (
                bytes.fromhex(
                    "0032000141609320e8fe01000165e72aa700000f11604820989ac004b424220b00390807020201fb01011d33c6014100"
                    "02d09300a83d"
                ),
                bytes.fromhex("0002640113bc"),
            )
        ],
        {"latitude": 54.6872, "longitude": 25.2797, "course": 92.5, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        b"\x00\x14\x6cpass immobilizer 10",
    ),
    "suntech": Tracker(
        "205174410",
        [
            (
                b"ST300STT;205174410;14;564;20240305;14:22:31;2f1a;+22.573100;+113.921300;047.000;092.00;9;1;18446;"
                b"12.50;100000;1;0042\r",
                b"",
            )
        ],
        {"latitude": 22.5731, "longitude": 113.9213, "course": 92.0, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        b"ST300CMD;205174410;02;Enable1\r",
    ),
    "tk103": Tracker(
        "013912345678",
        [(b"(013912345678BR00240305A2234.3860N11355.2780E047.0142231092.0001000000L00004E20)", b"")],
        {"latitude": 22.5731, "longitude": 113.9213, "course": 92.0, "fixTime": "2024-03-05T14:22:31Z"},
        "engineStop",
        b"(013912345678AV01",
    ),
    "watch": Tracker(
        "8800000015",
        [
            (
                b"[3G*8800000015*006C*UD,050324,142231,A,22.573100,N,113.921300,E,47.00,92.0,35.0,9,80,63,1204,0,"
                b"00000000,1,1,460,0,9346,5223,30,0]",
                b"",
            )
        ],
        {"latitude": 22.5731, "longitude": 113.9213, "course": 92.0, "fixTime": "2024-03-05T14:22:31Z"},
        "positionSingle",
        b"[SG*8800000015*0002*CR]",
    ),
    "teltonika": Tracker(
        "356307042441013",
        [
            (b"\x00\x0f356307042441013", b"\x01"),
            (
                bytes.fromhex(
                    "00000000000000628E010000018E0EFE9D52010DEE2AD9F8423DC1032C010F0E003F00EF0009000400EF0100F00100"
                    "150400FD020002004233C600B60009000100100002D0930001004E0123456789ABCDEF0001010000115756575A5A5A"
                    "314A5A58573030303030310100002BB7"
                ),
                bytes.fromhex("00000001"),
            ),
        ],
        {"latitude": -12.9876543, "longitude": 23.3712345},
        "engineStop",
        bytes.fromhex("00000000000000130C01050000000B7365746469676F7574203101000087A2"),
        udp_dialogue=[
            (
                bytes.fromhex(
                    "0038CAFE0105000F33353633303730343234343130313308010000018E0EFE9C58000DEE2AD9F8423DC1"
                    "00000000000000000101EF0000000001"
                ),
                bytes.fromhex("0005CAFE010501"),
            )
        ],
    ),
}
BY_TRANSPORT = [
    pytest.param(name, transport, id=f"{name}-{transport}")
    for name in TRACKERS
    for transport in ("tcp", "udp")
    if transport == "tcp" or CODECS[name].udp
]


class Device:
    """The device's end, over TCP or UDP."""

    def __init__(self, stream, datagrams):
        self.stream, self.datagrams = stream, datagrams

    async def send(self, data):
        if self.stream is not None:
            await self.stream.send_all(data)
        else:
            await self.datagrams.send(data)

    async def receive(self):
        if self.stream is not None:
            return await self.stream.receive_some()
        return await self.datagrams.recv(65_535)


@pytest.fixture
async def connect():
    """`await connect("tcp", port)`: the device's end of a connection."""
    opened = []

    async def make(transport, port):
        if transport == "tcp":
            stream = await trio.open_tcp_stream(LOOPBACK, port)
            opened.append(stream.socket)
            return Device(stream, None)
        datagrams = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
        opened.append(datagrams)
        await datagrams.connect((LOOPBACK, port))
        return Device(None, datagrams)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def ports(free_port):
    """The offset of ports, all free."""
    return free_port(*(CODECS[name].port for name in TRACKERS))


async def latest(served, device_id=None):
    """The latest position, once there is one; of any device, or of one."""
    while True:
        found = (await served.admin.get("/positions")).json()
        if found := [each for each in found if device_id in (None, each["deviceId"])]:
            return found[0]
        await trio.sleep(0.01)


def test_every_protocol_has_a_row():
    assert set(TRACKERS) == {name for name, codec in CODECS.items() if codec.transport == "tcp"}


@pytest.mark.parametrize(("name", "transport"), BY_TRANSPORT)
async def test_a_device_reports_and_takes_a_command(name, transport, starting, ports, connect):
    tracker = TRACKERS[name]
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    async with starting(protocols=(name,), **places) as served:
        device_id = await served.device(served.admin, tracker.unique_id)
        device = await connect(transport, CODECS[name].port + ports)
        dialogue = tracker.dialogue
        if transport == "udp" and tracker.udp_dialogue is not None:
            dialogue = tracker.udp_dialogue
        with trio.fail_after(120):
            for message, answer in dialogue:
                await device.send(message)
                received = b""
                while len(received) < len(answer):
                    received += await device.receive()
                assert received == answer
            shown = await latest(served)
            for field_name, value in tracker.position.items():
                expected = pytest.approx(value) if isinstance(value, float) else value
                assert shown[field_name] == expected, field_name
            assert shown["protocol"] == name
            sent = await served.admin.post(
                "/commands/send",
                json={
                    "deviceId": device_id,
                    "type": tracker.command,
                    "attributes": tracker.command_attributes,
                },
            )
            assert sent.status == 200, sent.text
            assert (await device.receive()).startswith(tracker.command_bytes)


PLACE = b",A,2234.3860,N,11355.2780,E,047.00,092,050324,FFFFFFFF"
ST300 = b"20240305;14:22:31;2f1a;+22.573100;+113.921300;047.000;092.00;9;1;18446;12.50;100000;1;0042"


def located(status=0, items=b""):
    """A 0x0200 of the terminal 13912345678."""
    body = encode_location(22.5731, 113.9213, NOON, status=status, items=items)
    return Terminal("13912345678").location(body)


DIALECTS = [
    ("watch", "", "8800000015", b"[3G*8800000015*0009*oxygen,97]", {"bloodOxygen": 97}),
    (
        "tk103",
        "",
        "013912345678",
        b"(013912345678BS51,90:0002020094756B03,91:480D01E40C020000)",
        {"battery": 51.2, "batteryLevel": 87.5, "batteryCellMax": 3.4},
    ),
    (
        "suntech",
        "",
        "205174410",
        b"ST300STT;205174410;14;564;" + ST300 + b";60;4.1;1;1800;16008901;1\r",
        {"hours": 3_600_000, "rpm": 1800, "driverUniqueId": "16008901"},
    ),
    (
        "jt808",
        "AL300",
        "13912345678",
        located(items=bytes.fromhex("f30c0c001122334455c40bb800fa")),
        {"tag1Mac": "001122334455", "tag1Battery": 3.0, "tag1Temp": 25.0},
    ),
    ("jt808", "MV710G", "13912345678", located(status=1 << 6), {"armed": True, "door": False}),
    ("jt808", "C5L", "13912345678", located(items=bytes.fromhex("f80204b4")), {"steps": 1204}),
    (
        "jt808",
        "JC371",
        "13912345678",
        located(items=bytes.fromhex("e80a2003070105018e1504d4")),
        {"battery": 3.98, "power": 12.36},
    ),
    ("jt808", "", "13912345678", located(items=b"\xbc\x04" + "张三".encode("gbk")), {"driver": "张三"}),
    (
        "h02",
        "",
        "8612345678",
        b"*HQ,8612345678,V19,142231" + PLACE + b",89860012345678901234#",
        {"iccid": "89860012345678901234"},
    ),
]
"""Protocol, the device's model, its name, a message, and what the API shows of it."""


async def test_what_makers_do_in_their_own_way_reaches_the_api(starting, ports, connect):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    names = tuple(dict.fromkeys(name for name, *_ in DIALECTS))
    async with starting(protocols=names, **places) as served:
        with trio.fail_after(120):
            for name, model, unique_id, message, expected in DIALECTS:
                body = {"name": name, "uniqueId": unique_id, "model": model}
                device_id = (await served.admin.post("/devices", json=body)).json()["id"]
                device = await connect("tcp", CODECS[name].port + ports)
                await device.send(message)
                shown = await latest(served)
                assert expected.items() <= shown["attributes"].items(), (name, model)
                assert (await served.admin.delete(f"/devices/{device_id}")).status == 204


async def test_what_comes_with_the_login_is_decoded_as_each_device_wants(starting, ports, connect):
    """Two devices of one packet, of which one has a clock in UTC; each message is answered once."""
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    terminals = [Terminal("13912345678"), Terminal("13912345679")]
    body = encode_location(1, 2, NOON)  # NOON in the time of Beijing, as the protocol has it
    messages = [terminals[at].location(body) for at in (0, 1, 0)]
    async with starting(protocols=("jt808",), **places) as served:
        first = {"name": "a", "uniqueId": "13912345678", "attributes": {"decoder.timezone": "UTC"}}
        ids = [
            (await served.admin.post("/devices", json=first)).json()["id"],
            await served.device(served.admin, "13912345679"),
        ]
        gateway = await connect("tcp", CODECS["jt808"].port + ports)
        with trio.fail_after(120):
            await gateway.send(b"".join(messages))
            received = b""
            while received.count(b"\x7e\x80\x01") < 3:
                received += await gateway.receive()
            shown = {each["deviceId"]: each for each in (await served.admin.get("/positions")).json()}
            assert [shown[each]["deviceTime"] for each in ids] == [
                "2026-05-01T20:00:00Z",
                "2026-05-01T12:00:00Z",
            ]
            await gateway.send(terminals[0].heartbeat())
            received += await gateway.receive()
            assert received.count(b"\x7e\x80\x01") == 4


async def test_a_first_byte_that_comes_alone_costs_no_message(starting, ports, connect):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    terminal = Terminal("13912345678")
    first, second = (terminal.location(encode_location(latitude, 2, NOON)) for latitude in (1, 3))
    async with starting(protocols=("jt808",), **places) as served:
        clock = {"name": "a", "uniqueId": "13912345678", "attributes": {"decoder.timezone": "UTC"}}
        device_id = (await served.admin.post("/devices", json=clock)).json()["id"]
        device = await connect("tcp", CODECS["jt808"].port + ports)
        with trio.fail_after(60):
            await device.send(first[:1])
            await trio.sleep(0.3)
            await device.send(first[1:] + second)
            received = b""
            while received.count(b"\x7e\x80\x01") < 2:
                received += await device.receive()
            span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
            stored = (await served.admin.get(f"/positions?deviceId={device_id}&{span}")).json()
            assert [each["latitude"] for each in stored] == [1, 3]
            assert {each["deviceTime"] for each in stored} == {"2026-05-01T20:00:00Z"}


@pytest.mark.parametrize("protocol", ["gl200", "gt06", "meitrack", "teltonika"])
async def test_positions_of_all_models_are_shown(protocol, starting, ports):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    models = simulated.TRACKERS[protocol].models
    plans = plan_trackers(protocol, count=len(models), interval_seconds=1, seed=1)
    state = VehicleState(52.516283, 13.377704, 12.5, 92.0, 1234.0, 0.0, 0.0)
    async with starting(protocols=(protocol,), **places) as served:
        for model, plan in zip(models, plans, strict=True):
            device_id = await served.device(served.admin, plan.unique_id, model=model)
            tracker = new_tracker(protocol, plan.unique_id, model)
            with trio.fail_after(60):
                stream = await trio.open_tcp_stream(LOOPBACK, CODECS[protocol].port + ports)
                async with stream:
                    await stream.send_all(tracker.login())
                    assert await stream.receive_some()
                    await stream.send_all(tracker.position(NOON, state))
                    if tracker.is_acknowledged:
                        assert await stream.receive_some()
                    shown = await latest(served, device_id)
            assert shown["latitude"] == pytest.approx(52.516283, abs=1e-5), model
            assert shown["fixTime"] == "2026-05-01T12:00:00Z", model
            assert shown["attributes"].items() >= SHOWN[protocol, model].items(), model


async def test_a_command_goes_to_the_address_that_a_device_last_sent_from(starting, ports, connect):
    tracker = TRACKERS["gps103"]
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    async with starting(protocols=("gps103",), **places) as served:
        device_id = await served.device(served.admin, tracker.unique_id)
        with trio.fail_after(120):
            for _ in range(3):
                device = await connect("udp", CODECS["gps103"].port + ports)
                await device.send(tracker.dialogue[0][0])
                assert await device.receive() == b"LOAD"
            await served.admin.post("/commands/send", json={"deviceId": device_id, "type": "engineStop"})
            assert await device.receive() == tracker.command_bytes


async def test_devices_behind_one_connection_report_and_take_commands(starting, ports, connect):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    frame = b"*HQ,%b,V1,142231,A,2234.3860,N,11355.2780,E,047.00,092,050324,FFFFFFFF#"
    names = ("8612345678", "8612345679")
    async with starting(protocols=("h02",), **places) as served:
        ids = [await served.device(served.admin, name) for name in names]
        gateway = await connect("tcp", CODECS["h02"].port + ports)
        with trio.fail_after(120):
            for name in names:
                await gateway.send(frame % name.encode())
                assert (await gateway.receive()).startswith(b"*HQ,%b,V4,V1," % name.encode())
            shown = (await served.admin.get("/positions")).json()
            assert sorted(each["deviceId"] for each in shown) == sorted(ids)
            for name, device_id in zip(names, ids, strict=True):
                sent = {"deviceId": device_id, "type": "engineStop"}
                assert (await served.admin.post("/commands/send", json=sent)).status == 200
                assert (await gateway.receive()).startswith(b"*HQ,%b,S20," % name.encode())


async def test_what_a_group_says_of_a_protocol_holds_for_its_devices(starting, ports, connect):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    async with starting(protocols=("gl200",), **places) as served:
        group = {"name": "Queclink", "attributes": {"gl200.ack": "true", "devicePassword": "gl300"}}
        group_id = (await served.admin.post("/groups", json=group)).json()["id"]
        device = {"name": "x", "uniqueId": TRACKERS["gl200"].unique_id, "groupId": group_id}
        device_id = (await served.admin.post("/devices", json=device)).json()["id"]
        tracker = await connect("tcp", CODECS["gl200"].port + ports)
        with trio.fail_after(120):
            (heartbeat, answer), (report, _) = TRACKERS["gl200"].dialogue
            await tracker.send(heartbeat)
            assert await tracker.receive() == answer
            await tracker.send(report)
            assert await tracker.receive() == b"+SACK:11F0$"
            sent = {"deviceId": device_id, "type": "positionSingle"}
            assert (await served.admin.post("/commands/send", json=sent)).status == 200
            assert await tracker.receive() == b"AT+GTRTO=gl300,1,,,,,,FFFF$"
            # An edit that was answered holds for the next command and the next message.
            edited = {**group, "id": group_id, "attributes": {"devicePassword": "gv65"}}
            assert (await served.admin.put(f"/groups/{group_id}", json=edited)).status == 200
            assert (await served.admin.post("/commands/send", json=sent)).status == 200
            assert await tracker.receive() == b"AT+GTRTO=gv65,1,,,,,,FFFF$"
            edited["attributes"] = group["attributes"]
            assert (await served.admin.put(f"/groups/{group_id}", json=edited)).status == 200
            await tracker.send(report)
            assert await tracker.receive() == b"+SACK:11F0$"
            # A group that is gone has no say.
            assert (await served.admin.delete(f"/groups/{group_id}")).status == 204
            await tracker.send(report)
            await tracker.send(heartbeat)
            assert await tracker.receive() == answer


async def test_the_addresses_of_unknown_devices_and_noise_are_not_answered(starting, ports, connect):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}
    async with starting(protocols=("gps103",), **places) as served:
        await served.device(served.admin, "353358017784062")
        port = CODECS["gps103"].port + ports
        stranger, known = await connect("udp", port), await connect("udp", port)
        with trio.fail_after(120):
            await stranger.send(b"noise")
            await stranger.send(b"##,imei:353358017784999,A;")
            await stranger.send(b"##,imei:353358017784999,A;")
            await known.send(b"##,imei:353358017784062,A;")
            assert await known.receive() == b"LOAD"
        readable, _, _ = select.select([stranger.datagrams], [], [], 0)
        assert readable == []


async def test_owntracks_reports_and_takes_a_command_with_its_next_answer(starting, free_port, connect):
    port = free_port()
    places = {
        "device": DeviceSettings(host=LOOPBACK),
        "port": PortSettings(offset=port - CODECS["owntracks"].port),
    }
    body = b'{"_type":"location","lat":48.85833,"lon":2.29513,"tst":1497476456,"tid":"JJ","batt":63}'
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    async with starting(protocols=("owntracks",), **places) as served:
        device_id = await served.device(served.admin, "JJ")
        phone = await connect("tcp", port)
        with trio.fail_after(120):
            await phone.send(request)
            assert (await phone.receive()).endswith(b"\r\n\r\n[]")
            shown = await latest(served)
            assert (shown["latitude"], shown["attributes"]["batteryLevel"]) == (48.85833, 63)
            sent = {"deviceId": device_id, "type": "positionSingle"}
            assert (await served.admin.post("/commands/send", json=sent)).status == 202
            await phone.send(request)
            assert (await phone.receive()).endswith(b'[{"_type":"cmd","action":"reportLocation"}]')
