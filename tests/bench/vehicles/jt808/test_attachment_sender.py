"""The terminal's end of alarms with files, byte by byte; how the platform reads them stands elsewhere."""

from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808.attachment_sender import (
    alarm_item,
    alarm_label,
    encode_attachment_list,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.bench.vehicles.jt808.platform_messages import AttachmentRequest, FileEndResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.jt808.frames import decode_frame, new_framer

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
SU = b"T1".ljust(7, b"\0") + bytes.fromhex("260305200000020300")
YUE = b"T1".ljust(30, b"\0") + bytes.fromhex("26030520000002030000")


def sent(content):
    """Id and body of one message."""
    (frame,) = map(decode_frame, new_framer().receive(content))
    return frame.message_id, frame.body


@pytest.mark.parametrize(("is_2019", "label"), [(False, SU), (True, YUE)])
def test_a_label_holds_terminal_time_sequence_and_count(is_2019, label):
    assert alarm_label(b"T1", NOON, 2, 3, is_2019=is_2019) == label


def test_an_alarm_item_has_the_length_of_its_variant_and_the_position_of_the_location():
    place = encode_location(1.5, 2.5, NOON, speed_kmh=61, altitude=34)
    value = alarm_item(9, 2, SU, place, level=2, ended=True)
    assert value.hex() == (
        "00000009" + "02" + "02" + "02" + "0000000000" + "3d" + "0022" + "0016e360" + "002625a0"
        "260305200000" + "0001" + SU.hex()
    )
    assert len(value) == 47
    assert len(alarm_item(9, 2, YUE, place)) == 71


@pytest.mark.parametrize("label", [SU, YUE])
def test_an_attachment_list_repeats_label_and_number_of_the_request(label):
    request = AttachmentRequest(0x9208, 7, b"", "h", 1, 0, label, "n" * 32)
    message_id, body = sent(encode_attachment_list(Terminal("1"), request, {b"a.jpg": 1024}))
    assert message_id == 0x1210
    assert body == label[: len(label) - (9 if label is SU else 10)] + label + b"n" * 32 + bytes.fromhex(
        "00 01 05"
    ) + b"a.jpg" + bytes.fromhex("00000400")


def test_a_file_begins_and_ends_with_its_name_kind_and_size():
    body = b"\x05a.jpg" + bytes.fromhex("0200000400")
    assert sent(encode_file_begin(Terminal("1"), b"a.jpg", 2, 1024)) == (0x1211, body)
    assert sent(encode_file_end(Terminal("1"), b"a.jpg", 2, 1024)) == (0x1212, body)


def test_chunks_are_a_whole_file_or_its_missing_ranges():
    content = bytes(range(250)) * 300
    whole = encode_file_chunks(b"x", content)
    assert [len(chunk) - 62 for chunk in whole] == [65536, 9464]
    answered = FileEndResponse(0x9212, 0, b"", b"x", 0, ((10, 5), (70_000, 2)))
    assert [chunk[62:] for chunk in encode_file_chunks(b"x", content, answered)] == [
        content[10:15],
        content[70_000:70_002],
    ]
    assert encode_file_chunks(b"x", b"") == []
