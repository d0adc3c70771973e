"""Messages explained part by part."""

from pathlib import Path
from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, explanation
from motorpool.codecs.devices.explanation import Part, explain

VECTORS = Path(__file__).parents[2] / "vectors"
ALARM = bytes.fromhex("787825261803050e161fc9026bfd1c0c38f1242f145c0901cc00287d001fb846060402020006491f0d0a")


def explained(name: str, message: bytes, model: str = "") -> list[Part]:
    codec = CODECS[name]()
    codec.configure(model, {})
    return explain(codec, message)


def at(parts: list[Part], offset: int) -> Part:
    return next(part for part in parts if part.offset <= offset < part.offset + part.length)


def test_each_part_of_a_binary_message_says_its_values():
    parts = explained("gt06", ALARM)
    said = [(part.offset, part.length, part.kind, dict(part.values)) for part in parts]
    assert said[:2] == [(0, 3, "layout", {}), (3, 1, "value", {"type": 38})]
    expected: list[tuple[int, int, str, dict[str, Any]]] = [
        (4, 6, "value", {"device_time": "2024-03-05T14:22:31Z"}),
        (11, 4, "value", {"latitude": 22.5731}),
        (15, 4, "value", {"longitude": 113.9213}),
        (28, 3, "value", {"cellTowers.1.cellId": 8120}),
        (34, 1, "value", {"alarm": "powerCut"}),
        (35, 1, "unknown", {}),
        (36, 2, "answer", {}),
        (38, 2, "check", {}),
        (40, 2, "layout", {}),
    ]
    assert [each for each in expected if each not in said] == []


def test_bits_of_a_byte_say_all_that_they_could():
    assert at(explained("gt06", ALARM), 31).values == {
        "alarm": "powerCut",
        "blocked": False,
        "charge": True,
        "ignition": True,
        "status": 70,
    }


def test_the_model_explains_the_same_bytes_differently():
    states = bytes.fromhex("78780a1346040300020005f4c10d0a")
    assert at(explained("gt06", states), 5).values == {"batteryLevel": 66}
    assert at(explained("gt06", states, "R11"), 5).values == {"power": 10.27}


def test_fields_of_a_text_have_their_numbers_whole():
    message = b"*HQ,353358017784062,V1,142231,A,2234.3860,N,11355.2780,E,025.38,092,050324,FFFFFBFF#"
    parts = explained("h02", message)
    latitude = at(parts, message.index(b"2234"))
    assert (bytes.fromhex(latitude.bytes), set(latitude.values)) == (b"2234.3860", {"latitude"})
    assert at(parts, 0).kind == "layout"


def test_a_changed_message_keeps_its_check_value():
    message = bytes.fromhex(
        "7E02000028013912345678000700000000000000030158702C06CA4D14002301D6005C24030522223101040000480E30011831010B64"
        "7E"
    )
    parts = explained("jt808", message)
    assert at(parts, 21).values == {"latitude": 22.5731}
    assert at(parts, len(message) - 2).kind == "check"


def test_the_rest_of_a_long_message_is_not_examined(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(explanation, "MAX_EXPLAINED_BYTES", 20)
    message = bytes.fromhex("797900409b01") + b"a" * 57 + bytes.fromhex("000100000d0a")
    last = explained("gt06", message)[-1]
    assert (last.offset, last.offset + last.length, last.kind) == (20, len(message), "unexamined")


def test_without_time_nothing_is_examined():
    parts = explain(CODECS["gt06"](), ALARM, seconds=-1)
    assert parts == [Part(0, len(ALARM), ALARM.hex(), "unexamined", {})]


@pytest.mark.parametrize("name", CODECS)
def test_the_parts_of_every_protocol_are_the_whole_message(name: str):
    lines = (VECTORS / f"{name}.txt").read_text("utf-8").splitlines()
    kind, _, rest = next(line for line in lines if line.startswith(("hex ", "text "))).partition(" ")
    is_text = kind == "text"
    message = rest.replace("\\r", "\r").replace("\\n", "\n").encode() if is_text else bytes.fromhex(rest)
    codec = CODECS[name]()
    parts = explain(codec, message[:150])
    assert b"".join(bytes.fromhex(part.bytes) for part in parts) == message[:150]
    assert [part.offset for part in parts[1:]] == [part.offset + part.length for part in parts[:-1]]
    assert codec.buffered == 0


@pytest.mark.parametrize("name", CODECS)
def test_a_right_check_value_stays_and_what_is_no_frame_is_returned(name: str):
    codec = CODECS[name]()
    for junk in (b"", b"\r", b"~", b"\x78\x78", b"*\r\n", bytes(20)):
        assert isinstance(codec.reseal(junk), bytes)
