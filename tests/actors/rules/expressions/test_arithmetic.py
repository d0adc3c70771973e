"""Operators between two values, against what Java does."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.expressions import ExpressionError, compile_expression

WHOLE = st.integers(-(2**63), 2**63 - 1)
REAL = st.floats(allow_nan=False, allow_infinity=False, width=64)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("7 / 2.0", 3.5),
        ("7 % 3", 1),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7.5 % 2", -1.5),
        ("'7' / 2", 3),
        ("'7.0' / 2", 3.5),
        ("true + 1", 2),
        ("'a' + 1", "a1"),
        ("1 + 'a'", "1a"),
        ("1 + 2 + 'a'", "3a"),
        ("'1' + 2", "12"),
        ("'' + 1.0", "1.0"),
        ("'' + true", "true"),
        ("'' + [1, 'a', null]", "[1, a, null]"),
        ("'' + {'a': 1}", "{a=1}"),
        ("-'5'", -5),
        ("+'5'", 5),
        ("~5", -6),
        ("5 & 3", 1),
        ("5 | 3", 7),
        ("5 ^ 3", 6),
        ("3.9 & 3", 3),
        ("1 << 3", 8),
        ("1 << 63", -(2**63)),
        ("1 << 64", 1),
        ("-8 >> 1", -4),
        ("-1 >>> 60", 15),
        ("'abc' =^ 'ab'", True),
        ("'abc' !^ 'ab'", False),
        ("'abc' =$ 'bc'", True),
        ("'abc' !$ 'bc'", False),
        ("null =^ 'a'", False),
        ("null =$ null", True),
    ],
)
def test_operators_give_what_java_gives(value, text, wanted):
    found = value(text)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1.0 / 0", "division by zero"),
        ("1.0 % 0.0", "division by zero"),
        ("9223372036854775807 + 1", "a whole number grew beyond 64 bits"),
        ("-9223372036854775807 - 2", "a whole number grew beyond 64 bits"),
        ("9223372036854775807 * 2", "a whole number grew beyond 64 bits"),
        ("(-9223372036854775807 - 1) / -1", "a whole number grew beyond 64 bits"),
        ("-(-9223372036854775807 - 1)", "a whole number grew beyond 64 bits"),
        ("null + 1", "null is not a number"),
        ("null + 'a'", "null is not a text"),
        ("'a' * 2", "the text 'a' is not a number"),
        ("[1] - 1", "a list is not a number"),
        ("{'a': 1} & 1", "a map is not a number"),
        ("NaN & 1", "an infinite number or NaN is not a whole number"),
        ("1e300 | 1", "a whole number grew beyond 64 bits"),
    ],
)
def test_what_cannot_be_computed_is_an_error(refusal, text, wanted):
    assert refusal(text) == wanted


def computed(text, a, b):
    return compile_expression(text).evaluate({"a": a, "b": b})


def in_range(number):
    return -(2**63) <= number < 2**63


@given(WHOLE, WHOLE)
def test_whole_numbers_follow_pythons_where_they_fit(a, b):
    for text, wanted in (("a + b", a + b), ("a - b", a - b), ("a * b", a * b)):
        if in_range(wanted):
            assert computed(text, a, b) == wanted
        else:
            with pytest.raises(ExpressionError):
                computed(text, a, b)
    assert computed("a & b", a, b) == a & b
    assert computed("a | b", a, b) == a | b
    assert computed("a ^ b", a, b) == a ^ b
    assert computed("a < b", a, b) is (a < b)
    assert computed("a >= b", a, b) is (a >= b)
    assert computed("a == b", a, b) is (a == b)


@given(WHOLE, WHOLE.filter(bool))
def test_division_and_remainder_belong_together(a, b):
    if a == -(2**63) and b == -1:
        return
    whole, rest = computed("a / b", a, b), computed("a % b", a, b)
    assert whole * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or (rest < 0) == (a < 0)
    assert whole == math.trunc(a / b) or abs(a) > 2**50


@given(WHOLE, st.integers(-200, 200))
def test_shifts_stay_within_64_bits(a, b):
    steps = b % 64
    assert computed("a << b", a, b) % 2**64 == (a * 2**steps) % 2**64
    assert in_range(computed("a << b", a, b))
    assert computed("a >> b", a, b) == a // 2**steps
    assert computed("a >>> b", a, b) % 2**64 == (a % 2**64) // 2**steps


@given(REAL, REAL)
def test_real_numbers_follow_pythons(a, b):
    assert computed("a + b", a, b) == a + b
    assert computed("a - b", a, b) == a - b
    assert computed("a * b", a, b) == a * b
    if b:
        assert computed("a / b", a, b) == a / b
    assert computed("a <= b", a, b) is (a <= b)
