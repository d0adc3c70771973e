"""Each protocol from the socket to `GET /positions` and back: a simulated device, its position, a command.

A protocol brings a row of `TRACKERS`.
"""

import select
from dataclasses import dataclass, field

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
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


async def latest(served):
    """The latest position, once there is one."""
    while True:
        if found := (await served.admin.get("/positions")).json():
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
