import json
from datetime import UTC, datetime

import msgspec

from motorpool.actors.words.record_json import encode
from motorpool.api.position_json import PositionJsonCache
from motorpool.storage.records import Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def position(number):
    return Position(id=number, device_id=1, fix_time=NOON, attributes={"sat": 9})


def test_a_position_is_encoded_as_everywhere_else_and_only_once():
    cache = PositionJsonCache()
    first, again = cache.encode_all([position(1)]), cache.encode_all([position(1)])
    assert bytes(first[0]) == encode(position(1))
    assert again[0] is first[0]
    assert json.loads(encode([*cache.encode_all([position(2), position(3)])])) == [
        json.loads(encode(position(2))),
        json.loads(encode(position(3))),
    ]


def test_the_cache_is_bounded_and_keeps_the_newest():
    cache = PositionJsonCache(max_positions=10)
    for number in range(1, 12):
        cache.encode_all([position(number)])
    kept = cache.encode_all([position(11)])[0]
    assert cache.encode_all([position(11)])[0] is kept
    assert len(cache._encoded) == 5
    many = cache.encode_all([position(number) for number in range(1, 31)])
    assert [msgspec.json.decode(text)["id"] for text in many] == list(range(1, 31))


def test_a_position_that_has_got_an_address_is_encoded_again():
    cache = PositionJsonCache()
    cache.encode_all([position(1)])
    addressed = msgspec.structs.replace(position(1), address="6 Marktplatz, B")
    assert [bytes(text) for text in cache.encode_all([addressed, position(1)])] == [
        encode(addressed),
        encode(position(1)),
    ]
