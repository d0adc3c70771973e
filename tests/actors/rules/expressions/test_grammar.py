"""What is said of a text that is no expression."""

import pytest

from motorpool.actors.rules.expressions import ExpressionError, compile_expression


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 +", "the expression ends too early at character 4"),
        ("(1", "the expression ends too early at character 3"),
        ("1 2", "unexpected '2' at character 3"),
        ("a ? b", "the expression ends too early at character 6"),
        ("1)", "unexpected ')' at character 2"),
        ("if a { 1 }", "unexpected 'a' at character 4"),
        ("a = 1", "assignments are not available, compare with == at character 3"),
        ("a += 1", "assignments are not available, compare with == at character 4"),
        ("'abc", "a text without an end at character 1"),
        ("1 ; §", "unexpected '§' at character 5"),
        ("1 +\n  2 )", "unexpected ')' at line 2, character 5"),
        ("for (x : list) { x }", "loops are not available at character 1"),
        ("1; while (true) {}", "loops are not available at character 4"),
        ("var x = 1", "variables of one's own are not available at character 1"),
        ("new('java.lang.String')", "other classes are not available at character 1"),
        ("function(x) { x }", "functions and errors are not available at character 1"),
        ("(x) -> x", "unexpected '>' at character 6"),
        ("explode(1)", "there is no function explode at character 1"),
        ("1 + math:explode(1)", "there is no function math:explode at character 5"),
        ("1..3", "unexpected '.3' at character 3"),
        ("12abc", "unexpected '1' at character 1"),
        ("99999999999999999999", "a whole number is beyond 64 bits at character 1"),
        ("", "the expression is empty"),
        (" \n ", "the expression is empty"),
    ],
)
def test_the_place_of_a_mistake_is_named(text, wanted):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert str(caught.value) == wanted


def test_words_of_loops_are_names_behind_a_dot(value):
    assert value("m.for + m.do + m.new", m={"for": 1, "do": 2, "new": 3}) == 6


def test_a_ternary_is_no_safe_dot(value):
    assert value("true?.5:1") == 0.5


def test_a_colon_behind_a_name_is_a_ternarys(value):
    assert value("true ? mathematics:other", mathematics=1, other=2) == 1
    assert value("true ? math:abs(-1) : 2") == 1
