"""The terminal's end of alarms with files, byte by byte; how the platform reads them stands elsewhere."""

from datetime import UTC, datetime

import pytest

from motorpool.codecs.devices.jt808.frames import decode_frame, new_framer
from motorpool.codecs.devices.jt808.platform import FileAnswered, FilesAsked
from motorpool.codecs.devices.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.jt808.uploader import (
    alarm_item,
    alarm_label,
    begin_file,
    end_file,
    offer_files,
    pieces_of,
)

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
SU = b"T1".ljust(7, b"\0") + bytes.fromhex("260305200000020300")
YUE = b"T1".ljust(30, b"\0") + bytes.fromhex("26030520000002030000")


def sent(content):
    """Id and body of one message."""
    (frame,) = map(decode_frame, new_framer().receive(content))
    return frame.message_id, frame.body


@pytest.mark.parametrize(("modern", "label"), [(False, SU), (True, YUE)])
def test_a_label_holds_terminal_time_sequence_and_count(modern, label):
    assert alarm_label(b"T1", NOON, 2, 3, modern=modern) == label


def test_an_alarm_item_is_as_long_as_its_form_and_stands_at_the_place_of_the_location():
    place = encode_location(1.5, 2.5, NOON, speed_kmh=61, altitude=34)
    value = alarm_item(9, 2, SU, place, level=2, ended=True)
    assert value.hex() == (
        "00000009" + "02" + "02" + "02" + "0000000000" + "3d" + "0022" + "0016e360" + "002625a0"
        "260305200000" + "0001" + SU.hex()
    )
    assert len(value) == 47
    assert len(alarm_item(9, 2, YUE, place)) == 71


@pytest.mark.parametrize("label", [SU, YUE])
def test_an_offer_repeats_label_and_number_of_the_request(label):
    asked = FilesAsked(0x9208, 7, b"", "h", 1, 0, label, "n" * 32)
    message_id, body = sent(offer_files(Terminal("1"), asked, {b"a.jpg": 1024}))
    assert message_id == 0x1210
    assert body == label[: len(label) - (9 if label is SU else 10)] + label + b"n" * 32 + bytes.fromhex(
        "00 01 05"
    ) + b"a.jpg" + bytes.fromhex("00000400")


def test_a_file_begins_and_ends_with_its_name_kind_and_size():
    body = b"\x05a.jpg" + bytes.fromhex("0200000400")
    assert sent(begin_file(Terminal("1"), b"a.jpg", 2, 1024)) == (0x1211, body)
    assert sent(end_file(Terminal("1"), b"a.jpg", 2, 1024)) == (0x1212, body)


def test_pieces_are_all_of_a_file_or_what_was_asked_for_again():
    content = bytes(range(250)) * 300
    whole = pieces_of(b"x", content)
    assert [len(piece) - 62 for piece in whole] == [65536, 9464]
    answered = FileAnswered(0x9212, 0, b"", b"x", 0, ((10, 5), (70_000, 2)))
    assert [piece[62:] for piece in pieces_of(b"x", content, answered)] == [
        content[10:15],
        content[70_000:70_002],
    ]
    assert pieces_of(b"x", b"") == []
