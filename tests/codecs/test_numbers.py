import math

import pytest

from motorpool.codecs.numbers import parse_real, parse_whole, whole_number

NEITHER = (
    "",
    " ",
    "-",
    "x",
    "\u0663",
    "\uff11",
    "\u00b2",
    "1_0",
    "1 0",
    "--5",
    "0x10",
    "nan",
    "inf",
    "1e",
    "1" * 5000,
)


@pytest.mark.parametrize("text", NEITHER)
def test_what_does_not_consist_of_ascii_digits_is_no_number(text):
    assert parse_whole(text) is None
    assert parse_real(text) is None


def test_whole_numbers_have_a_sign_or_none():
    assert [parse_whole(text) for text in ("0", "007", "+7", "-7", " 7\n")] == [0, 7, 7, -7, 7]
    assert [parse_whole(text) for text in ("1.0", "1e3", "9" * 20)] == [None] * 3


def test_decimal_numbers_have_a_point_and_an_exponent_or_none():
    assert [parse_real(text) for text in ("1", "-1.5", ".5", "5.", "1e3", " 2E-1 ")] == [
        1,
        -1.5,
        0.5,
        5,
        1000,
        0.2,
    ]
    assert parse_real("1e999") == math.inf


def test_a_json_value_is_a_whole_number_as_a_number_or_a_text():
    assert [whole_number(value) for value in (3, 3.0, "3", -1)] == [3, 3, 3, -1]
    for value in (True, None, 3.5, "3.5", "\u0663", float("nan"), float("inf"), [3], {}):
        assert whole_number(value) is None
