from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.codecs.devices.jt808.frames import Identity
from motorpool.codecs.devices.jt808.sent_commands import SentCommands
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.terminal_messages import read_message
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import CodecError, FrameError
from motorpool.codecs.reports import (
    CommandResult,
    DeviceInformation,
    FrameRejected,
    Heartbeat,
    Logout,
    MediaFile,
    PositionReport,
    RecordingList,
)

WHEN = datetime(2026, 5, 1, 10, tzinfo=UTC)
PLACE = encode_location(22.5, 113.9, WHEN)


@pytest.fixture
def sent_commands():
    return SentCommands()


@pytest.fixture
def read(sent_commands):
    def read_body(message_id, body, *, subpackaged=False):
        identity = Identity.from_digits("13912345678", is_2019=False)
        return read_message(
            TerminalMessage(message_id, 7, body, identity, 0, subpackaged, TerminalClock(), sent_commands)
        )

    return read_body


@pytest.mark.parametrize(
    ("result", "ok", "text"),
    [
        (0, True, "ok"),
        (1, False, "failed"),
        (2, False, "bad message"),
        (3, False, "not supported"),
        (9, False, "result 9"),
    ],
)
def test_the_general_response_becomes_the_result_of_its_command(read, sent_commands, result, ok, text):
    reference = sent_commands.add(0x9101, 3)
    assert read(0x0001, bytes.fromhex("00039101") + bytes((result,))) == [CommandResult(reference, ok, text)]
    assert read(0x0001, bytes.fromhex("0003910100")) == [Heartbeat()]


def test_a_requested_position_answers_its_command(read, sent_commands):
    reference = sent_commands.add(0x8201, 3)
    position, result = read(0x0201, b"\0\3" + PLACE)
    assert position.latitude == 22.5
    assert position.receipt == 0x0201_0007
    assert result == CommandResult(reference, ok=True, text="ok")
    assert [type(one) for one in read(0x0201, b"\0\3" + PLACE)] == [PositionReport]


def test_a_vehicle_control_is_answered_by_a_position(read, sent_commands):
    reference = sent_commands.add(0x8500, 3)
    assert read(0x0500, b"\0\3" + PLACE)[1].reference == reference


def test_a_batch_is_acknowledged_by_its_last_position_only(read):
    record = b"\0\x1c" + PLACE
    reports = read(0x0704, b"\0\3\0" + record * 3)
    assert [(one.receipt, one.archived) for one in reports] == [
        (None, False),
        (None, False),
        (0x0704_0007, False),
    ]


def test_a_batch_whose_last_record_is_bad_is_acknowledged_all_the_same(read):
    good, bad = read(0x0704, b"\0\2\1" + b"\0\x1c" + PLACE + b"\0\4oops")
    assert (good.receipt, good.archived) == (0x0704_0007, True)
    assert isinstance(bad, FrameRejected)


def test_a_batch_that_ends_early_keeps_what_came(read):
    good, bad = read(0x0704, b"\0\2\1" + b"\0\x1c" + PLACE)
    assert good.receipt == 0x0704_0007
    assert "ends early" in bad.error


def test_a_batch_without_a_good_record_is_bad_and_an_empty_one_is_not(read):
    with pytest.raises(FrameError, match="no good position"):
        read(0x0704, b"\0\1\1" + b"\0\4oops")
    assert read(0x0704, b"\0\0\1") == [Heartbeat(0x0704_0007)]


def test_a_photo_tells_where_it_was_taken(read):
    (photo,) = read(0x0801, bytes.fromhex("0000004d00000103") + PLACE + b"\xff\xd8picture")
    assert isinstance(photo, MediaFile)
    assert (photo.kind, photo.extension, photo.channel, photo.content) == (
        "image",
        "jpg",
        3,
        b"\xff\xd8picture",
    )
    assert photo.position.latitude == 22.5
    assert photo.position.receipt is None


def test_a_photo_of_2011_has_no_location(read):
    (photo,) = read(0x0801, bytes.fromhex("0000004d00000103") + b"\xff\xd8picture")
    assert photo.position is None
    assert photo.content == b"\xff\xd8picture"


def test_audio_video_and_unknown_formats(read):
    (audio,) = read(0x0801, bytes.fromhex("0000004d01030001") + PLACE + b"RIFF")
    (video,) = read(0x0801, bytes.fromhex("0000004d02090001") + PLACE + b"????")
    assert (audio.kind, audio.extension) == ("audio", "wav")
    assert (video.kind, video.extension) == ("video", "bin")


@pytest.mark.parametrize(
    ("result", "ok", "text"),
    [(0, True, "ok"), (1, False, "failed"), (2, False, "no such channel"), (8, False, "result 8")],
)
def test_a_photo_response_answers_its_command(read, sent_commands, result, ok, text):
    body = b"\0\3" + bytes((result,)) + bytes.fromhex("00010000004d")
    assert read(0x0805, body) == [Heartbeat(0x0805_0007)]
    reference = sent_commands.add(0x8801, 3)
    assert read(0x0805, body) == [CommandResult(reference, ok, text, 0x0805_0007)]


def test_queried_information_is_also_an_answer(read, sent_commands):
    body = b"\0\3\1" + bytes.fromhex("00000029040000001e")
    assert read(0x0104, body) == [DeviceInformation({"reportSeconds": 30}, receipt=0x0104_0007)]
    reference = sent_commands.add(0x8104, 3)
    assert read(0x0104, body) == [
        DeviceInformation({"reportSeconds": 30}, reference),
        CommandResult(reference, ok=True, text="reportSeconds=30", receipt=0x0104_0007),
    ]


def test_attributes_answer_the_latest_query(read, sent_commands):
    reference = sent_commands.add(0x8107, 3)
    body = b"\0\7" + b"MAKER" + bytes(27) + bytes(10) + b"\0\0\1\1"
    assert read(0x0107, body)[1].reference == reference


def test_a_recording_list_answers_its_query(read, sent_commands):
    reference = sent_commands.add(0x9205, 3)
    assert read(0x1205, bytes.fromhex("000300000000")) == [RecordingList(reference, (), 0x1205_0007)]


def test_a_recording_list_with_another_serial_answers_the_open_query(read, sent_commands):
    reference = sent_commands.add(0x9205, 3)
    assert read(0x1205, bytes(6))[0].reference == reference
    assert read(0x1205, bytes(6))[0].reference is None


def test_the_answer_to_a_playback_request_is_no_recording_list(read, sent_commands):
    sent_commands.add(0x9205, 3)
    playback = sent_commands.add(0x9201, 4)
    record = bytes.fromhex("01260501080000260501081500000000000000000000010100000400")
    assert read(0x1205, bytes.fromhex("000400000001") + record) == [
        CommandResult(playback, ok=True, text="ok", receipt=0x1205_0007)
    ]
    empty = sent_commands.add(0x9201, 5)
    assert read(0x1205, bytes.fromhex("000500000000")) == [
        CommandResult(empty, ok=False, text="no recording in this span", receipt=0x1205_0007)
    ]


def test_an_upload_answers_its_command(read, sent_commands):
    assert read(0x1206, b"\0\3\0") == [Heartbeat(0x1206_0007)]
    reference = sent_commands.add(0x9206, 3)
    assert read(0x1206, b"\0\3\1") == [CommandResult(reference, ok=False, text="failed", receipt=0x1206_0007)]


def test_a_logout(read):
    assert read(0x0003, b"") == [Logout(0x0003_0007)]


def test_an_unknown_id_has_no_reports(read):
    assert read(0x0F55, b"") is None


@pytest.mark.parametrize(
    "message_id",
    [
        0x0001,
        0x0100,
        0x0104,
        0x0107,
        0x0200,
        0x0201,
        0x0500,
        0x0704,
        0x0800,
        0x0801,
        0x0805,
        0x1003,
        0x1005,
        0x1205,
        0x1206,
    ],
)
def test_bodies_that_end_early_raise_codec_errors(read, message_id):
    with pytest.raises(CodecError):
        read(message_id, b"\0")


def test_a_recording_list_without_its_head_is_bad(read):
    with pytest.raises(CodecError, match="4 bytes"):
        read(0x1205, bytes(4))
