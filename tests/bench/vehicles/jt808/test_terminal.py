from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    RegistrationResponse,
    ResendRequest,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_items, encode_location
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.errors import CodecError, FrameError
from motorpool.codecs.reports import (
    DeviceCommand,
    Logout,
    MediaFile,
    PositionReport,
    Recording,
    RecordingList,
    SoundFormat,
)

WHEN = datetime(2026, 5, 1, 10, tzinfo=UTC)


@pytest.fixture(params=[2013, 2019])
def terminal(request):
    return Terminal("13912345678", request.param)


def test_the_built_frame_of_the_page_is_what_a_terminal_sends():
    terminal = Terminal("13912345678")
    terminal.serial = 7
    body = encode_location(
        22.5731,
        113.9213,
        datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC),
        altitude=35,
        speed_kmh=47,
        course=92,
        items=encode_items(odometer_metres=1844600, rssi=24, satellites=11),
    )
    assert terminal.location(body) == bytes.fromhex(
        "7E02000028013912345678000700000000000000030158702C06CA4D14002301D6005C24030522223101040000480E30011831010B647E"
    )


def test_items_are_in_the_order_of_their_ids():
    items = encode_items(
        odometer_metres=100,
        fuel_litres=25.5,
        recorder_speed_kmh=47,
        signals=3,
        rssi=4,
        satellites=5,
        video_alarm=6,
        others=[(0xE1, b"\7")],
    )
    assert items.hex() == "010400000001020200ff030201d6140400000006250400000003300104310105e10107"


@settings(max_examples=60)
@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.integers(946_857_600, 4_102_272_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.floats(0, 300),
    st.floats(0, 360),
    st.integers(-500, 9000),
)
def test_a_location_is_decoded_as_it_was_encoded(latitude, longitude, when, speed, course, altitude):
    terminal = Terminal("13912345678", 2019, zone=timezone(timedelta(hours=2)))
    body = encode_location(
        latitude, longitude, when, speed_kmh=speed, course=course, altitude=altitude, clock=terminal.clock
    )
    report = Jt808(timezone(timedelta(hours=2))).receive(terminal.location(body))[1]

    assert isinstance(report, PositionReport)
    assert report.latitude == pytest.approx(latitude, abs=1e-6)
    assert report.longitude == pytest.approx(longitude, abs=1e-6)
    assert report.speed * 1.852 == pytest.approx(speed, abs=0.06)
    assert abs(report.course - course) % 360 == pytest.approx(0, abs=0.51) or report.course == 0
    assert report.altitude == altitude
    assert report.device_time == when


def test_the_first_words_with_a_platform(terminal):
    codec = Jt808()
    (login,) = codec.receive(terminal.register(plate="粤B12345", model="M7"))
    assert login.attributes["model"] == "M7"
    (answer,) = terminal.receive(codec.acknowledge([login.receipt]))
    assert isinstance(answer, RegistrationResponse)
    terminal.code = answer.code
    (login,) = codec.receive(terminal.authenticate(imei="863333040000017"))
    (answer,) = terminal.receive(codec.acknowledge([login.receipt]))
    assert isinstance(answer, GeneralResponse)
    assert (answer.answered_serial, answer.answered_id, answer.result) == (1, 0x0102, 0)


def test_a_photo_in_packets_arrives_whole(terminal):
    codec = Jt808()
    content = b"\xff\xd8" + bytes(range(256)) * 20
    *_, photo = codec.receive(terminal.photo(77, content, encode_location(1, 2, WHEN), channel=3))
    assert isinstance(photo, MediaFile)
    assert photo.content == content


def test_lost_packets_are_sent_again_on_request(terminal):
    codec = Jt808()
    sent = terminal.photo(77, b"\xff\xd8" + bytes(1000), encode_location(1, 2, WHEN), packet_bytes=300)
    packets = [b"~" + piece + b"~" for piece in sent.split(b"~") if piece]
    codec.receive(packets[0] + packets[2])
    assert codec.tick(0.0) == b""
    (request,) = terminal.receive(codec.tick(5.0))
    assert isinstance(request, ResendRequest)
    assert request.indexes == (2, 4)
    assert isinstance(codec.receive(terminal.resend(request))[-1], MediaFile)


def test_what_is_kept_no_longer_is_not_sent_again(terminal):
    place = encode_location(1, 2, WHEN)
    for _ in range(6):
        terminal.photo(77, bytes(500), place, packet_bytes=300)
    assert terminal.resend(ResendRequest(0x8003, 0, b"", 0, (1,))) == b""
    assert terminal.resend(ResendRequest(0x8003, 0, b"", 10, (1, 99))) != b""


def test_recordings_in_packets_arrive_as_one_list(terminal):
    recordings = [
        Recording(1, WHEN + timedelta(minutes=n), WHEN + timedelta(minutes=n + 1), 0, 0, 1, 1, 1000 + n)
        for n in range(180)
    ]
    *_, found = Jt808().receive(terminal.recordings(3, recordings, packet_bytes=280))
    assert isinstance(found, RecordingList)
    assert list(found.recordings) == recordings


def test_serials_wrap(terminal):
    terminal.serial = 65535
    terminal.heartbeat()
    assert terminal.serial == 0
    terminal.serial = 65534
    terminal.photo(1, bytes(1000), encode_location(1, 2, WHEN), packet_bytes=400)
    assert terminal.serial == 1


def test_a_broken_frame_of_the_platform_is_an_error(terminal):
    with pytest.raises(CodecError, match="check byte"):
        terminal.receive(b"~nonsense~")


def test_a_frame_for_another_terminal_is_an_error(terminal):
    with pytest.raises(CodecError, match="a frame for"):
        terminal.receive(Terminal("999").heartbeat())


@pytest.mark.parametrize(
    ("phone", "version", "error"), [("1", 2011, ValueError), ("1" * 13, 2013, FrameError)]
)
def test_terminals_that_cannot_be(phone, version, error):
    with pytest.raises(error):
        Terminal(phone, version)


def ordered(codec, terminal, command, **attributes):
    """What the terminal reads of an command, and its reference."""
    codec.receive(terminal.heartbeat())
    outgoing = codec.encode(DeviceCommand(command, attributes))
    (message,) = terminal.receive(outgoing.data)
    return message, outgoing.reference


def test_a_requested_position(terminal):
    codec = Jt808()
    request, reference = ordered(codec, terminal, "positionSingle")
    position, result = codec.receive(terminal.position_response(request, encode_location(1.5, 2.5, WHEN)))
    assert (position.latitude, result.reference, result.ok) == (1.5, reference, True)


def test_requested_photos(terminal):
    codec = Jt808()
    request, reference = ordered(codec, terminal, "requestPhoto", channel=2)
    assert (request.channel, request.count) == (2, 1)
    (result,) = codec.receive(terminal.shoot_response(request, [77]))
    assert (result.reference, result.ok) == (reference, True)


def test_queried_parameters(terminal):
    codec = Jt808()
    request, reference = ordered(codec, terminal, "configuration")
    information, result = codec.receive(terminal.parameters(request, {0x29: 30, 0x13: "10.0.0.1"}))
    assert information.attributes == {"reportSeconds": 30, "server": "10.0.0.1"}
    assert (result.reference, result.text) == (reference, "reportSeconds=30, server=10.0.0.1")


def test_queried_attributes(terminal):
    codec = Jt808()
    _, reference = ordered(codec, terminal, "getVersion")
    information, result = codec.receive(
        terminal.attributes(model="M7", iccid="89860012345678901234", version="3.1")
    )
    assert information.attributes["model"] == "M7"
    assert information.attributes["iccid"] == "89860012345678901234"
    assert information.attributes["versionFw"] == "3.1"
    assert result.reference == reference


def test_unsolicited_messages(terminal):
    codec = Jt808()
    _, passengers, sound, capabilities, event, goodbye = codec.receive(
        terminal.passengers(WHEN, WHEN + timedelta(minutes=5), 4, 2)
        + terminal.media_capabilities(bytes.fromhex("06010001014000620808"))
        + terminal.media_event(77, 3)
        + terminal.unregister()
    )
    assert passengers.attributes["passengersIn"] == 4
    # G.711 A-law, 40 ms a frame.
    assert sound == SoundFormat(payload_type=6, frame_bytes=320)
    assert capabilities.attributes["videoCoding"] == 98
    assert event.attributes["channel"] == 3
    assert isinstance(goodbye, Logout)


def test_the_time_request(terminal):
    codec = Jt808()
    codec.utc_now = lambda: WHEN
    (reported,) = terminal.receive(codec.receive(terminal.time_request())[1].data)
    assert reported.time == WHEN
