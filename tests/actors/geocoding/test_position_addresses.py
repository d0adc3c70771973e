"""Stored positions and a real small geocoder: which get an address, when, and who is sent it."""

import json
import threading
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, PositionWriter
from motorpool.actors.geocoding import position_addresses
from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.geocoding.position_addresses import FAILURE_SECONDS, PositionAddresses
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.counters import ADDRESSES_SKIPPED
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.messages.topics import LATEST_POSITIONS, POSITIONS
from motorpool.runtime import ChildSpec, TaskSpec
from motorpool.storage.devices import positions
from motorpool.storage.records import Position

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def position(device_id, latitude, **fields):
    times = {"server_time": NOON, "device_time": NOON, "fix_time": NOON}
    return Position(device_id=device_id, protocol="osmand", latitude=latitude, **{**times, **fields})


@pytest.fixture
def nominatim(web_server):
    """A geocoder whose addresses name the latitude; it answers while `answering` is set."""

    def answer(asked):
        server.answering.wait(60)
        if server.fails:
            return 503, b""
        latitude = parse_qs(urlsplit(asked.path).query)["lat"][0]
        return 200, json.dumps({"display_name": latitude, "address": {"road": f"at {latitude}"}}).encode()

    server = web_server(answer)
    server.answering, server.fails = threading.Event(), False
    server.answering.set()
    yield server
    server.answering.set()


@pytest.fixture
def addressing(tree, database, nominatim, clock):
    """`async with addressing(reuse_metres=50) as system:` writer, directory and the actor."""

    def start(**fields):
        service = GeocoderSettings(
            type="nominatim",
            url=nominatim.url,
            positions=True,
            **{"per_second": 0, "seconds": 60.0, **fields},
        )
        geocoder = Geocoder(OutgoingHttp(), service, clock.monotonic)
        return tree(
            ChildSpec(
                kind=POSITION_WRITER,
                factory=lambda: PositionWriter(database.urgent() if False else database),
            ),
            ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
            TaskSpec(
                name="position_addresses",
                factory=lambda: PositionAddresses(database, lambda: geocoder),
            ),
        )

    return start


class Acknowledged:
    """Stands for the `Deferred` of a request."""

    def __init__(self):
        self.answers = []

    def answer(self, value):
        self.answers.append(value)


async def store(system, time, *rows):
    replies = []
    for row in rows:
        replies.append(Acknowledged())
        await system.ref(POSITION_WRITER).tell(Append(row, reply=replies[-1]))
    while not all(reply.answers for reply in replies):
        await time.passes(0.02)
    return [reply.answers[0] for reply in replies]


async def addresses_of(database, time, stored, expected):
    """Wait until the stored positions have the addresses."""
    ids = [each.id for each in stored]
    while (found := [row.address for row in await positions.TABLE.fetch_many(database, ids)]) != expected:
        assert all(address in (None, wanted) for address, wanted in zip(found, expected, strict=True))
        await time.passes(0.5)


async def test_a_stored_position_gets_an_address_and_is_sent_once_more(addressing, database, time):
    async with addressing() as system:
        ref = system.ref(DIRECTORY)
        assert await ref.ask(GetLatestPositions((1,))) == []
        sent = system.topic(LATEST_POSITIONS).subscribe()
        (stored,) = await store(system, time, position(1, 49.5))
        await addresses_of(database, time, [stored], ["at 49.5000"])
        ((again,),) = await sent.receive_batch()
        assert (again.id, again.address) == (stored.id, "at 49.5000")
        assert (await ref.ask(GetLatestPositions((1,))))[0].address == "at 49.5000"


async def test_an_acknowledgement_does_not_wait_and_only_the_latest_is_sent(
    addressing, database, nominatim, time
):
    nominatim.answering.clear()
    async with addressing() as system:
        assert await system.ref(DIRECTORY).ask(GetLatestPositions((1,))) == []
        sent = system.topic(LATEST_POSITIONS).subscribe()
        stored = await store(system, time, position(1, 49.1), position(1, 49.2))
        nominatim.answering.set()
        await addresses_of(database, time, stored, ["at 49.1000", "at 49.2000"])
        published = [each.id for batch in await sent.receive_batch() for each in batch]
        assert published == [stored[1].id]


async def test_the_last_address_is_good_for_places_close_by(addressing, database, nominatim, time):
    async with addressing(reuse_metres=100) as system:
        first = await store(system, time, position(1, 49.0))
        await addresses_of(database, time, first, ["at 49.0000"])
        # 56 m, then 111 m from the first; and another device.
        later = await store(system, time, position(1, 49.0005), position(1, 49.0010), position(2, 49.0005))
        await addresses_of(database, time, later, ["at 49.0000", "at 49.0010", "at 49.0005"])
    assert len(nominatim.asked) == 3


async def test_positions_without_a_fix_and_with_an_address_are_left_alone(
    addressing, database, nominatim, time
):
    async with addressing() as system:
        stored = await store(
            system, time, position(1, 0.0), position(1, 1.0, address="known"), position(1, 2.0)
        )
        await addresses_of(database, time, stored, [None, "known", "at 2.0000"])
    assert len(nominatim.asked) == 1


async def test_a_geocoder_that_fails_is_left_in_peace_for_a_while(
    addressing, database, nominatim, time, caplog
):
    nominatim.fails, before = True, ADDRESSES_SKIPPED.value
    async with addressing() as system:
        skipped = await store(system, time, *(position(1, float(number)) for number in range(1, 11)))
        while ADDRESSES_SKIPPED.value < before + 4:
            await time.settle()
        assert len(nominatim.asked) == 4
        nominatim.fails = False
        await time.passes(FAILURE_SECONDS + 1)
        await addresses_of(database, time, skipped[4:], [f"at {number}.0000" for number in range(5, 11)])
    assert caplog.text.count("positions get no address at present") == 1


async def test_what_waits_is_bounded(addressing, nominatim, time, monkeypatch):
    monkeypatch.setattr(position_addresses, "MAX_WAITING", 5)
    nominatim.answering.clear()
    before = ADDRESSES_SKIPPED.value
    async with addressing() as system:
        for number in range(1, 101):
            system.topic(POSITIONS).publish((position(1, float(number % 80 + 1), id=number),))
        await time.settle()
        assert 100 - 5 - position_addresses.MAX_CONCURRENT <= ADDRESSES_SKIPPED.value - before <= 95
        nominatim.answering.set()


async def test_addresses_wait_for_the_database(addressing, database, outage, time):
    async with addressing() as system:
        stored = await store(system, time, position(1, 3.0))
        await addresses_of(database, time, stored, ["at 3.0000"])
        (later,) = await store(system, time, position(1, 4.0))
        with outage():
            await time.passes(3, step=1)
        await time.passes(FAILURE_SECONDS + 2, step=5)
        await addresses_of(database, time, [later], ["at 4.0000"])
