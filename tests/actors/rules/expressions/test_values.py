"""What values are taken for."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.values import equal, milliseconds, order, text, to_number, truth

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (0.0, "0.0"),
        (9999999.0, "9999999.0"),
        (10000000.0, "1.0E7"),
        (-123456789.5, "-1.234567895E8"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (1e300, "1.0E300"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
        (-12, "-12"),
        (False, "false"),
        (NOON, "2026-05-01T12:00:00Z"),
        (NOON + timedelta(milliseconds=5), "2026-05-01T12:00:00.005Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-05-01T12:00:00Z"),
        ([1.0, [None]], "[1.0, [null]]"),
        ({"a": True, "b": {}}, "{a=true, b={}}"),
    ],
)
def test_values_are_written_as_java_writes_them(value, wanted):
    assert text(value) == wanted


@given(st.floats(allow_nan=False))
def test_a_number_that_was_written_reads_as_the_same(number):
    if math.isfinite(number):
        assert to_number(text(number)) == number


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("12", 12), ("-12", -12), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), (True, 1), (2, 2)],
)
def test_texts_may_be_numbers(value, wanted):
    found = to_number(value)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    "value", ["", " 1", "1_000", "0x10", "nan", "inf", "\u0661", "1" * 5000, 2**63, None, [1], NOON]
)
def test_what_is_no_number_is_an_error(value):
    with pytest.raises(ExpressionError):
        to_number(value)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, False),
        (0, False),
        (0.0, False),
        (math.nan, False),
        ("", False),
        ("false", False),
        (False, False),
        (True, True),
        (2, True),
        (-0.5, True),
        ("0", True),
        ("no", True),
        ([], True),
    ],
)
def test_conditions_are_true_unless_null_zero_or_false(value, wanted):
    assert truth(value) is wanted


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (1, 1.0, True),
        (1, "1", True),
        ("1.0", 1, True),
        ("1.0", "1", False),
        ("a", 1, False),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (True, "true", True),
        (True, 1, True),
        (False, "false", True),
        (True, "false", False),
        ([1], [1], True),
        ([1], [2], False),
        ([1], 1, False),
        (NOON, NOON, True),
        (NOON, 1, False),
        (math.nan, math.nan, False),
    ],
)
def test_equality_looks_at_what_values_stand_for(left, right, wanted):
    assert equal(left, right) is wanted
    assert equal(right, left) is wanted


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (1, 2, -1),
        (2, "10", -1),
        ("2", "10", 1),
        (1.5, 1.5, 0),
        (None, 1, None),
        (1, None, None),
        (math.nan, 1, None),
        (NOON, NOON + timedelta(seconds=1), -1),
        (2**62, 2.0**62, 0),
    ],
)
def test_the_order_of_values(left, right, wanted):
    assert order(left, right) == wanted


@pytest.mark.parametrize(("left", "right"), [("a", 1), (NOON, 1), ([1], 1), ([1], [2])])
def test_what_has_no_order_is_an_error(left, right):
    with pytest.raises(ExpressionError):
        order(left, right)


def test_milliseconds_count_from_1970():
    assert milliseconds(datetime(1970, 1, 2, 0, 0, 0, 7999, tzinfo=UTC)) == 86_400_007
    assert milliseconds(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1000
