"""Messages about the files of alarms, byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.alarm_labels import AlarmLabel
from motorpool.codecs.devices.jt808.attachments import (
    FileDescription,
    attachment_request,
    encode_file_end_response,
    parse_attachment_list,
    parse_file_description,
)
from motorpool.codecs.errors import Truncated, UnsupportedCommand
from motorpool.codecs.reports import REQUEST_ALARM_FILES, DeviceCommand, MediaAddress

SU = b"TERM001" + bytes.fromhex("260305200000020300")
YUE = b"TERM001".ljust(30, b"\0") + bytes.fromhex("2603052000000203") + b"\0\0"
NUMBER = b"0123456789abcdef0123456789ABCDEF"
FILES = (
    bytes.fromhex("02 05") + b"a.jpg" + bytes.fromhex("00000400 05") + b"b.mp4" + bytes.fromhex("00200000")
)


@pytest.mark.parametrize("label", [SU, YUE])
def test_the_request_names_address_ports_label_and_number(label):
    command = DeviceCommand(
        REQUEST_ALARM_FILES,
        {"label": label.hex()},
        media=MediaAddress("192.0.2.1", 5263, 5363, upload_port=5015),
    )
    body = attachment_request(command, b"key", "139")
    assert body[:10] == b"\x09192.0.2.1"
    assert body[10:14] == bytes.fromhex("13970000")
    assert body[14 : 14 + len(label)] == label
    assert body[14 + len(label) : -16] == AlarmLabel(label).number(b"key", "139").encode()
    assert body[-16:] == bytes(16)


def test_without_an_address_of_the_server_no_files_are_requested():
    for media in (None, MediaAddress("", 1, 2)):
        with pytest.raises(UnsupportedCommand):
            attachment_request(
                DeviceCommand(REQUEST_ALARM_FILES, {"label": SU.hex()}, media=media), b"key", "139"
            )


@pytest.mark.parametrize("label", [None, "", "xyz", "00", SU.hex()[2:]])
def test_a_malformed_label_is_refused(label):
    with pytest.raises(UnsupportedCommand, match="label must be"):
        attachment_request(
            DeviceCommand(REQUEST_ALARM_FILES, {"label": label}, media=MediaAddress("203.0.113.5", 1, 2)),
            b"key",
            "139",
        )


@pytest.mark.parametrize(("terminal", "label"), [(b"TERM001", SU), (b"TERM001".ljust(30, b"\0"), YUE)])
def test_an_attachment_list_is_parsed_in_both_variants(terminal, label):
    attachment_list = parse_attachment_list(terminal + label + NUMBER + b"\0" + FILES)
    assert attachment_list.label.content == label
    assert attachment_list.number == NUMBER.decode()
    assert attachment_list.files == ((b"a.jpg", 1024), (b"b.mp4", 2 << 20))


@pytest.mark.parametrize("end", [0, 20, 57, 70, -1])
def test_a_short_attachment_list_is_truncated(end):
    body = b"TERM001" + SU + NUMBER + b"\0" + FILES
    with pytest.raises(Truncated):
        parse_attachment_list(body[:end])


@given(st.binary(max_size=200))
def test_attachment_lists_raise_only_truncated(body):
    try:
        attachment_list = parse_attachment_list(body)
    except Truncated:
        return
    assert len(attachment_list.label.content) in (16, 40)


def test_a_file_description_has_name_kind_and_size():
    body = b"\x05a.jpg" + bytes.fromhex("0000010203")
    assert parse_file_description(body) == FileDescription(b"a.jpg", 0, 0x010203)
    with pytest.raises(Truncated):
        parse_file_description(body[:-1])


@pytest.mark.parametrize(
    ("name", "kind", "attribute", "ending", "channel"),
    [
        (b"00_65_6502_0_0123.jpg", 0, "image", "jpg", 65),
        (b"02_64_6401_1_0123.mp4", 2, "video", "mp4", 64),
        (b"01_1_6501_1_0123.wav", 1, "audio", "wav", 1),
        (b"02_64_6401_1_0123.H264", 2, "video", "h264", 64),
        (b"03_0_6401_1_0123.bin", 3, "file", "bin", 0),
        (b"04_65_6511_1_0123.jpg", 4, "image", "jpg", 65),  # a face (Guangdong)
        (b"05_0_x.dat", 5, "file", "bin", 0),
        (b"photo", 0, "image", "jpg", 0),
        (b"film.html", 2, "video", "mp4", 0),
        (b"../../etc/passwd", 0, "image", "jpg", 0),
        (b"x.jpg/../../y", 0, "image", "jpg", 0),
        (b"", 9, "file", "bin", 0),
        (b"\xff\xfe_1234_", 1, "audio", "wav", 0),
    ],
)
def test_the_attribute_follows_the_kind_and_the_extension_is_a_known_one(
    name, kind, attribute, ending, channel
):
    reported = FileDescription(name, kind, 5)
    assert (reported.attribute, reported.extension, reported.channel) == (attribute, ending, channel)


def test_the_response_is_complete_or_lists_missing_ranges():
    assert encode_file_end_response(b"a.jpg", 0) == b"\x05a.jpg" + bytes.fromhex("000000")
    assert encode_file_end_response(b"a.jpg", 2, ((0, 4), (10, 12))) == b"\x05a.jpg" + bytes.fromhex(
        "02 01 02 00000000 00000004 0000000a 00000002"
    )


def test_a_response_always_fits_one_packet():
    scattered = tuple((each, each + 1) for each in range(0, 4000, 2))
    body = encode_file_end_response(b"n" * 50, 0, scattered)
    assert len(body) <= 1023
    assert body[51:54] == bytes((0, 1, 112))
