"""How deep an expression may be."""

import pytest

DEEP = "the expression is nested deeper than 100 levels"


@pytest.mark.parametrize(
    "make",
    [
        lambda levels: "!" * levels + "true",
        lambda levels: "[" * levels + "1" + "]" * levels,
        lambda levels: "a ? 1 : " * levels + "2",
        lambda levels: "if (a) 1; else " * levels + "2",
        lambda levels: "a" + "[0]" * levels,
    ],
)
def test_a_hundred_levels_are_read_and_computed_and_no_more(value, refusal, make):
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    value(make(99), a=deep)
    assert refusal(make(101), a=deep) == DEEP


def test_parentheses_and_chains_cost_no_depth(value):
    assert value("(" * 1500 + "1" + ")" * 1500) == 1
    assert value("1" + " + 1" * 900) == 901
