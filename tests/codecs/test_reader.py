import pytest

from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader


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
