from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from motorpool.codecs.channel_map import CHANNEL_MAP_ATTRIBUTE, parse_channel_map
from motorpool.codecs.devices.jt808 import video_commands as video
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, MediaAddress

MEDIA = MediaAddress("203.0.113.5", 1078, 1079)
ADDRESS = b"\x0b203.0.113.5"
CONTEXT = video.VideoContext(TerminalClock(), lambda: datetime(2026, 5, 2, 10, tzinfo=UTC))


def body(write, context=CONTEXT, media=MEDIA, **attributes):
    return write(DeviceCommand("video", attributes, media=media), context)


def test_a_live_request_names_our_address_channel_and_stream():
    assert body(video.live_request) == ADDRESS + bytes.fromhex("04360000010000")
    assert body(video.live_request, channel=31, dataType=1, streamType=1) == ADDRESS + bytes.fromhex(
        "043600001f0101"
    )


def test_talk_has_a_port_and_an_end_of_its_own():
    media = MediaAddress("203.0.113.5", 1078, 1079, talk_port=1080)
    assert body(video.live_request, media=media, dataType=2) == ADDRESS + bytes.fromhex("04380000010200")
    assert body(video.live_request, media=media, dataType=3) == ADDRESS + bytes.fromhex("04360000010300")
    assert body(video.live_stop, channel=3, dataType=2) == bytes.fromhex("03040000")


def test_the_index_is_the_channel_where_none_is_named():
    assert body(video.live_stop, index=4) == bytes.fromhex("04000000")
    assert body(video.live_stop, index=4, channel="5", closeType=2, streamType=1) == bytes.fromhex("05000201")


@pytest.mark.parametrize("channel", [0, 32, -1, 1.5, True, "x", None, [1]])
@pytest.mark.parametrize("write", [video.live_request, video.live_stop, video.playback_control])
def test_channels_outside_1_to_31_are_refused(write, channel):
    with pytest.raises(UnsupportedCommand, match="channel must be a whole number from 1 to 31"):
        body(write, channel=channel)


@pytest.mark.parametrize(
    ("write", "at"),
    [
        (video.live_request, -3),
        (video.live_stop, 0),
        (video.list_query, 0),
        (video.playback_request, -18),
        (video.playback_control, 0),
    ],
)
@pytest.mark.parametrize(("channel", "number"), [(1, 0), (2, 1), (3, 36), (4, 4)])
def test_commands_carry_the_devices_own_channel_number(write, at, channel, number):
    attributes = {"channel": channel, "startTime": "2026-05-01T00:00:00Z"}
    command = DeviceCommand(
        "video", attributes, media=MEDIA, channels=parse_channel_map({CHANNEL_MAP_ATTRIBUTE: "0:1,1:2,36:3"})
    )
    assert write(command, CONTEXT)[at] == number


def test_all_channels_are_all_of_an_odd_device_too():
    command = DeviceCommand(
        "video", {}, media=MEDIA, channels=parse_channel_map({CHANNEL_MAP_ATTRIBUTE: "7:1"})
    )
    assert video.list_query(command, CONTEXT)[0] == 0


def test_a_list_query_asks_all_channels_of_the_last_day():
    # 10:00 UTC is 18:00 there.
    assert body(video.list_query) == bytes.fromhex("002605011800002605021800000000000000000000030000")


def test_a_list_query_with_everything_named():
    assert body(
        video.list_query,
        channel=2,
        startTime="2026-05-01T00:00:00Z",
        endTime="2026-05-01T03:00:00+02:00",
        alarmFlag=1 << 32,
        dataType=0,
        streamType=2,
        memoryType=1,
    ) == bytes.fromhex("022605010800002605010900000000000100000000000201")


def test_a_list_query_with_one_time_only():
    assert (
        body(video.list_query, **{"from": "2026-05-02T09:00:00Z"})[1:13].hex() == "260502170000260502180000"
    )
    assert body(video.list_query, to="2026-05-02T09:00:00Z")[1:13].hex() == "260501170000260502170000"
    assert body(video.list_query, startTime="2026-05-02T11:00:00Z")[1:13].hex() == "260502190000000000000000"


@pytest.mark.parametrize("end", ["0001-01-01T00:00:00Z", "0001-01-01T12:00:00-08:00", "9999-12-31T23:59:59Z"])
def test_a_list_query_at_the_ends_of_the_calendar_is_refused(end):
    with pytest.raises(UnsupportedCommand):
        body(video.list_query, endTime=end)


def test_a_list_query_without_a_clock_is_open():
    assert body(video.list_query, video.VideoContext(TerminalClock(), None))[1:13] == bytes(12)


def test_times_are_written_in_the_terminals_zone():
    berlin = video.VideoContext(TerminalClock(ZoneInfo("Europe/Berlin")), None)
    assert body(video.list_query, berlin, startTime="2026-07-01T10:00:00Z")[1:7].hex() == "260701120000"


def test_a_playback_request_copies_a_recording():
    assert body(
        video.playback_request,
        channel=3,
        startTime="2026-05-01T00:00:00Z",
        endTime="2026-05-01T00:15:00Z",
        streamType=2,
        memoryType=1,
    ) == ADDRESS + bytes.fromhex("04370000030002010000260501080000260501081500")


@pytest.mark.parametrize(("speed", "code"), [(1, 1), (2, 2), (4, 3), (8, 4), (16, 5)])
def test_speed_counts_only_for_fast_methods(speed, code):
    start = "2026-05-01T00:00:00Z"
    span = bytes.fromhex("260501080000000000000000")
    method_and_speed = len(ADDRESS) + 8
    fast = body(video.playback_request, startTime=start, method=1, speed=speed)
    assert fast[method_and_speed:] == bytes((1, code)) + span
    normal = body(video.playback_request, startTime=start, method=0, speed=speed)
    assert normal[method_and_speed:] == bytes((0, 0)) + span


@pytest.mark.parametrize(
    ("control", "code"),
    [
        ("start", 0),
        ("resume", 0),
        ("pause", 1),
        ("stop", 2),
        ("forward", 3),
        ("fast", 3),
        ("rewind", 4),
        ("keyframes", 6),
        (2, 2),
        ("2", 2),
    ],
)
def test_playback_controls_by_name_or_number(control, code):
    speed = 2 if code in (3, 4) else 0
    assert body(video.playback_control, control=control, speed=2) == bytes((1, code, speed)) + bytes(6)


def test_seek_takes_a_time():
    assert (
        body(video.playback_control, control="seek", time="2026-05-01T00:05:00Z").hex() == "010500"
        "260501080500"
    )


@pytest.mark.parametrize(
    ("write", "attributes", "error"),
    [
        (video.playback_request, {}, "startTime is required"),
        (video.playback_request, {"startTime": "yesterday"}, "startTime must be a time like"),
        (
            video.playback_request,
            {"startTime": "2026-05-01T00:00:00"},
            "startTime must be a time like",
        ),
        (video.playback_request, {"startTime": 5}, "startTime must be a time like"),
        (
            video.playback_request,
            {"startTime": "1999-05-01T00:00:00Z"},
            "between the years 2000 and 2099",
        ),
        (
            video.playback_request,
            {"startTime": "0001-01-01T00:00:00+14:00"},
            "between the years 2000 and 2099",
        ),
        (
            video.playback_request,
            {"startTime": "2026-05-01T00:00:00Z", "endTime": "2026-05-01T00:00:00Z"},
            "endTime must be after startTime",
        ),
        (
            video.playback_request,
            {"startTime": "2026-05-01T00:00:00Z", "method": 1, "speed": 3},
            "1, 2, 4, 8 or 16",
        ),
        (
            video.playback_control,
            {"control": "dance"},
            "control must be 0 to 6 or one of start, resume",
        ),
        (video.playback_control, {"control": 7}, "control must be 0 to 6"),
        (video.playback_control, {"control": "seek"}, "time is required to seek"),
        (video.list_query, {"alarmFlag": -1}, "alarmFlag must be"),
    ],
)
def test_wrong_attributes_are_refused_with_a_sentence(write, attributes, error):
    with pytest.raises(UnsupportedCommand, match=error):
        body(write, **attributes)


@pytest.mark.parametrize("media", [None, MediaAddress("", 1, 2)])
def test_without_an_address_of_ours_there_is_no_video(media):
    with pytest.raises(UnsupportedCommand, match="no address"):
        body(video.live_request, media=media)


def test_an_address_longer_than_its_length_byte_is_refused():
    with pytest.raises(UnsupportedCommand, match="255 bytes"):
        body(video.live_request, media=MediaAddress("x" * 256, 1, 2))


def test_a_whole_number_may_be_written_as_a_fraction():
    assert body(video.live_stop, channel=3.0) == bytes.fromhex("03000000")
