import pytest

from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding


def test_a_picture_is_cut_at_950_bytes_with_the_standards_marks() -> None:
    sender = Jt1078Sender("13912345678")
    wire = sender.encode(AccessUnit(2, H264, True, 0x0102, b"\x55" * 2000, 40))
    assert wire[:30].hex() == (
        "30316364"
        + "81"
        + "62"
        + "0000"
        + "013912345678"
        + "02"
        + "01"
        + "0000000000000102"
        + "0000"
        + "0028"
        + "03b6"
    )
    second = wire[980:1010]
    assert (second[4:8].hex(), second[15], second[28:30].hex()) == ("81620001", 0x03, "03b6")
    last = wire[1960:1990]
    assert (last[4:8].hex(), last[15], last[28:30].hex()) == ("81e20002", 0x02, "0064")
    assert len(wire) == 3 * 30 + 2000


def test_sound_has_the_short_head() -> None:
    wire = Jt1078Sender("1", sim_bytes=10).encode(AccessUnit(1, AudioCoding.G711A, False, 7, b"\xd5" * 320))
    assert wire[:30].hex() == (
        "30316364" + "8186" + "0000" + "00000000000000000001" + "01" + "30" + "0000000000000007" + "0140"
    )
    assert len(wire) == 30 + 320


def test_the_times_since_the_key_frame_and_the_last_picture_are_told() -> None:
    sender = Jt1078Sender("13912345678")
    sender.encode(AccessUnit(1, H264, True, 1000, b"\0"))
    sender.encode(AccessUnit(1, H264, False, 1040, b"\0"))
    wire = sender.encode(AccessUnit(1, H264, False, 1090, b"\0"))
    assert (int.from_bytes(wire[24:26]), int.from_bytes(wire[26:28])) == (90, 50)
    wire = sender.encode(AccessUnit(1, H264, False, 3, b"\0"))  # the clock jumped
    assert (int.from_bytes(wire[24:26]), int.from_bytes(wire[26:28])) == (0, 0)


def test_the_data_type_can_be_told() -> None:
    wire = Jt1078Sender("13912345678").encode(AccessUnit(1, H265, False, 0, b"\0"), 2)
    assert wire[15] == 0x20
    assert wire[5] == 0x80 | 99


def test_a_sim_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Jt1078Sender("1391234567890123")
