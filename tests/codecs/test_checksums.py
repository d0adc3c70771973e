from functools import reduce
from operator import xor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motorpool.codecs.checksums import xor8


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
