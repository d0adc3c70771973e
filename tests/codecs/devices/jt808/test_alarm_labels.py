"""Labels of alarms."""

import pytest

from motorpool.codecs.devices.jt808.alarm_labels import AlarmLabel

SU = b"TERM001" + bytes.fromhex("260305200000 02 03 00")
KEY = b"k" * 32
YUE = b"TERM001".ljust(30, b"\0") + bytes.fromhex("260305200000 02 03 0000")


@pytest.mark.parametrize("content", [SU, YUE])
def test_a_label_tells_how_many_files_there_are(content):
    label = AlarmLabel.parse(content)
    assert label is not None
    assert label.files == 3
    assert label.content == content


@pytest.mark.parametrize("content", [SU, YUE])
def test_the_number_is_32_digits_that_do_not_depend_on_the_count_of_files(content):
    label = AlarmLabel.parse(content)
    end = 2 if content is YUE else 1
    other_count = AlarmLabel.parse(content[: -end - 1] + b"\x09" + content[-end:])
    assert other_count.files == 9
    assert other_count.key == label.key
    number = label.number(KEY, "139")
    assert other_count.number(KEY, "139") == number
    assert len(number) == 32
    assert int(number, 16)
    next_alarm = AlarmLabel.parse(content[: -end - 2] + b"\x03\x03" + content[-end:])
    assert next_alarm.number(KEY, "139") != number
    # Who has neither the key nor this terminal's number cannot compute it.
    assert label.number(bytes(32), "139") != number
    assert label.number(KEY, "138") != number


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SU[:-1],
        SU + b"\0",
        YUE[:-1],
        bytes(16),
        bytes(40),
        b"TERM001" + bytes.fromhex("261305200000 02 03 00"),  # month 13
        b"TERM001" + bytes.fromhex("260300200000 02 03 00"),  # day 0
        b"TERM001" + bytes.fromhex("260305990000 02 03 00"),  # hour 99
        b"TERM001" + bytes.fromhex("2603052000fa 02 03 00"),  # no decimal digits
    ],
)
def test_bytes_without_a_possible_time_are_no_label(content):
    assert AlarmLabel.parse(content) is None
