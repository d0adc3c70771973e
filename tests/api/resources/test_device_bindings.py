"""What devices are bound to and have to present, over the API and at the ports."""

import logging
from datetime import UTC, datetime

import pytest
import trio
from tests.api.cases import on_one_server
from tests.api.conftest import NOON

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.bench.vehicles.jt808.platform_messages import RegistrationResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"
SECRET = "correct horse"
MASK = "********"


class Port:
    """A connection to the port of a protocol."""

    def __init__(self, stream):
        self.stream = stream

    async def asks(self, target, body=None):
        """Send a request of OsmAnd; the status of its answer."""
        content = b"" if body is None else body.encode()
        method = "GET" if body is None else "POST"
        head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n"
        await self.stream.send_all(head.encode() + content)
        return int((await self.stream.receive_some()).split()[1])

    async def says(self, terminal, message):
        """Send a message of a terminal; the answer."""
        await self.stream.send_all(message)
        while True:
            data = await self.stream.receive_some()
            assert data, "the connection was closed"
            for answer in terminal.receive(data):
                return answer


@pytest.fixture
async def connected(starting, free_port):
    """`async with connected("osmand") as (served, open_port):`"""
    opened = []

    class Running:
        def __init__(self, protocol):
            self.port = free_port()
            self.places = {
                "device": DeviceSettings(host=LOOPBACK),
                "port": PortSettings(offset=self.port - CODECS[protocol].port),
            }
            self.running = starting(protocols=(protocol,), **self.places)

        async def __aenter__(self):
            return await self.running.__aenter__(), self.open

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

        async def open(self):
            stream = await trio.open_tcp_stream(LOOPBACK, self.port)
            opened.append(stream.socket)
            return Port(stream)

    yield Running
    for each in opened:
        each.close()


async def change(served, device_id, **fields):
    """Edit a device as clients do: all of it is sent back."""
    known = (await served.admin.get(f"/devices/{device_id}")).json()
    return await served.admin.put(f"/devices/{device_id}", json={**known, **fields})


async def bound_to(served, device_id):
    return (await served.admin.get(f"/devices/{device_id}/binding")).json()["protocol"]


@pytest.fixture
async def device_id(served):
    return await served.device(served.admin, "van")


async def test_who_may_edit_a_device_binds_it(served):
    hers = await served.user("eve", deviceLimit=-1)
    device_id = await served.device(hers, "van")
    unbound = {"deviceId": device_id, "protocol": None, "since": None, "registration": None, "others": []}
    path = f"/devices/{device_id}/binding"
    assert (await hers.get(path)).json() == unbound
    bound = (await hers.put(path, json={"protocol": "osmand"})).json()
    assert bound == {**unbound, "protocol": "osmand", "since": bound["since"]}
    assert datetime.fromisoformat(bound["since"]) >= datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert (await hers.put(path, json={"protocol": "morse"})).status == 400
    assert (await hers.put(path, json={})).status == 400
    assert (await hers.put(path, json={"protocol": None})).json() == unbound
    actions = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    bound = [each["attributes"] for each in actions if each["actionType"] == "bind"]
    assert sorted(bound, key=str) == [
        {"protocol": {"before": None, "after": "osmand"}},
        {"protocol": {"before": "osmand", "after": None}},
    ]
    await change(served, device_id, attributes={"device.protocols": "jt808"})
    refused = await hers.put(path, json={"protocol": "osmand"})
    assert (refused.status, "device.protocols" in refused.text) == (400, True)


@pytest.mark.parametrize(
    ("fields", "is_kept"),
    [
        ({"name": "Van", "attributes": {"speedLimit": 40}}, True),
        ({"attributes": {"device.networks": "10.0.0.0/8"}}, True),
        ({"attributes": {"device.protocols": "gt06"}}, False),
        ({"attributes": {"device.binding": "registration"}}, False),
        ({"uniqueId": "other"}, False),
    ],
)
async def test_a_device_that_is_to_report_in_another_way_is_bound_by_its_next_login(served, fields, is_kept):
    device_id = await served.device(served.admin, "van")
    await served.admin.put(f"/devices/{device_id}/binding", json={"protocol": "jt808"})
    assert (await change(served, device_id, **fields)).status == 200
    assert await bound_to(served, device_id) == ("jt808" if is_kept else None)


@on_one_server(
    ("key", "value"),
    [
        ("device.binding", "name"),
        ("device.binding", True),
        ("device.protocols", "jt808, morse"),
        ("device.networks", "10.0.0.0/40"),
        ("device.networks", ["10.0.0.0/8"]),
        ("device.secret", "short"),
        ("device.secret", 12345678),
    ],
)
async def test_what_cannot_be_followed_is_not_stored(served, device_id, key, value):
    group = {"name": "all", "attributes": {key: value}}
    settings = (await served.admin.get("/server")).json()
    for answer in (
        await change(served, device_id, attributes={key: value}),
        await served.admin.post("/groups", json=group),
        await served.admin.put("/server", json={**settings, "attributes": {key: value}}),
    ):
        assert answer.status == 400
        assert f"attributes.{key}" in answer.text
    for empty in ("", None):
        assert (await change(served, device_id, attributes={key: empty})).status == 200


@pytest.mark.parametrize(
    "attributes",
    [
        {"device.binding": "none"},
        {"device.protocols": "osmand"},
        {"device.networks": "10.0.0.0/8"},
        {"device.secret": SECRET},
    ],
)
async def test_who_may_not_change_devices_changes_who_they_are_by_no_group(served, attributes):
    ann = await served.user("ann", deviceReadonly=True)
    plain = {"name": "all", "attributes": {"speedLimit": 50}}
    made = await ann.post("/groups", json=plain)
    path = f"/groups/{made.json()['id']}"
    for answer in (
        await ann.post("/groups", json={"name": "all", "attributes": attributes}),
        await ann.put(path, json={**plain, "attributes": attributes}),
    ):
        assert (answer.status, answer.text) == (400, "the user may not change devices")
    read = (await served.admin.put(path, json={**plain, "attributes": attributes})).json()
    assert (await ann.put(path, json={**read, "name": "many"})).status == 200
    assert (await ann.put(path, json=plain)).status == (200 if "device.secret" in attributes else 400)
    # Nor by taking groups into it or out of it, nor by deleting it.
    inner, outer = [(await ann.post("/groups", json={"name": "x"})).json() for _ in range(2)]
    inner = (await served.admin.put(f"/groups/{inner['id']}", json={**inner, "groupId": read["id"]})).json()
    for answer in (
        await ann.put(f"/groups/{outer['id']}", json={**outer, "groupId": inner["id"]}),
        await ann.put(f"/groups/{inner['id']}", json={**inner, "groupId": 0}),
        await ann.delete(f"/groups/{inner['id']}"),
        await ann.delete(path),
    ):
        assert (answer.status, answer.text) == (400, "the user may not change devices")
    assert (await ann.put(f"/groups/{inner['id']}", json={**inner, "name": "y"})).status == 200
    assert (await ann.delete(f"/groups/{outer['id']}")).status == 204


async def test_nobody_is_shown_a_secret_and_it_stays_when_the_mask_is_sent_back(served, database):
    secret = {"device.secret": SECRET}
    device_id = await served.device(served.admin, "van", attributes=secret)
    group = (await served.admin.post("/groups", json={"name": "all", "attributes": secret})).json()
    settings = (await served.admin.get("/server")).json()
    answers = [
        await served.admin.get("/devices"),
        await served.admin.get(f"/devices/{device_id}"),
        await served.admin.get("/groups"),
        await served.admin.put("/server", json={**settings, "attributes": secret}),
        await served.client().get("/server"),
        await change(served, device_id, name="Van"),
        await served.admin.put(f"/groups/{group['id']}", json=group),
        await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"),
    ]
    assert [answer.status for answer in answers] == [200] * len(answers)
    for answer in answers[:-1]:
        assert MASK in answer.text
    assert not [answer.text for answer in answers if SECRET in answer.text]
    for table in ("devices", "groups", "server"):
        assert await database.fetch_value(f"select attributes->>'device.secret' from {table}") == SECRET
    expression = {
        "description": "x",
        "attribute": "x",
        "type": "string",
        "expression": '`device.secret` ?? "none"',
    }
    for rule in ({"processing.computedAttributes.deviceAttributes": True},):
        await change(served, device_id, attributes={**secret, **rule})
    tested = await served.admin.post(f"/attributes/computed/test?deviceId={device_id}", json=expression)
    assert SECRET not in tested.text


async def test_requests_are_let_in_with_the_secret_each_for_itself(connected, caplog):
    caplog.set_level(logging.DEBUG)
    async with connected("osmand") as (served, open_port):
        device_id = await served.device(served.admin, "phone", attributes={"device.secret": SECRET})
        await served.device(served.admin, "other", attributes={"device.secret": "another horse"})
        place = "/?id=phone&lat=52.5&lon=13.4&timestamp=1777636800"
        coords = '"coords": {"latitude": 1, "longitude": 2}'
        json_place = f'{{"device_id": "phone", "location": {{"timestamp": 1777636800, {coords}}}}}'
        right = SECRET.replace(" ", "%20")
        with trio.fail_after(120):
            # A proxy sends the requests of several phones over one connection.
            proxy = await open_port()
            assert await proxy.asks(f"{place}&secret={right}") == 200
            assert await proxy.asks(f"{place}&secret={right}1") == 400
            proxy = await open_port()
            assert await proxy.asks(f"{place}&secret={right}&x=1") == 200
            assert await proxy.asks("/?id=other&lat=1&lon=2&secret=another%20horse") == 200
            assert await proxy.asks(f"{place}&secret={right}&x=2") == 200
            assert await proxy.asks(place) == 400
            assert await (await open_port()).asks("/", f"{place[2:]}&secret={right}") == 200
            for target in ("/", f"/?secret={right}"):
                phone = await open_port()
                await phone.stream.send_all(
                    f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(json_place)}\r\n\r\n{json_place}".encode()
                )
                assert (await phone.stream.receive_some()).split()[1] == (b"404" if target == "/" else b"200")
            assert await (await open_port()).asks(f"/?lat=x&secret={right}") == 400
        found = (await served.admin.get(f"/devices/{device_id}/binding")).json()
        assert [(each["reason"], each["host"]) for each in found["others"]] == [("secret", LOOPBACK)]
        shown = [
            (await served.admin.get(path)).text
            for path in (
                "/positions",
                "/devices",
                "/events?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z",
            )
        ]
        assert not [
            each for each in (*shown, caplog.text) if "horse" in each or SECRET.encode().hex() in each
        ]


async def test_a_terminal_with_a_code_is_not_replaced_by_who_knows_its_number(connected):
    async with connected("jt808") as (served, open_port):
        device_id = await served.device(served.admin, "13912345678", attributes={"device.secret": SECRET})
        terminal, stranger = Terminal("13912345678"), Terminal("13912345678")
        body = encode_location(52.5, 13.4, NOON)
        with trio.fail_after(120):
            line = await open_port()
            answer = await line.says(terminal, terminal.register(plate="B-1"))
            assert isinstance(answer, RegistrationResponse)
            assert answer.code not in ("", "13912345678", "013912345678")
            # It is let in by the code alone.
            assert (await line.says(terminal, terminal.location(body))).result == 1
            terminal.code = answer.code
            assert (await line.says(terminal, terminal.authenticate())).result == 0
            assert (await line.says(terminal, terminal.location(body))).result == 0
            for code, sent in (
                ("13912345678", stranger.authenticate),
                ("0" * 16, stranger.authenticate),
                ("", lambda: stranger.location(body)),
                ("", lambda: stranger.register(plate="B-1")),
            ):
                stranger.code = code
                refused = await (await open_port()).says(stranger, sent())
                assert refused.result != 0
            later = await open_port()
            assert (await later.says(terminal, terminal.heartbeat())).result == 1
            assert (await line.says(terminal, terminal.heartbeat())).result == 0
            sent = {"deviceId": device_id, "type": "positionSingle"}
            assert (await served.admin.post("/commands/send", json=sent)).status == 200
            assert await line.stream.receive_some()
            # The terminal comes again, with the code that it has.
            assert (await later.says(terminal, terminal.authenticate())).result == 0
        assert len((await served.admin.get("/positions")).json()) == 1


async def test_without_a_secret_terminals_keep_the_code_that_they_have(connected):
    async with connected("jt808") as (served, open_port):
        device_id = await served.device(served.admin, "13912345678")
        terminal = Terminal("13912345678")
        with trio.fail_after(120):
            line = await open_port()
            assert (await line.says(terminal, terminal.register(plate="B-1"))).code == "13912345678"
            terminal.code = "of another platform"
            assert (await line.says(terminal, terminal.authenticate())).result == 0
            found = (await served.admin.get(f"/devices/{device_id}/binding")).json()
            assert found["registration"] == {
                "manufacturer": "MTRPL",
                "model": "SIM-1",
                "terminalId": "0000001",
            }
            # With one, what it presents first is kept.
            await change(served, device_id, attributes={"device.secret": SECRET})
            assert await line.stream.receive_some() == b""
            line = await open_port()
            assert (await line.says(terminal, terminal.authenticate())).result == 0
            stranger = Terminal("13912345678")
            stranger.code = "of a stranger"
            assert (await (await open_port()).says(stranger, stranger.authenticate())).result == 1


async def test_users_see_and_take_what_came_for_their_devices_alone(connected):
    async with connected("jt808") as (served, open_port):
        hers, his = await served.user("eve", deviceLimit=-1), await served.user("bob")
        device_id = await served.device(hers, "13912345678")
        path = f"/devices/{device_id}/binding"
        await hers.put(path, json={"protocol": "gt06"})
        terminal = Terminal("13912345678")
        with trio.fail_after(120):
            assert (await (await open_port()).says(terminal, terminal.register(plate="B-1"))).result == 4
            (other,) = (await hers.get(path)).json()["others"]
            assert (other["protocol"], other["reason"], other["refused"]) == ("jt808", "protocol", True)
            assert other["registration"]["terminalId"] == "0000001"
            assert ((await his.get(path)).status, (await his.put(path, json=other)).status) == (404, 400)
            taken = (await hers.put(path, json={"protocol": other["protocol"]})).json()
            assert (taken["protocol"], taken["others"]) == ("jt808", [])
            assert (await (await open_port()).says(terminal, terminal.register(plate="B-1"))).result == 0
        span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
        events = (await hers.get(f"/events?{span}&type=deviceLoginRefused")).json()
        assert [each["attributes"] for each in events] == [
            {"protocol": "jt808", "reason": "protocol", "host": LOOPBACK}
        ]
        assert (await his.get(f"/events?{span}")).json() == []


async def test_a_gateway_reports_for_those_of_its_devices_that_are_bound_to_its_protocol(connected):
    frame = b"*HQ,%b,V1,142231,A,2234.3860,N,11355.2780,E,047.00,092,050324,FFFFFFFF#"
    names = ("8612345678", "8612345679")
    async with connected("h02") as (served, open_port):
        ids = [await served.device(served.admin, name) for name in names]
        await served.admin.put(f"/devices/{ids[1]}/binding", json={"protocol": "gt06"})
        gateway = await open_port()
        with trio.fail_after(120):
            for _ in range(3):
                await gateway.stream.send_all(frame % names[1].encode())
                await gateway.stream.send_all(frame % names[0].encode())
                assert (await gateway.stream.receive_some()).startswith(b"*HQ,%b,V4,V1," % names[0].encode())
            await served.admin.put(f"/devices/{ids[1]}/binding", json={"protocol": "h02"})
            await gateway.stream.send_all(frame % names[1].encode())
            assert (await gateway.stream.receive_some()).startswith(b"*HQ,%b,V4,V1," % names[1].encode())
        assert [await bound_to(served, device_id) for device_id in ids] == ["h02", "h02"]
        shown = (await served.admin.get("/positions")).json()
        assert sorted(each["deviceId"] for each in shown) == ids


async def test_the_newest_datagrams_replace_no_connection(connected):
    login = b"##,imei:353358017784062,A;"
    async with connected("gps103") as (served, open_port):
        device_id = await served.device(served.admin, "353358017784062")
        line = await open_port()
        with trio.fail_after(120):
            await line.stream.send_all(login)
            assert await line.stream.receive_some() == b"LOAD"
            sender = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
            with sender:
                await sender.connect(line.stream.socket.getpeername())
                await sender.send(login)
                assert await sender.recv(100) == b"LOAD"
                sent = {"deviceId": device_id, "type": "engineStop"}
                assert (await served.admin.post("/commands/send", json=sent)).status == 200
                assert await line.stream.receive_some() == b"**,imei:353358017784062,J"
                await line.stream.aclose()
                while True:
                    if (await served.admin.get(f"/devices/{device_id}")).json()["status"] == "offline":
                        break
                    await trio.sleep(0.005)
                # The next one makes its address that of the device.
                report = (
                    b"imei:353358017784062,tracker,2403052222,,F,142231.000,A,2234.3860,N,11355.2780,E,25.40;"
                )
                while True:
                    await sender.send(report)
                    if (await served.admin.post("/commands/send", json=sent)).status == 200:
                        break
                    await trio.sleep(0.005)
                assert await sender.recv(100) == b"**,imei:353358017784062,J"
