from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    RegistrationResponse,
    TimeResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import Identity, add_framing, encode_frame
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    Login,
    MediaAddress,
    PositionReport,
    RecordingList,
)

WHEN = datetime(2026, 5, 1, 10, tzinfo=UTC)
PLACE = encode_location(22.5, 113.9, WHEN)


@pytest.fixture(params=[2013, 2019])
def terminal(request):
    return Terminal("13912345678", request.param)


def kinds(reports):
    return [type(report) for report in reports]


def damaged(frame, damage):
    """Return the reads in which a damaged frame comes."""
    match damage:
        case "begun":
            return [frame[:9], frame]
        case "check":
            return [frame[:-3] + b"U" + frame[-2:]]
        case "header":  # with the right check byte
            return [add_framing(b"\2\0\x80" + frame[4:-2])]
        case "escaped delimiter":
            return [b"}\x02" + frame[1:]]
        case "no escapes":
            return [frame.replace(b"}\x02", b"~").replace(b"}\x01", b"}")]
        case "7d not escaped":
            return [frame.replace(b"}\x01", b"}")]
        case _:
            return [frame + frame]


PHONES = (b"\0\x13\x91\x23\x45\x67", b"}~}\1}\2", b"\0\0\0\0\x13\x91\x23\x45\x67\x89")
LOCATIONS = st.builds(
    lambda phone, serial, degrees, items: encode_frame(
        Identity(phone, len(phone) == 10), 0x0200, serial, PLACE[:8] + degrees + PLACE[16:] + items
    ),
    st.sampled_from(PHONES),
    st.sampled_from((0, 1, 0x7D01, 0x7D7E)),
    st.lists(st.sampled_from(b"\0\1\2}~"), min_size=8, max_size=8).map(bytes),
    st.sampled_from((b"", b"\x30\x01}\x31\x01~", b"\x31\x01}\x30\x01~")),
)
DAMAGES = ("begun", "check", "header", "escaped delimiter", "no escapes", "7d not escaped", "twice")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(LOCATIONS, st.sampled_from(DAMAGES)), max_size=9), st.integers(0, 100))
def test_locations_one_by_one_are_read_as_those_of_a_divided_stream(drawn, cut):
    whole, divided = Jt808(), Jt808()
    for data in (data for frame, damage in drawn for data in (frame, frame, *damaged(frame, damage))):
        reports = whole.receive(data)
        place = 1 + cut % (len(data) - 1)
        assert reports == divided.receive(data[:place]) + divided.receive(data[place:])
        assert whole.buffered == divided.buffered
        receipts = [
            receipt for report in reports if (receipt := getattr(report, "receipt", None)) is not None
        ]
        assert whole.acknowledge(receipts) == divided.acknowledge(receipts)


def test_any_first_frame_identifies_the_device(terminal):
    login, position = Jt808().receive(terminal.location(PLACE))
    assert login == Login(terminal.identity.unique_ids)
    assert isinstance(position, PositionReport)


def test_a_login_is_reported_once_for_each_identity():
    codec, ours, theirs = Jt808(), Terminal("111"), Terminal("222")
    data = ours.heartbeat() + ours.heartbeat() + theirs.heartbeat() + ours.heartbeat()
    reports = codec.receive(data)
    assert kinds(reports) == [Login, Heartbeat, Heartbeat, Login, Heartbeat, Login, Heartbeat]
    answers = codec.acknowledge([report.receipt for report in reports if isinstance(report, Heartbeat)])
    frames = [piece for piece in answers.split(b"~") if piece]
    assert [frame[4:10].hex() for frame in frames] == ["000000000111"] * 2 + ["000000000222", "000000000111"]


def test_a_location_like_the_last_one_identifies_its_sender_after_another_one():
    codec, ours, theirs = Jt808(), Terminal("111"), Terminal("222")
    received = [
        codec.receive(data) for data in (ours.location(PLACE), theirs.heartbeat(), ours.location(PLACE))
    ]
    assert [kinds(reports) for reports in received] == [
        [Login, PositionReport],
        [Login, Heartbeat],
        [Login, PositionReport],
    ]
    assert received[2][0].unique_ids == ours.identity.unique_ids


def test_the_same_number_in_the_other_form_is_no_new_login_and_answered_in_its_form():
    codec, old, new = Jt808(), Terminal("111"), Terminal("111", 2019)
    codec.receive(old.heartbeat())
    (heartbeat,) = codec.receive(new.heartbeat())
    assert kinds(new.receive(codec.acknowledge([heartbeat.receipt]))) == [GeneralResponse]


def test_registration_and_authentication_are_always_answered(terminal):
    codec = Jt808()
    codec.receive(terminal.heartbeat())
    for _ in range(2):
        for words, kind in (
            (terminal.register(), RegistrationResponse),
            (terminal.authenticate(), GeneralResponse),
        ):
            (login,) = codec.receive(words)
            assert kinds(terminal.receive(codec.acknowledge([login.receipt]))) == [kind]


def test_an_unknown_terminal_is_refused_as_the_standard_says(terminal):
    codec = Jt808()
    (login,) = codec.receive(terminal.register())
    (registered,) = terminal.receive(codec.refuse(login.receipt))
    assert (registered.result, registered.code) == (4, "")
    (position,) = codec.receive(terminal.location(PLACE))
    (answer,) = terminal.receive(codec.refuse(position.receipt))
    assert (answer.answered_id, answer.result) == (0x0200, 1)
    assert codec.refuse(None) == b""


def test_many_receipts_are_acknowledged_at_once(terminal):
    codec = Jt808()
    reports = codec.receive(b"".join(terminal.location(PLACE) for _ in range(50)))[1:]
    answers = terminal.receive(codec.acknowledge([report.receipt for report in reports]))
    assert [answer.answered_serial for answer in answers] == list(range(50))
    assert [answer.serial for answer in answers] == list(range(50))


def test_an_unknown_message_is_answered_as_not_supported(terminal):
    _, reply = Jt808().receive(terminal.message(0x0F55, b"abc"))
    (answer,) = terminal.receive(reply.data)
    assert (answer.answered_id, answer.result) == (0x0F55, 3)


def test_a_malformed_body_is_answered_as_bad(terminal):
    _, rejected, reply = Jt808().receive(terminal.location(PLACE[:20]))
    assert rejected.error == "a location of 20 bytes"
    (answer,) = terminal.receive(reply.data)
    assert (answer.answered_id, answer.result) == (0x0200, 2)


def test_a_bad_header_is_dropped_without_an_answer(terminal):
    assert kinds(Jt808().receive(b"~\x00\x00~" + terminal.heartbeat())) == [FrameRejected, Login, Heartbeat]


def test_a_time_request_is_answered_where_there_is_a_clock(terminal):
    codec = Jt808()
    codec.utc_now = lambda: WHEN
    (reported,) = terminal.receive(codec.receive(terminal.time_request())[1].data)
    assert isinstance(reported, TimeResponse)
    assert reported.time == WHEN
    without = Jt808().receive(terminal.time_request())[1]
    (answer,) = terminal.receive(without.data)
    assert answer.result == 3


def test_each_packet_is_answered_and_the_last_one_with_its_message(terminal):
    codec = Jt808()
    reports = codec.receive(terminal.batch([PLACE] * 20, packet_bytes=200))[1:]
    packets = 4  # 20 locations of 30 bytes and a head of 3
    assert kinds(reports) == [Heartbeat] * (packets - 1) + [PositionReport] * 20
    receipts = [report.receipt for report in reports if report.receipt is not None]
    answers = terminal.receive(codec.acknowledge(receipts))
    assert [answer.answered_serial for answer in answers] == list(range(packets))


def test_a_repeated_packet_is_not_answered_before_its_message_is_stored(terminal):
    codec = Jt808()
    sent = terminal.batch([PLACE] * 20, packet_bytes=200)
    codec.receive(sent)
    assert codec.receive(sent[sent.rindex(b"~", 0, -1) :]) == []


def test_the_file_is_answered_by_its_media_id(terminal):
    codec = Jt808()
    *_, photo = codec.receive(terminal.photo(77, b"\xff\xd8" + bytes(2000), PLACE))
    answers = terminal.receive(codec.acknowledge([photo.receipt]))
    assert [answer.message_id for answer in answers] == [0x8001, 0x8800]
    assert answers[1].media_id == 77


def test_a_command_has_the_terminals_form_and_its_answer_the_reference(terminal):
    codec = Jt808()
    codec.receive(terminal.heartbeat())
    outgoing = codec.encode(
        DeviceCommand("videoStart", {"channel": 2}, media=MediaAddress("10.0.0.1", 1078, 1079))
    )
    (request,) = terminal.receive(outgoing.data)
    (result,) = codec.receive(terminal.general_response(request))
    assert result.reference == outgoing.reference
    assert result.ok


def test_a_list_of_recordings_names_its_query(terminal):
    codec = Jt808()
    codec.utc_now = lambda: WHEN
    codec.receive(terminal.heartbeat())
    outgoing = codec.encode(DeviceCommand("videoPlaybackList"))
    (request,) = terminal.receive(outgoing.data)
    assert request.end_time == WHEN
    assert request.start_time == WHEN - timedelta(hours=24)
    codec.receive(terminal.general_response(request))
    (found,) = codec.receive(terminal.recordings(request.serial, []))
    assert isinstance(found, RecordingList)
    assert (found.reference, found.recordings) == (outgoing.reference, ())


def test_a_custom_message_gets_its_header_here(terminal):
    codec = Jt808()
    codec.receive(terminal.heartbeat())
    (message,) = terminal.receive(codec.encode(DeviceCommand("custom", {"data": "8105 04"})).data)
    assert (message.message_id, message.command) == (0x8105, 4)


def test_a_custom_frame_goes_out_as_it_stands():
    outgoing = Jt808().encode(DeviceCommand("custom", {"data": "7e 00 7e"}, "1"))
    assert (outgoing.data, outgoing.reference) == (b"~\0~", None)


def test_a_body_that_fits_no_frame_is_refused():
    with pytest.raises(UnsupportedCommand, match="1024 bytes"):
        Jt808().encode(DeviceCommand("custom", {"data": "8300" + "00" * 1024}, "1"))


def test_before_the_first_frame_the_number_is_that_of_the_command():
    (message,) = Terminal("111").receive(Jt808().encode(DeviceCommand("rebootDevice", {}, "111")).data)
    assert message.command == 4
    with pytest.raises(UnsupportedCommand, match="does not fit"):
        Jt808().encode(DeviceCommand("rebootDevice", {}, "no number"))


def test_another_zone_counts_from_the_next_message(terminal):
    codec = Jt808()
    codec.receive(terminal.heartbeat())
    codec.set_timezone(ZoneInfo("UTC"))
    (position,) = codec.receive(terminal.location(PLACE))
    assert position.device_time == WHEN + timedelta(hours=8)


def test_incomplete_messages_and_frames_are_counted_and_bounded(terminal):
    codec = Jt808()
    message = bytes(1023 * 400)
    for _ in range(12):
        packets = terminal.message(0x0801, message, 1023)
        codec.receive(packets[: packets.rindex(b"~", 0, -1)])
        assert 1023 * 399 <= codec.buffered <= (1 << 20) + 4096
    codec.receive(b"x" * 4000)
    assert codec.buffered <= (1 << 20) + 4096
