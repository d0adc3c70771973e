from datetime import UTC, datetime

import pytest

from motorpool.codecs.devices.jt808 import bodies
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import Truncated

CLOCK = TerminalClock()


@pytest.mark.parametrize("field", [b"\0\0AB\0", b"  AB  ", b"AB", b"AB \0"])
def test_padding_on_either_side_is_dropped(field):
    assert bodies.text(field) == "AB"


def test_bytes_that_are_no_gbk_do_not_break_a_text():
    assert bodies.text(b"A\xff\xffB") == "A\ufffd\ufffdB"


def test_empty_fields_of_a_registration_are_left_out():
    reported = bodies.registration(bytes(4 + 5 + 20 + 7) + b"\x01" + b"A12345", is_2019=False)
    assert reported == {"province": 0, "city": 0, "plateColor": 1, "plate": "A12345"}


def test_a_short_registration_is_truncated():
    with pytest.raises(Truncated):
        bodies.registration(bytes(10), is_2019=True)


@pytest.mark.parametrize(
    ("body", "is_2019"), [(b"code", False), (b"", True), (b"\x04code", True), (b"code", True)]
)
def test_authentication_by_the_code_alone_tells_nothing(body, is_2019):
    assert bodies.authentication(body, is_2019=is_2019) == {}


@pytest.mark.parametrize(
    ("body", "is_2019", "code"),
    [
        (b"code", False, "code"),
        (b"\x04code", False, "\x04code"),
        (b"", False, ""),
        (b"", True, ""),
        (b"code", True, "code"),
        (b"\x04code", True, "code"),
        (b"\x04code" + bytes(35), True, "code"),
        (b"\x04code" + bytes(40), True, "code"),
        (b"\x00", True, ""),
        (b"0123456789abcdef\0", True, "0123456789abcdef"),
    ],
)
def test_the_code_is_read_with_its_length_in_front_or_without(body, is_2019, code):
    assert bodies.authentication_code(body, is_2019=is_2019) == code


@pytest.mark.parametrize(
    ("sizes", "is_2019"), [((5, 20, 7), False), ((11, 30, 30), True), ((5, 30, 30), True), ((5, 20, 7), True)]
)
def test_attributes_are_read_in_the_form_that_fills_the_body(sizes, is_2019):
    names = b"".join(
        word.ljust(size, b"\0") for word, size in zip((b"MAKER", b"MODEL", b"ID"), sizes, strict=True)
    )
    body = b"\0\7" + names + bytes.fromhex("89860012345678901234") + b"\2H1\2F2" + b"\1\1"
    assert bodies.terminal_attributes(body, is_2019=is_2019) == {
        "manufacturer": "MAKER",
        "model": "MODEL",
        "terminalId": "ID",
        "iccid": "89860012345678901234",
        "versionHw": "H1",
        "versionFw": "F2",
    }


def test_attributes_with_bytes_behind_them_are_read():
    body = (
        b"\0\7"
        + b"MAKER"
        + b"MODEL".ljust(20, b"\0")
        + b"ID".ljust(7, b"\0")
        + bytes(10)
        + b"\0\0\1\1"
        + b"more"
    )
    assert bodies.terminal_attributes(body, is_2019=False)["model"] == "MODEL"


def test_attributes_that_end_early_are_truncated():
    with pytest.raises(Truncated, match="20 bytes"):
        bodies.terminal_attributes(bytes(20), is_2019=True)


def record(start="260501080000", end="260501081500"):
    return bytes.fromhex("03" + start + end + "0000000000000005" + "00" + "00" + "00" + "00000400")


def test_records_count_and_not_their_announced_number():
    body = b"\0\1\0\0\0\x63" + record() * 2 + b"cut"
    found = bodies.recordings(body, CLOCK)
    assert [(one.channel, one.alarm_flag, one.stream_type, one.size) for one in found] == [
        (3, 5, 0, 1024)
    ] * 2
    assert found[0].start_time == datetime(2026, 5, 1, 0, 0, tzinfo=UTC)
    assert found[0].end_time == datetime(2026, 5, 1, 0, 15, tzinfo=UTC)


def test_a_record_without_times_does_not_cost_the_others():
    body = bytes(6) + record() + record(end="000000000000") + record()
    assert len(bodies.recordings(body, CLOCK)) == 2


def test_an_empty_list_is_a_list():
    assert bodies.recordings(bytes(6), CLOCK) == ()


def test_passengers_without_times():
    assert bodies.passengers(bytes(12) + b"\0\1\0\2", CLOCK) == {"passengersIn": 1, "passengersOut": 2}


@pytest.mark.parametrize("read", [bodies.media_capabilities, bodies.media_event])
def test_short_bodies_are_truncated(read):
    with pytest.raises(Truncated):
        read(b"\0\0")


def test_a_long_code_of_2019_holds_no_imei():
    code = b"TWpVMk5qWTJOalky" * 10
    assert bodies.authentication(code, is_2019=True) == {}


def test_attributes_may_end_behind_the_iccid():
    body = bytes(2) + bytes(32) + bytes.fromhex("89860012345678901234")
    assert bodies.terminal_attributes(body, is_2019=False) == {"iccid": "89860012345678901234"}
