import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.errors import CodecError
from motorpool.codecs.units import checked_coordinates, degrees


@given(st.integers(0, 179), st.integers(0, 599_999), st.sampled_from("NSEWnsew"))
def test_degrees_and_minutes_are_degrees(whole, minutes, hemisphere):
    text = f"{whole:03}{minutes // 10_000:02}.{minutes % 10_000:04}"
    sign = -1 if hemisphere in "SWsw" else 1

    assert degrees(text, hemisphere) == pytest.approx(sign * (whole + minutes / 600_000), abs=1e-9)


@pytest.mark.parametrize(("text", "value"), [("34.3860", 0.5731), ("2234.3860", 22.5731), ("5", 5 / 60)])
def test_degrees_may_have_few_digits_or_none(text, value):
    assert degrees(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "-2234.3", "2260.0", "22a4.1", "1" * 30, "22.3.4", "²2.0"])
def test_what_is_no_coordinate_is_refused(text):
    with pytest.raises(CodecError):
        degrees(text)


def test_what_is_no_hemisphere_is_refused():
    with pytest.raises(CodecError, match="hemisphere"):
        degrees("2234.3860", "X")


@pytest.mark.parametrize("place", [(90.1, 0.0), (0.0, -180.1), (float("nan"), 0.0)])
def test_coordinates_beyond_the_earth_are_refused(place):
    with pytest.raises(CodecError):
        checked_coordinates(*place)
