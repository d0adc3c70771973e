from datetime import UTC, datetime

import msgspec

from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.words.record_json import encode
from motorpool.api.device_json import DeviceJsonCache
from motorpool.storage.records import Device

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def device(number, **fields):
    return Device(id=number, name=f"Vehicle {number}", unique_id=str(number), **fields)


def status(number, position_id=7):
    return DeviceStatus(number, "online", NOW, position_id)


def test_a_device_is_encoded_with_its_status():
    row = device(1, attributes={"webhook.secret": "hidden", "speedLimit": 43.2})
    (text,) = DeviceJsonCache().encode_all([(row, status(1))])
    assert bytes(text) == encode(status(1).fill_in(row))
    assert b"hidden" not in bytes(text)


def test_a_bare_device_has_no_attributes():
    row = device(1, attributes={"speedLimit": 43.2})
    (text,) = DeviceJsonCache(bare=True).encode_all([(row, status(1))])
    shown = msgspec.json.decode(text)
    assert shown == msgspec.json.decode(encode(status(1).fill_in(row))) | {"attributes": {}}


def test_what_has_not_changed_is_not_encoded_again():
    cache, row = DeviceJsonCache(), device(1)
    first, second = (cache.encode_all([(row, status(1))])[0] for _ in range(2))
    assert first is second


def test_another_row_and_another_status_are_encoded():
    cache, row = DeviceJsonCache(), device(1)
    cache.encode_all([(row, status(1))])
    renamed = msgspec.structs.replace(row, name="Renamed")
    for pair in ((renamed, status(1)), (renamed, status(1, 8)), (row, status(1, 8)), (row, status(1))):
        (text,) = cache.encode_all([pair])
        assert bytes(text) == encode(pair[1].fill_in(pair[0]))


def test_long_attributes_displace_others():
    cache = DeviceJsonCache(max_bytes=10_000)
    rows = [device(number, attributes={"text": "x" * 900}) for number in range(1, 31)]
    for row in rows:
        cache.encode_all([(row, status(row.id))])
    kept = [each for each in rows if each.id in cache._encoded]
    assert kept == rows[-len(kept) :]
    assert 3 <= len(kept) <= 10
    assert cache._bytes == sum(each.size for each in cache._encoded.values())
    assert [bytes(text) for text in cache.encode_all((row, status(row.id)) for row in rows)] == [
        encode(status(row.id).fill_in(row)) for row in rows
    ]
    assert cache._bytes <= 10_000
