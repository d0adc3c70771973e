"""Regular expressions."""

import pytest

from motorpool.actors.rules.expressions import EvaluationState, TooMuchHere, compile_expression


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("'abc' =~ 'a.c'", True),
        ("'abc' =~ 'b'", False),
        ("'abc' !~ 'b'", True),
        ("'abc' =~ ~/a.*/", True),
        ("12 =~ '[0-9]+'", True),
        ("'größe 5' =~ '\\w+.*\\d'", True),
        ("'a' =~ ['a', 'b']", True),
        ("2 =~ {1, 2}", True),
        ("3 !~ {1, 2}", True),
        ("'a' =~ {'a': 1}", True),
        ("1 =~ {'a': 1}", False),
        ("[1] =~ {'a': 1}", False),
        ("null =~ 'a'", False),
        ("null =~ null", True),
        ("'1' =~ 1", True),
        ("'lowPower,sos' =~ '(.*,)?sos(,.*)?'", True),
        ("'abc'.matches('[a-c]+')", True),
        ("'a1b22'.replaceAll('[0-9]+', '#')", "a#b#"),
        ("'a1b22'.replaceFirst('[0-9]+', '#')", "a#b22"),
        ("'t=21;h=40'.replaceAll('.*h=(\\d+).*', '$1')", "40"),
        ("'ab'.replaceAll('(a)(x)?', '$1-$2-\\\\$1')", "a--$1b"),
        ("'abc'.replaceAll('', '-')", "-a-b-c-"),
        ("'a,b,,c,,'.split(',')", ["a", "b", "", "c"]),
        ("'a,b,,c,,'.split(',', -1)", ["a", "b", "", "c", "", ""]),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'a1b22c'.split('[0-9]+')", ["a", "b", "c"]),
        ("'a.b'.split('\\.')", ["a", "b"]),
        ("'abc'.split('')", ["a", "b", "c"]),
        ("',a'.split(',')", ["", "a"]),
        ("',,'.split(',')", []),
        ("''.split(',')", [""]),
        ("'abc'.split('x')", ["abc"]),
    ],
)
def test_patterns_do_what_they_do_in_java(value, text, wanted):
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("'a' =~ '('", "the pattern cannot be used: missing ): ("),
        ("'a' =~ p", "the pattern cannot be used: missing ): ("),
        ("'a'.matches('(?=a)a')", "the pattern cannot be used: invalid perl operator: (?="),
        ("'aa' =~ '(a)\\1'", "the pattern cannot be used: invalid escape sequence: \\1"),
        ("'a' =~ long", "a pattern is longer than 1000 characters"),
        ("'a' =~ '((a{1,100}){1,10}){1,99}'", "the pattern cannot be used: invalid repetition size: {1,99}"),
        ("'a'.replaceAll('a', '$')", "a replacement has a $ without the number of a group"),
        ("'a'.replaceAll('a', '$1')", "the pattern has no group 1"),
        ("half =~ 'a'", "a text holds half a character"),
        ("'a' =~ half", "the pattern cannot be used: half a character"),
        ("half.split('[b]')", "a text holds half a character"),
    ],
)
def test_patterns_that_cannot_be_used_are_errors(refusal, text, wanted):
    assert refusal(text, p="(", long="a" * 1001, half="\ud800") == wanted


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(.*.*.*)*b", "(x+x+)+y"])
def test_patterns_that_take_other_engines_years_are_soon_answered(value, pattern):
    assert value("s =~ p", s="a" * 3000, p=pattern) is False


def test_searching_again_and_again_is_counted(refusal):
    said = refusal("s.replaceAll('a.*b|a', 'c')", s="a" * 500)
    assert said == "the expression takes too much work"


def test_large_patterns_cost_more_for_each_character(value, refusal):
    assert value("s =~ p", s="a" * 300, p="(a?){300}a{300}") is True
    said = refusal("s =~ p", s="a" * 3000, p="(a?){300}a{300}")
    assert said == "the expression takes too much work"


@pytest.mark.parametrize(
    "text", ["s =~ '[a-z]+'", "s.matches('[a-z]+')", "s.replaceAll('[a-z]+', '1') == '1'"]
)
def test_patterns_that_are_written_in_an_expression_are_compiled_with_it(text):
    state = EvaluationState({"s": "abc"}, here=200)
    for _ in range(5):
        assert compile_expression(text).evaluate_in(state) is True
    with pytest.raises(TooMuchHere):
        compile_expression("s =~ p").evaluate_in(EvaluationState({"s": "abc", "p": "[a-z]+"}, here=200))
