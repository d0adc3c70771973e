from functools import reduce
from operator import xor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motorpool.codecs.checksums import (
    crc16_arc,
    crc16_kermit,
    crc16_x25,
    sum8,
    xor8,
)


@pytest.mark.parametrize(
    ("data", "check"), [(b"", 0), (b"\x7e", 0x7E), (b"\x01\x02\x04", 7), (b"\xff" * 3, 0xFF)]
)
def test_xor8_of_known_bytes(data, check):
    assert xor8(data) == check


@given(st.binary(max_size=1100))
@example(b"\x01" + bytes(1044))
@example(b"\x01" + bytes(128))
@example(b"\x80" + bytes(32))
@example(b"\x80" + bytes(16))
def test_xor8_combines_every_byte(data):
    assert xor8(data) == reduce(xor, data, 0)


@pytest.mark.parametrize(
    ("checksum", "value"),
    [
        (crc16_arc, 0xBB3D),
        (crc16_x25, 0x906E),
        (crc16_kermit, 0x2189),
        (sum8, 0xDD),
    ],
)
def test_the_check_values_of_the_catalogue(checksum, value):
    assert checksum(b"123456789") == value
