"""The actor: what was stored, from its topics to a real HTTP server."""

import json
from datetime import UTC, datetime

import pytest

from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents, PositionWriter
from motorpool.actors.forwarding import destinations, forwarder
from motorpool.actors.forwarding.forwarder import Forwarder
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.changes import COMMITTED_CHANGES, DeviceChanged
from motorpool.actors.messages.counters import FORWARD_DROPPED
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.words.record_json import encode
from motorpool.runtime import ChildSpec, TaskSpec
from motorpool.storage.devices import devices
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def position(device, **fields):
    times = {"server_time": NOON, "device_time": NOON, "fix_time": NOON}
    return Position(device_id=device.id, protocol="osmand", valid=True, **{**times, **fields})


@pytest.fixture
def forwarding(tree, database, endpoint):
    """`async with forwarding(events=False) as system:` writer, directory and forwarder."""

    def start(*, http=None, **settings):
        chosen = ForwardSettings(**{"url": endpoint.url, **settings})
        return tree(
            TaskSpec(name="forwarder", factory=lambda: Forwarder(database, http or OutgoingHttp(), chosen)),
            ChildSpec(
                kind=POSITION_WRITER,
                factory=lambda: PositionWriter(database.urgent() if False else database),
            ),
            ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
        )

    return start


class Reply:
    """Stands for the `Deferred` of a request."""

    def __init__(self):
        self.answers = []

    def answer(self, value):
        self.answers.append(value)


@pytest.fixture
def store(time):
    """`await store(system, position, event, …)`: the stored position."""

    async def stored(system, row, *events):
        reply = Reply()
        await system.ref(POSITION_WRITER).tell(Append(row, events=events, reply=reply))
        while not reply.answers:
            await time.passes(0.02)
        return reply.answers[0]

    return stored


async def test_a_position_and_its_events_are_sent_as_the_api_shows_them(
    forwarding, endpoint, make_device, store, time
):
    device = await make_device(attributes={"fuel": 50})
    alarm = Event(type="alarm", event_time=NOON, device_id=device.id, attributes={"alarm": "sos"})
    async with forwarding() as system:
        stored = await store(system, position(device, latitude=1.5, attributes={"motion": True}), alarm)
        first, second = await endpoint.received(2)
    assert first["position"] == json.loads(encode(stored))
    assert first["position"]["fixTime"] == "2026-06-15T12:00:00Z"
    shown = {**json.loads(encode(device)), "positionId": stored.id, "lastUpdate": "2026-06-15T12:00:00Z"}
    assert first == {"position": first["position"], "device": shown}
    assert second["event"]["attributes"] == {"alarm": "sos"}
    assert second["event"]["positionId"] == stored.id
    assert second["event"]["id"] > 0
    assert (second["position"], second["device"]) == (first["position"], shown)


async def test_an_event_of_an_earlier_position_brings_it_along(
    forwarding, endpoint, make_device, store, time
):
    device = await make_device()
    async with forwarding(positions=False) as system:
        stored = await store(system, position(device))
        await store(system, position(device))
        moving = Event(type="deviceMoving", event_time=NOON, device_id=device.id, position_id=stored.id)
        online = Event(type="deviceOnline", event_time=NOON, device_id=device.id)
        await system.ref(POSITION_WRITER).tell(AppendEvents((moving, online)))
        await time.passes(1)
        received = {each["event"]["type"]: each["position"] for each in await endpoint.received(2)}
    assert received["deviceMoving"]["id"] == stored.id
    assert received["deviceOnline"] is None


async def test_a_change_of_the_device_holds_from_the_next_message_on(
    forwarding, endpoint, make_device, database, store, time
):
    device = await make_device()
    async with forwarding(events=False) as system:
        await store(system, position(device))
        await endpoint.received(1)
        async with database.transaction() as transaction:
            await transaction.execute("update devices set name = 'Lorry' where id = $1", device.id)
        system.topic(COMMITTED_CHANGES).publish((DeviceChanged(device.id, "updated", ("name",)),))
        await store(system, position(device))
        assert (await endpoint.received(1))[0]["device"]["name"] == "Lorry"


async def test_what_a_deleted_device_left_is_not_sent(
    forwarding, endpoint, make_device, database, store, time
):
    gone, kept = await make_device("1"), await make_device("2")
    async with forwarding() as system:
        await devices.TABLE.delete(database, gone.id)
        await store(system, position(gone))
        await store(system, position(kept))
        assert [each["device"]["id"] for each in await endpoint.received(1)] == [kept.id]


async def test_a_full_queue_drops_the_oldest_and_ingest_does_not_wait(
    forwarding, hanging_port, make_device, caplog, store, time, monkeypatch
):
    device = await make_device()
    before = FORWARD_DROPPED.labels("full")._value.get()
    monkeypatch.setattr(forwarder, "STOP_SECONDS", 0.05)
    async with forwarding(url=f"http://127.0.0.1:{hanging_port}", queue=10, connections=1) as system:
        for number in range(300):
            system.topic(POSITIONS).publish((position(device, id=number + 1),))
        await time.settle()
        await store(system, position(device))
        await time.settle()
    # Ten wait to be sent, and one is being sent.
    assert FORWARD_DROPPED.labels("full")._value.get() - before == 301 - 11
    assert "dropped, because the queue is full" in caplog.text
    assert "messages were not forwarded before the stop" in caplog.text


async def test_an_unavailable_database_delays_messages(forwarding, endpoint, make_device, outage, time):
    device = await make_device()
    async with forwarding() as system:
        with outage():
            system.topic(POSITIONS).publish((position(device, id=1), position(device, id=2)))
            await time.passes(20, step=1)
            assert endpoint.web.asked == []
        await time.passes(20, step=1)
        assert [each["position"]["id"] for each in await endpoint.received(2)] == [1, 2]


async def test_the_stop_sends_what_is_queued(forwarding, endpoint, make_device):
    device = await make_device()
    async with forwarding() as system:
        for number in range(20):
            system.topic(POSITIONS).publish((position(device, id=number + 1),))
    assert [each["position"]["id"] for each in await endpoint.received(20)] == list(range(1, 21))


async def test_a_device_has_a_url_of_its_own_where_that_is_allowed(
    forwarding, endpoint, make_device, web_server, store, time
):
    own = web_server()
    device = await make_device(attributes={"forward.url": own.url + "/own"})
    http = OutgoingHttp(("127.0.0.0/8",))
    async with forwarding(http=http, device_urls=True) as system:
        await store(system, position(device))
        await endpoint.received(1)
    assert [asked.path for asked in own.asked] == ["/own"]
    async with forwarding(http=http, device_urls=False) as system:
        await store(system, position(device))
        await endpoint.received(1)
    assert len(own.asked) == 1


async def test_many_urls_of_devices_are_bounded(
    forwarding, make_device, monkeypatch, web_server, caplog, store, time
):
    monkeypatch.setattr(destinations, "MAX_DEVICE_URLS", 2)
    own = web_server()
    rows = [await make_device(str(n), attributes={"forward.url": f"{own.url}/{n}"}) for n in range(3)]
    async with forwarding(http=OutgoingHttp(("127.0.0.0/8",)), url=None, device_urls=True) as system:
        for row in rows:
            await store(system, position(row))
    assert sorted(asked.path for asked in own.asked) == ["/0", "/1"]
    assert "more than 2 URLs are in use" in caplog.text
