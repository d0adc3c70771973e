"""The doors of takeover: whoever knows the name of a device, and speaks another protocol.

Each protocol is that of a device once, over TCP and UDP, and each other one attacks it over both; its own
attacks it by datagrams. A protocol takes part by being registered: its device's end is in
`bench/vehicles/trackers/`, or a row of `PEERS`.
"""

import json
import select
from datetime import timedelta
from functools import partial
from urllib.parse import urlencode

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.messages.counters import DEVICES_REFUSED
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Login

LOOPBACK = "127.0.0.1"
IMEI, NUMBER = "353358017784062", "913912345678"
"""The names of the device: a protocol can send at least one of them, most both."""
STATE = VehicleState(
    latitude=52.5, longitude=13.4, speed=10.0, course=90.0, odometer=0.0, acceleration=0.0, turning=0.0
)


class Jt808Peer:
    def __init__(self, unique_id):
        self.terminal = Terminal(unique_id, 2019)

    def login(self):
        return self.terminal.register()

    def position(self, moment, state):
        return self.terminal.location(encode_location(state.latitude, state.longitude, moment))

    def datagram(self, message):
        return message


class HttpPeer:
    def __init__(self, unique_id):
        self.unique_id = unique_id

    def login(self):
        return b""


class OsmAndPeer(HttpPeer):
    def position(self, moment, state):
        fields = {
            "id": self.unique_id,
            "lat": state.latitude,
            "lon": state.longitude,
            "timestamp": int(moment.timestamp()),
        }
        return f"GET /?{urlencode(fields)} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


class OwnTracksPeer(HttpPeer):
    def position(self, moment, state):
        fields = {"lat": state.latitude, "lon": state.longitude, "tst": int(moment.timestamp())}
        body = json.dumps({"_type": "location", "tid": self.unique_id, **fields}).encode()
        return b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


PEERS = {**TRACKERS, "jt808": Jt808Peer, "osmand": OsmAndPeer, "owntracks": OwnTracksPeer}


def names_of(protocol):
    """The names that a peer of the protocol can send, as the server reads them."""
    found = set()
    for name in (IMEI, NUMBER):
        try:
            peer = PEERS[protocol](name)
            reports = CODECS[protocol]().receive(peer.login() + peer.position(NOON, STATE))
        except (ValueError, CodecError):
            continue
        if any(isinstance(report, Login) and name in report.unique_ids for report in reports):
            found.add(name)
    return found


NAMES = {protocol: names_of(protocol) for protocol in PEERS}
EACH = [
    pytest.param(name, transport, id=f"{name}-{transport}")
    for name, codec in CODECS.items()
    for transport in ("tcp", "udp")
    if transport == "tcp" or codec.udp
]


def test_every_protocol_takes_part():
    assert PEERS.keys() == CODECS.keys()
    assert all(NAMES.values())
    # The others cannot send a name that the other can.
    apart = {frozenset((one, other)) for one in NAMES for other in NAMES if not NAMES[one] & NAMES[other]}
    assert apart == {frozenset((name, "tk103")) for name in ("gl200", "gt06", "ruptela")}


class Line:
    """One end of a connection to a port, or a socket that sends datagrams to it."""

    def __init__(self, stream, datagrams):
        self.stream, self.datagrams = stream, datagrams
        self.socket = stream.socket if stream is not None else datagrams

    async def send(self, peer, message):
        """Send a message, where there is one."""
        if self.datagrams is not None:
            message = peer.datagram(message)
        if message:
            await (self.stream.send_all(message) if self.stream is not None else self.datagrams.send(message))

    async def receive(self):
        """Return what comes next; empty at the end of a connection."""
        try:
            if self.stream is not None:
                return await self.stream.receive_some()
            return await self.datagrams.recv(65_535)
        except (OSError, trio.BrokenResourceError):
            return b""

    def pending(self):
        """Whether something has come that was not received."""
        return bool(select.select([self.socket], [], [], 0)[0])


@pytest.fixture
async def connect():
    """`await connect("udp", port)`"""
    opened = []

    async def make(transport, port):
        if transport == "tcp":
            stream = await trio.open_tcp_stream(LOOPBACK, port)
            opened.append(stream.socket)
            return Line(stream, None)
        datagrams = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
        opened.append(datagrams)
        await datagrams.connect((LOOPBACK, port))
        return Line(None, datagrams)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def ports(free_port):
    """The offset of ports, all free."""
    return free_port(*(codec.port for codec in CODECS.values()))


@pytest.fixture
def places(ports):
    return {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=ports)}


def refusals(protocol):
    return DEVICES_REFUSED.labels(protocol)._value.get()


async def until(condition):
    while True:
        if condition():
            return
        await trio.sleep(0.002)


async def positions(served):
    return (await served.admin.get("/positions")).json()


def others_of(protocol, name):
    """The protocols that attack a device with this name: each pair with one name, the IMEI where both can."""
    shared = [other for other in CODECS if other != protocol and name in NAMES[other]]
    return [other for other in shared if name == max(NAMES[other] & NAMES[protocol], key=len)]


async def report(served, line, peer, protocol, moment):
    """Report until the position is stored."""
    await line.send(peer, peer.login())
    if line.stream is not None and not CODECS[protocol].request_response and peer.login():
        await line.receive()
    await line.send(peer, peer.position(moment, STATE))
    while True:
        if await positions(served):
            return
        await trio.sleep(0.005)


async def attack(connect, ports, protocol, name, transport):
    """Send a login and positions as a peer of this protocol would, until they are refused."""
    before = refusals(protocol)
    line, peer = await connect(transport, CODECS[protocol].port + ports), PEERS[protocol](name)
    await line.send(peer, peer.login())
    for minutes in range(1, 4):
        await line.send(peer, peer.position(NOON + timedelta(minutes=minutes), STATE))
    await until(lambda: refusals(protocol) > before)
    return line


@pytest.mark.parametrize(("protocol", "transport"), EACH)
async def test_no_other_protocol_reports_for_a_device_closes_its_connection_or_gets_its_command(
    protocol, transport, starting, places, ports, connect
):
    async with starting(protocols=tuple(CODECS), **places) as served:
        with trio.fail_after(120):
            for name in filter(partial(others_of, protocol), NAMES[protocol]):
                device_id = await served.device(served.admin, name)
                line, peer = await connect(transport, CODECS[protocol].port + ports), PEERS[protocol](name)
                await report(served, line, peer, protocol, NOON)
                attackers = [
                    await attack(connect, ports, other, name, way)
                    for other in others_of(protocol, name)
                    for way in ("tcp", "udp")
                    if way == "tcp" or CODECS[other].udp
                ]
                assert attackers
                (stored,) = await positions(served)
                assert (stored["protocol"], stored["fixTime"]) == (protocol, "2026-05-01T12:00:00Z")
                while line.pending():
                    assert await line.receive(), "the connection of the device was closed"
                sent = {
                    "deviceId": device_id,
                    "type": "engineStop" if protocol == "suntech" else "custom",
                    "attributes": {"data": '{"a":"8104"}' if protocol == "owntracks" else "8104"},
                }
                answer = await served.admin.post("/commands/send", json=sent)
                if CODECS[protocol].request_response:
                    assert answer.status == 202, answer.text
                    await line.send(peer, peer.position(NOON + timedelta(hours=1), STATE))
                else:
                    assert answer.status == 200, answer.text
                assert await line.receive()
                for attacker in attackers:
                    while attacker.pending() and (data := await attacker.receive()):
                        assert not holds_command(data)
                found = (await served.admin.get(f"/devices/{device_id}/binding")).json()
                assert found["protocol"] == protocol
                assert {each["protocol"] for each in found["others"]} == set(others_of(protocol, name))
                assert (await served.admin.delete(f"/devices/{device_id}")).status == 204


@pytest.mark.parametrize("protocol", [name for name, codec in CODECS.items() if codec.udp])
async def test_datagrams_of_its_own_protocol_take_no_command_of_a_device_that_is_connected(
    protocol, starting, places, ports, connect
):
    with trio.fail_after(120):
        async with starting(protocols=(protocol,), **places) as served:
            port = CODECS[protocol].port + ports
            for name in NAMES[protocol]:
                device_id = await served.device(served.admin, name)
                line, peer = await connect("tcp", port), PEERS[protocol](name)
                await report(served, line, peer, protocol, NOON)
                stranger, posing = await connect("udp", port), PEERS[protocol](name)
                await stranger.send(posing, posing.login())
                await stranger.send(posing, posing.position(NOON + timedelta(minutes=1), STATE))
                await fixed_at(served, "2026-05-01T12:01:00Z")
                while line.pending():
                    assert await line.receive(), "the connection of the device was closed"
                sent = {"deviceId": device_id, "type": "custom", "attributes": {"data": "8104"}}
                answer = await served.admin.post("/commands/send", json=sent)
                assert answer.status == 200, answer.text
                assert holds_command(await line.receive())
                while stranger.pending():
                    assert not holds_command(await stranger.receive())
                assert (await served.admin.delete(f"/devices/{device_id}")).status == 204


async def fixed_at(served, time):
    """Wait until the latest position is of this time."""
    while True:
        if (await positions(served))[0]["fixTime"] == time:
            return
        await trio.sleep(0.005)


def holds_command(data):
    """Whether the command of the test is in it, as text or in binary."""
    return b"8104" in data or b"\x81\x04" in data
