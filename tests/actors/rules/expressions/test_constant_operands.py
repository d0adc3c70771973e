"""Operators with a constant right operand, against the same ones with a variable there."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motorpool.actors.rules.expressions import ExpressionError, compile_expression

LITERALS = st.one_of(
    st.none(),
    st.integers(0, 2**63 - 1),
    st.sampled_from([0, 1, 16]),
    st.integers(0, 10**6).map(lambda number: number / 64),
    st.sampled_from([1.852, 1e15]),
    st.sampled_from(["", "5", "abc"]),
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**64), 2**64),
    st.integers(-20, 20),
    st.floats(),
    st.sampled_from(["", "5", "1.5", "abc"]),
    st.lists(st.integers(), max_size=1),
)
ARITHMETIC = ["+", "-", "*", "/", "div", "%", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "eq", "!=", "ne", "<", "lt", "<=", "le", ">", "gt", ">=", "ge", "=^"]


def outcome(text, **variables):
    try:
        found = compile_expression(text).evaluate(variables)
    except ExpressionError as error:
        return str(error)
    return type(found), "NaN" if isinstance(found, float) and math.isnan(found) else found


@pytest.mark.parametrize("left", ["a", "(a ?? null)"])
@given(sign=st.sampled_from(ARITHMETIC + COMPARISONS), value=VALUES, right=LITERALS)
@example(sign="+", value=2**63 - 1, right=1)
@example(sign="*", value=2**62, right=2)
@example(sign="*", value=2**64, right=1.0)
@example(sign="/", value=1.0, right=0)
@example(sign="/", value=-7, right=2)
@example(sign="/", value=-7, right=2.0)
@example(sign="&", value=-1, right=16)
@example(sign="&", value=5.5, right=4)
@example(sign="==", value=True, right=1)
@example(sign="!=", value=math.nan, right=1)
@example(sign="<", value="5", right=16)
def test_a_constant_operand_gives_what_a_variable_gives(left, sign, value, right):
    literal = "null" if right is None else f"'{right}'" if isinstance(right, str) else repr(right)
    assert outcome(f"{left} {sign} {literal}", a=value) == outcome(f"{left} {sign} b", a=value, b=right)


@pytest.mark.parametrize("text", ["a + 1", "a == null", "a < 5.0", "(a & 1) != 0"])
def test_an_undefined_variable_beside_a_constant_fails(text, refusal):
    assert refusal(text) == "undefined variable a"
