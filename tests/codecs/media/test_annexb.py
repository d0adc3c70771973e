import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import annexb
from motorpool.codecs.media.annexb import exp_golomb, scan


def bits_of(number: int) -> str:
    """H.264 9.1, written from its text: as many zeros as the number plus one has bits behind its first."""
    digits = f"{number + 1:b}"
    return "0" * (len(digits) - 1) + digits


@given(st.integers(0, 60_000))
def test_exponential_golomb_numbers_are_read(number: int) -> None:
    bits = bits_of(number) + "1"
    field = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8))
    assert exp_golomb(b"\x68" + field, 1) == number


@pytest.mark.parametrize("field", [b"", b"\0", b"\0" * 20, b"\x01"])
def test_a_number_that_is_cut_off_reads_as_nought(field: bytes) -> None:
    assert exp_golomb(field, 0) == 0


@given(st.binary(max_size=60))
def test_any_bytes_can_be_walked(payload: bytes) -> None:
    found = scan(payload, lambda byte: byte > 200 if byte > 100 else None, lambda unit: (len(unit), 0))
    assert found.has_picture or not found.keyframe


@pytest.mark.parametrize(
    ("payload", "units"),
    [
        (b"", []),
        (b"no code at all", []),
        (b"\0\0\0\1", []),
        (b"\0\0\1\x41abc", [b"\x41abc"]),
        (b"junk\0\0\0\1\x67a\0\0\1\x68b\0\0\0\0\1\x65c\0\0", [b"\x67a", b"\x68b", b"\x65c"]),
        (b"\0\0\1\0\0\1\x41\0\0\3\1", [b"\x41\0\0\3\1"]),
    ],
)
def test_all_units_come_without_codes_and_the_zeros_between(payload: bytes, units: list[bytes]) -> None:
    assert annexb.nal_units(payload) == units


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"\0\0\1", b"\0\0\0\1", b"\0\0\0\0\1"]),
            st.binary(min_size=1, max_size=20).filter(
                lambda unit: b"\0\0\1" not in unit and not unit.endswith(b"\0") and unit[0]
            ),
            st.sampled_from([b"", b"\0\0"]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_length_prefixed_units_follow_their_lengths(units: list[tuple[bytes, bytes, bytes]]) -> None:
    payload = b"".join(code + unit + zeros for code, unit, zeros in units)
    assert annexb.to_length_prefixed(payload) == b"".join(
        len(unit).to_bytes(4) + unit for _, unit, _ in units
    )
