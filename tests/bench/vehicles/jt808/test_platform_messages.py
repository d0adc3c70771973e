from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808 import platform_messages
from motorpool.codecs.devices.jt808.frames import Identity, decode_frame, encode_frame, new_framer
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import Truncated

START, END = datetime(2026, 5, 1, 0, 0, tzinfo=UTC), datetime(2026, 5, 1, 0, 15, tzinfo=UTC)
SPAN = "260501080000260501081500"


def read(message_id, body, *, is_2019=False):
    identity = Identity.from_digits("13912345678", is_2019=is_2019)
    (content,) = new_framer().receive(encode_frame(identity, message_id, 9, bytes.fromhex(body)))
    return platform_messages.parse_platform_message(decode_frame(content), TerminalClock())


@pytest.mark.parametrize(
    ("message_id", "body", "kind", "fields"),
    [
        (0x8001, "0007020000", platform_messages.GeneralResponse, (7, 0x0200, 0)),
        (0x8100, "000700636f6465", platform_messages.RegistrationResponse, (7, 0, "code")),
        (0x8100, "000704", platform_messages.RegistrationResponse, (7, 4, "")),
        (0x8800, "0000004d", platform_messages.MediaUploadResponse, (77, ())),
        (0x8800, "0000004d0200010005", platform_messages.MediaUploadResponse, (77, (1, 5))),
        (0x8003, "00640200020004", platform_messages.ResendRequest, (100, (2, 4))),
        (0x8004, "260501000000", platform_messages.TimeResponse, (START,)),
        (0x8103, "0100000029040000001e", platform_messages.SetParameters, ({"reportSeconds": 30},)),
        (0x8105, "04", platform_messages.TerminalControl, (4, "")),
        (0x8105, "02613b62", platform_messages.TerminalControl, (2, "a;b")),
        (0x8202, "000500000258", platform_messages.TemporaryTracking, (5, 600)),
        (0x8202, "0000", platform_messages.TemporaryTracking, (0, 0)),
        (0x8300, "0cc4e3bac3", platform_messages.TextMessage, (12, "你好")),
        (0x8801, "020001000000", platform_messages.PhotoRequest, (2, 1)),
        (0x9101, "02616204360001020001", platform_messages.LiveVideoRequest, ("ab", 1078, 1, 2, 0, 1)),
        (0x9102, "02000101", platform_messages.LiveVideoControl, (2, 0, 1, 1)),
        (
            0x9205,
            "00" + SPAN + "0000000000000001030002",
            platform_messages.RecordingListQuery,
            (0, START, END, 1, 3, 0, 2),
        ),
        (
            0x9205,
            "00" + "00" * 12 + "0000000000000000030000",
            platform_messages.RecordingListQuery,
            (0, None, None, 0, 3, 0, 0),
        ),
        (
            0x9201,
            "02616204370000030001020105" + SPAN,
            platform_messages.PlaybackRequest,
            ("ab", 1079, 0, 3, 0, 1, 2, 1, 5, START, END),
        ),
        (0x9202, "010500260501080000", platform_messages.PlaybackControl, (1, 5, 0, START)),
        (0x8104, "", platform_messages.PlatformMessage, ()),
    ],
)
def test_messages_of_the_platform(message_id, body, kind, fields):
    message = read(message_id, body)
    assert type(message) is kind
    assert message == kind(message_id, 9, bytes.fromhex(body), *fields)


def test_forms_of_2019():
    assert read(0x8003, "0064000200020004", is_2019=True).indexes == (2, 4)
    assert read(0x8300, "0c016869", is_2019=True).text == "hi"


@pytest.mark.parametrize(
    "message_id", [0x8001, 0x8100, 0x8003, 0x8004, 0x8103, 0x8105, 0x9101, 0x9102, 0x9201, 0x9202, 0x9205]
)
def test_bodies_that_end_early_are_truncated(message_id):
    with pytest.raises(Truncated):
        read(message_id, "")
