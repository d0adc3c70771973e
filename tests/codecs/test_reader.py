import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import BitReader, ByteReader


def test_fields_follow_one_another_big_endian():
    fields = ByteReader(bytes(range(1, 20)), 1)

    assert fields.uint8() == 0x02
    assert fields.uint16() == 0x0304
    assert fields.uint32() == 0x05060708
    assert fields.uint64() == 0x090A0B0C0D0E0F10
    assert fields.remaining == 3
    assert fields.rest() == b"\x11\x12\x13"
    assert fields.remaining == 0
    assert fields.rest() == b""


@pytest.mark.parametrize(
    "read", [ByteReader.uint16, ByteReader.uint32, ByteReader.uint64, lambda r: r.take(2)]
)
def test_a_field_past_the_end_is_truncated_and_leaves_the_reader_where_it_was(read):
    fields = ByteReader(b"\x07")

    with pytest.raises(Truncated, match="1 left"):
        read(fields)
    assert fields.uint8() == 7


def test_fields_may_be_little_endian_signed_and_of_any_size():
    fields = ByteReader(b"\x01\x02\xfe\xff\xff\x00\x00\xc0\x3f", order="little")

    assert fields.uint16() == 0x0201
    assert fields.sint(3) == -2
    assert fields.float32() == 1.5


def test_texts_digits_and_readers_of_a_part():
    fields = ByteReader(b"\x86\x12AB\xff \0\x01\x02\x03")

    assert fields.digits(2) == "8612"
    assert fields.ascii(5) == "AB\N{REPLACEMENT CHARACTER}"
    part = fields.reader(2)
    assert (part.uint8(), part.remaining, fields.remaining) == (1, 1, 1)
    fields.skip(1)
    with pytest.raises(Truncated):
        fields.skip(1)


def test_bits_are_read_from_the_most_significant_one():
    bits = BitReader(b"\xb5\x81")

    assert [bits.uint(1), bits.uint(3), bits.sint(4), bits.sint(2), bits.remaining] == [1, 3, 5, -2, 6]
    with pytest.raises(Truncated, match="7 bits expected, 6 left"):
        bits.uint(7)
    assert bits.uint(6) == 1
    assert BitReader(b"").sint(0) == 0


@given(st.binary(max_size=12), st.lists(st.integers(0, 20)))
def test_the_bits_that_are_read_are_those_of_the_bytes(data, sizes):
    bits = BitReader(data)
    digits = "".join(f"{byte:08b}" for byte in data)
    for size in sizes:
        if size > bits.remaining:
            break
        taken, digits = digits[:size], digits[size:]
        assert bits.uint(size) == int(taken or "0", 2)
