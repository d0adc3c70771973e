"""AttachmentUploads of alarms' files through the codec: the terminal's bytes in, reports and answers out."""

import hashlib
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.attachment_sender import (
    ADAS,
    DSM,
    alarm_item,
    alarm_label,
    encode_attachment_list,
    encode_chunk,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.bench.vehicles.jt808.platform_messages import (
    AttachmentRequest,
    FileEndResponse,
    GeneralResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_items, encode_location
from motorpool.codecs.devices.jt808.attachment_uploads import MAX_FILES, MAX_RANGES, ReceivedRanges
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import (
    REQUEST_ALARM_FILES,
    AlarmFilesAnnounced,
    DeviceCommand,
    FileChunk,
    FileUploadCompleted,
    FileUploadStarted,
    FrameRejected,
    ImmediateReply,
    Login,
    MediaAddress,
    PositionReport,
)

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
CONTENT = bytes(range(256)) * 300
NAME = b"00_65_6502_0_0123.jpg"
each_form = pytest.mark.parametrize("version", [2013, 2019])


def label_of(version, files=2, sequence=1):
    return alarm_label(b"TERM001", NOON, sequence, files, is_2019=version == 2019)


def attachment_request_of(codec, terminal, label):
    """What the platform asks the terminal."""
    command = DeviceCommand(
        REQUEST_ALARM_FILES, {"label": label.hex()}, terminal.identity.number, MediaAddress("h", 1, 2, 3)
    )
    (request,) = terminal.receive(codec.encode(command).data)
    assert isinstance(request, AttachmentRequest)
    return request


class Upload:
    """A terminal's connection for files, and the codec of the platform's end."""

    def __init__(self, version):
        self.terminal, self.codec = Terminal("13912345678", version), Jt808()
        self.label = label_of(version)
        main = Jt808()
        main.receive(self.terminal.heartbeat())
        self.request = attachment_request_of(main, self.terminal, self.label)

    def send(self, data):
        return self.codec.receive(data)

    def begin(self, name=NAME, content=CONTENT, kind=0):
        return self.send(encode_file_begin(self.terminal, name, kind, len(content)))

    def end(self, name=NAME, content=CONTENT, kind=0):
        return self.send(encode_file_end(self.terminal, name, kind, len(content)))

    def read(self, data):
        return self.terminal.receive(data)


@each_form
def test_an_alarm_with_files_is_labelled_and_its_files_are_requested_by_that_label(version):
    terminal, codec = Terminal("13912345678", version), Jt808()
    labels = [label_of(version, sequence=number) for number in (1, 2)]
    place = encode_location(1, 2, NOON, speed_kmh=50)
    items = encode_items(
        others=[(ADAS, alarm_item(1, 1, labels[0], place)), (DSM, alarm_item(2, 1, labels[1], place))]
    )
    *_, report = codec.receive(terminal.location(encode_location(1, 2, NOON, items=items)))
    assert report.attributes["alarmLabel"] == f"{labels[0].hex()},{labels[1].hex()}"
    assert report.attributes["alarm"] == "general,fatigueDriving"
    request = attachment_request_of(codec, terminal, labels[0])
    assert (request.host, request.tcp_port, request.udp_port, request.label) == ("h", 3, 0, labels[0])
    without = encode_items(others=[(ADAS, alarm_item(1, 1, label_of(version, files=0), place))])
    (report,) = codec.receive(terminal.location(encode_location(1, 2, NOON, items=without)))
    assert "alarmLabel" not in report.attributes


@each_form
def test_only_the_number_of_the_request_makes_an_upload_ours(version):
    upload = Upload(version)

    def is_ours(codec, terminal, request):
        (announced,) = codec.receive(encode_attachment_list(terminal, request, {NAME: 1}))
        return announced.is_ours

    assert is_ours(Jt808(), upload.terminal, upload.request)
    # The number that everybody who knows the label could compute.
    guess = hashlib.blake2b(upload.label[: 14 if version == 2013 else 37], digest_size=16).hexdigest()
    for number in (guess, "0" * 32, "", upload.request.number[:-1] + "g"):
        forged = msgspec.structs.replace(upload.request, number=number.ljust(32, "\0"))
        assert not is_ours(Jt808(), upload.terminal, forged)
    # That of one terminal's alarm opens no other terminal's folder.
    assert not is_ours(Jt808(), Terminal("13800000000", version), upload.request)
    # Another server, or this one with another key.
    other = Jt808()
    other.server_key = bytes(32)
    assert not is_ours(other, upload.terminal, upload.request)


@each_form
def test_a_whole_upload(version):
    upload = Upload(version)
    (attachment_list,) = upload.send(
        encode_attachment_list(upload.terminal, upload.request, {NAME: len(CONTENT)})
    )
    assert isinstance(attachment_list, AlarmFilesAnnounced)
    assert attachment_list.label == upload.label.hex()
    assert attachment_list.label.startswith(attachment_list.key)
    assert (attachment_list.is_ours, attachment_list.files) == (True, 1)
    assert "13912345678" in attachment_list.unique_ids
    (begun,) = upload.begin()
    assert (begun.name, begun.size) == (NAME.decode(), len(CONTENT))
    (answer,) = upload.read(upload.codec.acknowledge([begun.receipt]))
    assert isinstance(answer, GeneralResponse)
    assert (answer.answered_id, answer.result) == (0x1211, 0)
    chunks = upload.send(b"".join(encode_file_chunks(NAME, CONTENT)))
    assert b"".join(chunk.content for chunk in chunks) == CONTENT
    (ended,) = upload.end()
    assert (ended.name, ended.kind, ended.extension) == (NAME.decode(), "image", "jpg")
    assert (ended.size, ended.channel) == (len(CONTENT), 65)
    # Answered once it is stored.
    (answer,) = upload.read(upload.codec.acknowledge([ended.receipt]))
    assert isinstance(answer, FileEndResponse)
    assert (answer.name, answer.kind, answer.missing) == (NAME, 0, ())
    assert upload.codec.refuse(ended.receipt) == b""


@each_form
def test_an_upload_connection_has_no_login_before_another_message(version):
    upload = Upload(version)
    reports = upload.send(encode_attachment_list(upload.terminal, upload.request, {NAME: 1}))
    reports += (
        upload.begin(content=b"x") + upload.send(encode_chunk(NAME, 0, b"x")) + upload.end(content=b"x")
    )
    assert [type(report) for report in reports] == [
        AlarmFilesAnnounced,
        FileUploadStarted,
        FileChunk,
        FileUploadCompleted,
    ]
    login, position = upload.send(upload.terminal.location(encode_location(1, 2, NOON)))
    assert isinstance(login, Login)
    assert isinstance(position, PositionReport)


@each_form
def test_files_beside_all_else_leave_the_connection_whose_it_is(version):
    upload = Upload(version)
    terminal = upload.terminal
    login, *_ = upload.send(terminal.register())
    assert isinstance(login, Login)
    reports = upload.send(
        encode_attachment_list(terminal, upload.request, {NAME: 1})
        + terminal.location(encode_location(1, 2, NOON))
        + terminal.heartbeat()
    )
    assert [type(report).__name__ for report in reports] == [
        "AlarmFilesAnnounced",
        "PositionReport",
        "Heartbeat",
    ]
    other = Terminal("13900000000", version)
    reports = upload.send(encode_attachment_list(other, upload.request, {NAME: 1}) + terminal.heartbeat())
    assert [type(report).__name__ for report in reports] == ["AlarmFilesAnnounced", "Heartbeat"]
    assert "13900000000" in reports[0].unique_ids
    (answer,) = terminal.receive(upload.codec.acknowledge([reports[1].receipt]))
    assert answer.answered_id == 0x0002


@each_form
def test_missing_ranges_are_requested_until_the_file_is_complete(version):
    upload = Upload(version)
    upload.begin()
    upload.send(encode_chunk(NAME, 10, CONTENT[10:20]) + encode_chunk(NAME, 500, CONTENT[500:]))
    (reply,) = upload.end()
    assert isinstance(reply, ImmediateReply)
    (answer,) = upload.read(reply.data)
    assert answer.missing == ((0, 10), (20, 480))
    again = upload.send(b"".join(encode_file_chunks(NAME, CONTENT, answer)))
    assert b"".join(chunk.content for chunk in again) == CONTENT[:10] + CONTENT[20:500]
    (ended,) = upload.end()
    assert isinstance(ended, FileUploadCompleted)


def test_chunks_of_an_unknown_file_or_outside_their_file_are_rejected():
    upload = Upload(2013)
    assert [type(each) for each in upload.send(encode_chunk(NAME, 0, b"x"))] == [FrameRejected]
    upload.begin(content=b"four")
    found = upload.send(
        encode_chunk(b"another", 0, b"x")
        + encode_chunk(NAME, 3, b"xy")
        + encode_chunk(NAME, 0xFFFF_FFFF, b"x")
    )
    assert [type(each) for each in found] == [FrameRejected] * 3
    assert [type(each) for each in upload.send(encode_chunk(NAME, 3, b"x"))] == [FileChunk]


def test_an_end_without_a_begin_is_a_bad_message_and_the_stream_continues():
    upload = Upload(2013)
    rejected, reply = upload.end()
    assert isinstance(rejected, FrameRejected)
    (answer,) = upload.read(reply.data)
    assert (answer.answered_id, answer.result) == (0x1212, 2)
    assert [type(each) for each in upload.begin()] == [FileUploadStarted]


def test_no_more_files_than_the_limit_are_open_at_a_time():
    upload = Upload(2013)
    for number in range(MAX_FILES):
        assert isinstance(upload.begin(b"%d" % number)[0], FileUploadStarted)
    assert isinstance(upload.begin(b"one more")[0], FrameRejected)
    upload.send(b"".join(encode_file_chunks(b"0", CONTENT)))
    assert isinstance(upload.end(b"0")[0], FileUploadCompleted)
    assert isinstance(upload.begin(b"one more")[0], FileUploadStarted)


def test_an_empty_file_is_whole_at_once():
    upload = Upload(2013)
    upload.begin(content=b"")
    (ended,) = upload.end(content=b"")
    assert ended.size == 0


spans = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)


@settings(max_examples=300)
@given(size=st.integers(0, 50), reported=st.lists(spans, max_size=30))
def test_missing_ranges_are_exact(size, reported):
    ranges, here = ReceivedRanges(size), set()
    for start, end in reported:
        if ranges.add(start, end):
            assert end <= size
            here |= set(range(start, end))
        else:
            assert end > size
    missing = ranges.missing()
    assert {byte for start, end in missing for byte in range(start, end)} == set(range(size)) - here
    assert all(earlier[1] < later[0] for earlier, later in pairwise(missing))


def test_ranges_that_lie_too_scattered_are_not_kept():
    ranges = ReceivedRanges(10_000)
    taken = [ranges.add(start, start + 1) for start in range(0, 10_000, 2)]
    assert taken.count(True) == MAX_RANGES
    assert ranges.add(0, 10_000)
    assert ranges.missing() == ()
