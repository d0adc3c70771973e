import json
from datetime import UTC, datetime

import msgspec

from motorpool.api.calendar_texts import Texts
from motorpool.api.json import encode
from motorpool.storage.records import Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def position(number):
    return Position(id=number, device_id=1, fix_time=NOON, attributes={"sat": 9})


def test_a_position_is_written_as_everywhere_and_once():
    texts = Texts()
    first, again = texts.of([position(1)]), texts.of([position(1)])
    assert bytes(first[0]) == encode(position(1))
    assert again[0] is first[0]
    assert json.loads(encode([*texts.of([position(2), position(3)])])) == [
        json.loads(encode(position(2))),
        json.loads(encode(position(3))),
    ]


def test_what_is_kept_is_bounded_and_the_newest():
    texts = Texts(most=10)
    for number in range(1, 12):
        texts.of([position(number)])
    kept = texts.of([position(11)])[0]
    assert texts.of([position(11)])[0] is kept
    assert len(texts._known) == 5
    many = texts.of([position(number) for number in range(1, 31)])
    assert [msgspec.json.decode(text)["id"] for text in many] == list(range(1, 31))
