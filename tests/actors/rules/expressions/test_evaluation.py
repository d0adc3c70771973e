"""What an evaluation may cost."""

import pytest

from motorpool.actors.rules.expressions import (
    EvaluationState,
    ExpressionError,
    TooMuchHere,
    compile_expression,
)
from motorpool.actors.rules.expressions.evaluation import MAX_WORK

LONG = "a text grew longer than 10000 characters"
WORK = "the expression takes too much work"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("s + s + s", LONG),
        ("s.repeat(1000000000)", LONG),
        ("s.concat(s).concat(s)", LONG),
        ("s.replace('a', s)", LONG),
        ("s.replace('', s)", LONG),
        ("s.replaceAll('a', 'aaaa')", LONG),
        ("`${s}${s}${s}`", LONG),
        ("'' + [s, s, s]", LONG),
        ("[" + ", ".join(["s.toUpperCase()"] * 200) + "]", WORK),
        ("[" + ", ".join(["s.contains(t)"] * 200) + "]", WORK),
        ("[" + ", ".join(["1 =~ list"] * 200) + "]", WORK),
        ("[" + ", ".join(["list.contains(1)"] * 200) + "]", WORK),
    ],
)
def test_neither_texts_nor_work_grow_without_bound(refusal, text, wanted):
    variables = {"s": "a" * 4000, "t": "a" * 200_000, "list": [0] * 5000}
    if "replaceAll" in text:
        variables["s"] = "a" * 2400
        # Each search is counted before the text could grow.
        wanted = WORK
    assert refusal(text, **variables) == wanted


def test_what_people_write_is_far_from_the_bounds(value):
    raw = "7e0200" * 300
    assert value("raw.substring(10, 14) + raw.length()", raw=raw) == "007e1800"
    assert value("result.toLowerCase().split(';').size()", result="A=1;B=2;" * 50) == 100
    assert value("result =~ '.*voltage=([0-9.]+).*'", result="x" * 1000 + "voltage=12.5") is True


def test_several_expressions_have_less_work_together_where_they_are_not_to_take_long():
    state = EvaluationState({"s": "a" * 100}, here=350)
    one = compile_expression("s.toUpperCase()")
    assert one.evaluate_in(state) == "A" * 100
    with pytest.raises(TooMuchHere):
        one.evaluate_in(state)
    # Nothing follows from it for others: it is no failure of the expression.
    with pytest.raises(TooMuchHere):
        compile_expression("1").evaluate_in(state)
    assert one.evaluate({"s": "a" * 100}) == "A" * 100


def test_long_expressions_count_by_their_length():
    state = EvaluationState({}, here=700)
    assert compile_expression("+".join(["1"] * 2000)).evaluate_in(state) == 2000
    with pytest.raises(TooMuchHere):
        compile_expression("+".join(["1"] * 200)).evaluate_in(state)


def test_whoever_has_enough_is_told_of_the_limit_of_one():
    state = EvaluationState({"s": "a" * 4000}, here=10 * MAX_WORK)
    with pytest.raises(ExpressionError, match=WORK):
        compile_expression("[" + ", ".join(["s.toUpperCase()"] * 200) + "]").evaluate_in(state)
