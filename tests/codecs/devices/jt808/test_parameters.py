import pytest

from motorpool.codecs.devices.jt808.parameters import parse_parameters, read_parameters, write_parameters
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reader import ByteReader


def test_each_parameter_has_its_width():
    assert write_parameters({0x29: 30, 0x81: 44, 0x84: 2, 0x13: "1.2.3.4", 0x75: b"\1\2"}) == bytes.fromhex(
        "0500000029040000001e0000008102002c0000008401020000001307312e322e332e3400000075020102"
    )


def test_what_is_written_is_read_with_names():
    body = write_parameters({0x29: 30, 0x81: 44, 0x84: 2, 0x83: "粤B12345", 0x75: b"\1\2\3", 0x31: 200})
    assert read_parameters(ByteReader(body, 1)) == {
        "reportSeconds": 30,
        "province": 44,
        "plateColor": 2,
        "plate": "粤B12345",
        "parameter0075": "010203",
        "parameter0031": 200,
    }


def test_a_list_that_ends_early_keeps_what_is_there():
    assert read_parameters(ByteReader(bytes.fromhex("00000029040000001e00000013073132"))) == {
        "reportSeconds": 30,
        "server": "12",
    }


def test_parameters_are_named_or_numbered_in_text():
    assert parse_parameters("reportSeconds=30, 0x0013 = 1.2.3.4,0x0075=hex:0102,84=1") == {
        0x29: 30,
        0x13: "1.2.3.4",
        0x75: b"\1\2",
        0x84: 1,
    }


@pytest.mark.parametrize(
    "text", ["", "=", "0x29", "0x29=", "0x29=x", "nonsense=1", "0x1ffffffff=1", "-1=1", "0x75=hex:0"]
)
def test_what_is_no_parameter_is_refused_by_name(text):
    with pytest.raises(UnsupportedCommand, match="is not a parameter"):
        parse_parameters(text)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({0x84: 256}, "1 bytes"),
        ({0x29: -1}, "4 bytes"),
        ({0x29: 1 << 32}, "4 bytes"),
        ({0x13: "x" * 256}, "255 bytes"),
    ],
)
def test_values_that_do_not_fit_are_refused(values, error):
    with pytest.raises(UnsupportedCommand, match=error):
        write_parameters(values)


def test_more_parameters_than_a_byte_counts_are_refused():
    with pytest.raises(UnsupportedCommand, match="255"):
        parse_parameters(",".join(f"{number:x}=1" for number in range(0x1000, 0x1100)))
