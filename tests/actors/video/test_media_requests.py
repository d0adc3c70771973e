"""Which device a media connection belongs to."""

import msgspec
import pytest

from motorpool.actors.video import media_requests
from motorpool.actors.video.media_requests import (
    MEDIA_REQUESTS,
    IdentifyPublisher,
    MediaRequested,
    MediaRequests,
    PublisherDevice,
)
from motorpool.codecs.channel_map import CHANNEL_MAP_ATTRIBUTE, ChannelMap
from motorpool.runtime import ChildSpec
from motorpool.storage.errors import StorageUnavailable

HOME, ELSEWHERE = "192.0.2.7", "192.0.2.8"


@pytest.fixture
def finder(database, tree):
    return lambda: tree(ChildSpec(kind=MEDIA_REQUESTS, factory=lambda: MediaRequests(database)))


def asked(device_id, unique_id, kind="live", peer=HOME):
    return MediaRequested(device_id, unique_id, {"channel": 1}, kind, peer)


async def find(system, sim, peer=ELSEWHERE, kind="live"):
    return await system.ref(MEDIA_REQUESTS).ask(IdentifyPublisher(sim, peer, kind))


async def test_the_number_of_a_device_needs_no_request(make_device, finder):
    row = await make_device("13912345678")
    whole = await make_device("020000000007")
    async with finder() as system:
        assert await find(system, "013912345678") == PublisherDevice(row.id, "13912345678")
        assert await find(system, "13912345678") == PublisherDevice(row.id, "13912345678")
        assert await find(system, "00000000013912345678") == PublisherDevice(row.id, "13912345678")
        assert await find(system, "020000000007") == PublisherDevice(whole.id, "020000000007")
        assert await find(system, "13912345679") is None
        assert await find(system, "000000000000") is None


async def test_a_device_that_was_asked_to_come_is_known_without_the_database(finder, outage):
    numbers = ChannelMap({0: 1}, {1: 0})
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        await told.tell(msgspec.structs.replace(asked(7, "13912345678"), channels=numbers))
        with outage():
            assert await find(system, "013912345678") == PublisherDevice(7, "13912345678", numbers)
            with pytest.raises(StorageUnavailable):
                await find(system, "013912345678", kind="playback")
            # It has another name now.
            await told.tell(asked(7, "13912345679"))
            assert await find(system, "013912345679") == PublisherDevice(7, "13912345679")
            with pytest.raises(StorageUnavailable):
                await find(system, "013912345678")


async def test_the_last_digits_tell_among_open_requests(finder):
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        await told.tell(asked(7, "8613912345678"))
        await told.tell(asked(8, "13900000000"))
        assert await find(system, "013912345678") == PublisherDevice(7, "8613912345678")
        assert await find(system, "013912345670") is None
        assert await find(system, "00000912345678") is None  # nine digits are no evidence
        # Two that end alike: neither.
        await told.tell(asked(9, "9913912345678"))
        assert await find(system, "013912345678") is None


async def test_the_address_tells_where_one_request_alone_comes_from_it(finder):
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        await told.tell(asked(7, "camera-a"))
        for sim in ("000000000001", "000000000000"):
            assert await find(system, sim, HOME) == PublisherDevice(7, "camera-a")
            assert await find(system, sim, ELSEWHERE) is None
        assert await find(system, "000000000001", HOME, "playback") is None
        await told.tell(asked(7, "camera-a"))  # the same again is still one
        assert await find(system, "000000000001", HOME) == PublisherDevice(7, "camera-a")
        await told.tell(asked(8, "camera-b"))
        assert await find(system, "000000000001", HOME) is None


@pytest.mark.parametrize("sim", ["013900000007", "13900000007", "3900000007"])
async def test_a_device_whose_media_carried_its_number_is_none_of_those_at_its_address_without(finder, sim):
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        await told.tell(asked(7, "13900000007"))
        await told.tell(asked(8, "camera-b"))
        assert await find(system, "000000000000", HOME) is None
        assert await find(system, sim, HOME) == PublisherDevice(7, "13900000007")
        assert await find(system, "000000000000", HOME) == PublisherDevice(8, "camera-b")
        # It may be either of them once more.
        await told.tell(asked(7, "13900000007"))
        assert await find(system, "000000000000", HOME) is None


async def test_what_the_device_calls_its_channels_is_told_as_well(make_device, finder):
    row = await make_device("13912345678", attributes={CHANNEL_MAP_ATTRIBUTE: "0:1,1:2"})
    wrong = await make_device("13912345679", attributes={CHANNEL_MAP_ATTRIBUTE: "first"})
    numbers = ChannelMap({0: 1, 1: 2}, {1: 0, 2: 1})
    async with finder() as system:
        assert await find(system, "013912345678") == PublisherDevice(row.id, "13912345678", numbers)
        assert await find(system, "013912345679") == PublisherDevice(wrong.id, "13912345679")
        told = msgspec.structs.replace(asked(7, "camera-a"), channels=numbers)
        await system.ref(MEDIA_REQUESTS).tell(told)
        assert await find(system, "1", HOME) == PublisherDevice(7, "camera-a", numbers)


async def test_a_request_is_open_for_two_minutes(database, finder, time):
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        await told.tell(asked(7, "camera-a"))
        await time.passes(119)
        assert await find(system, "1", HOME) == PublisherDevice(7, "camera-a")
        await time.passes(2)
        assert await find(system, "1", HOME) is None
        await told.tell(asked(7, "camera-a"))
        assert await find(system, "1", HOME) == PublisherDevice(7, "camera-a")


async def test_only_so_many_requests_are_kept_the_newest_ones(finder, monkeypatch):
    monkeypatch.setattr(media_requests, "KEPT_REQUESTS", 3)
    async with finder() as system:
        told = system.ref(MEDIA_REQUESTS)
        for number in (1, 2, 3, 1, 4):
            await told.tell(asked(number, f"camera-{number}", peer=f"192.0.2.{number}"))
        found = [await find(system, "1", f"192.0.2.{number}") for number in (1, 2, 3, 4)]
        assert [each and each.device_id for each in found] == [1, None, 3, 4]


async def test_an_outage_is_told_to_the_asker(finder, outage):
    async with finder() as system:
        with outage(), pytest.raises(StorageUnavailable):
            await find(system, "13912345678")
        assert await find(system, "13912345678") is None
