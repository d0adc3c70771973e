"""Statements, operators' precedence, names and calls."""

import pytest


@pytest.mark.parametrize(
    ("text", "variables", "wanted"),
    [
        ("power < 12 ? 'lowPower' : null", {"power": 11.5}, "lowPower"),
        ("power < 12 ? 'lowPower' : null", {"power": 12}, None),
        ("(input & 2) != 0", {"input": 6}, True),
        ("(input & 2) != 0", {"input": 5}, False),
        ("fuel * 0.1", {"fuel": 345}, 34.5),
        ("speed > 80 && ignition", {"speed": 90.0, "ignition": True}, True),
        ("adc1 / 4095.0 * 60", {"adc1": 4095}, 60.0),
        ("alarm == 'sos' ? 'SOS' : alarm ?? 'none'", {"alarm": None}, "none"),
        ("io200 == 0 ? false : true", {"io200": 1}, True),
        ("temp1 > 100 ? (temp1 - 256) : temp1", {"temp1": 250}, -6),
    ],
)
def test_typical_uses_give_what_people_expect(value, text, variables, wanted):
    found = value(text, **variables)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("2 - -3", 5),
        ("-2 * 3", -6),
        ("1 << 2 + 1", 8),
        ("1 | 2 ^ 3 & 2", 1),
        ("6 & 3 == 3", 0),  # as in Java: == binds closer than &, and true counts as 1
        ("1 + 1 == 2", True),
        ("1 < 2 == true", True),
        ("false || true && false", False),
        ("!true || true", True),
        ("!(true || true)", False),
        ("true ? 1 : false ? 2 : 3", 1),
        ("false ? 1 : false ? 2 : 3", 3),
        ("null ?? null ?? 4", 4),
        ("0 ?: '' ?: 5", 5),
        ("1 lt 2 and 2 gt 1 and 1 le 1 and 1 ge 1 and 1 eq 1 and 1 ne 2", True),
        ("not false or false", True),
        ("7 div 2 + 7 mod 4", 6),
        ("empty '' && !empty 'a'", True),
        ("empty(null) ? size('abc') : size []", 3),
    ],
)
def test_operators_bind_as_in_java(value, text, wanted):
    found = value(text)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1; 2; 3", 3),
        ("1;;2;", 2),
        (";", None),
        ("if (a > 1) 'more'; else 'less'", "more"),
        ("if (a > 5) 'more'; else 'less';", "less"),
        ("if (a > 5) 'more'", None),
        ("if (a > 5) { 'more' }", None),
        ("if (a > 1) { 1; 'more' } else { 'less' }", "more"),
        ("if (a > 5) { 'more' } else if (a > 1) { 'some' } else { 'less' }", "some"),
        ("if (a > 1) {} else { 'less' }", None),
        ("if (a > 1) if (a > 5) 1; else 2", 2),
        ("if (a > 1) { if (a > 5) { 1 } } else { 2 }", None),
        ("if (a > 1) { return 'now' } 'later'", "now"),
        ("return a; 5", 2),
        ("if (a > 1) { a } a + 1", 3),
    ],
)
def test_the_last_statement_that_is_reached_gives_the_value(value, text, wanted):
    assert value(text, a=2) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nowhere ?? 7", 7),
        ("nowhere ?: 7", 7),
        ("nowhere.part ?? 7", 7),
        ("nowhere * 2 ?? 7", 7),
        ("a.b ?? 7", 7),
        ("list[9] ?? 7", 7),
        ("nowhere ? 1 : 7", 7),
        ("if (nowhere) 1; else 7", 7),
        ("empty nowhere", True),
        ("size(nowhere)", 0),
        ("a?.b?.c", None),
        ("a?.toString()", None),
        ("a == null", True),
    ],
)
def test_what_is_not_there_is_null_where_somebody_asks(value, text, wanted):
    assert value(text, a=None, list=[1]) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nowhere", "undefined variable nowhere"),
        ("nowhere == null", "undefined variable nowhere"),
        ("true && nowhere", "undefined variable nowhere"),
        ("nowhere + 1 > 2 ? 1 : 2", "undefined variable nowhere"),
        ("a.b", "b of null"),
        ("a.trim()", "trim() of null"),
        ("list[1]", "a list of 1 has no item 1"),
        ("list[-1]", "a list of 1 has no item -1"),
        ("name.nothing", "the text 'Ann' has no nothing"),
        ("name[0]", "the text 'Ann' has no items"),
        ("name.explode()", "the text 'Ann' has no explode()"),
        ("name.trim(1)", "trim() does not take so many arguments"),
    ],
)
def test_elsewhere_it_is_an_error(refusal, text, wanted):
    assert refusal(text, a=None, list=[1], name="Ann") == wanted


def test_what_need_not_be_looked_at_is_not(value):
    assert value("true || nowhere") is True
    assert value("false && nowhere") is False
    assert value("true ? 1 : nowhere") == 1
    assert value("1 ?? nowhere") == 1


def test_parts_of_maps_and_lists_are_reached(value):
    variables = {"m": {"a b": {"c": [1, [2, 3]]}, "size": 9}}
    assert value("m['a b'].c[1][0]", **variables) == 2
    assert value("m.'a b'.c.size()", **variables) == 2
    assert value("m.nothing", **variables) is None


def test_a_variable_may_have_dots_in_its_name(value):
    variables = {"io.in.1x": 0, "io.in.first": 4, "temp": 5, "temp.inner": 6}
    assert value("io.in.first + 1", **variables) == 5
    assert value("temp.inner + temp", **variables) == 11


def test_words_that_only_begin_like_an_operator_are_names(value):
    assert value("order + android + nothing + iffy", order=1, android=2, nothing=3, iffy=4) == 10


def test_classes_of_java_have_their_functions(value, refusal):
    assert value("Integer.parseInt('ff', 16) + Math.abs(-1)") == 256
    assert refusal("Integer.explode('1')") == "there is no Integer.explode"
    assert refusal("System.exit(1)") == "undefined variable System"
    assert refusal("''.getClass()") == "the text '' has no getClass()"
    assert refusal("''.class") == "the text '' has no class"


@pytest.mark.parametrize("name", ["__class__", "__len__", "__init__", "format", "join", "_Run__x"])
def test_nothing_of_python_is_reached(refusal, name):
    for text in ("name", "1", "list", "map"):
        variables = {"name": "Ann", "list": [1], "map": {}}
        assert f"has no {name}()" in refusal(f"{text}.{name}()", **variables)
    assert refusal(f"name.{name}", name="Ann") == f"the text 'Ann' has no {name}"


@pytest.mark.parametrize("test", ["a < 1", "a == 1", "!(a > 5)", "a > 5 || a == 1", "a != 7 && a < 9"])
def test_a_condition_that_is_a_comparison_fails_for_what_is_undefined_and_takes_null(value, refusal, test):
    assert refusal(f"{test} ? 'yes' : 'no'") == "undefined variable a"
    for given in (None, 0, 1, 9.5, "1"):
        assert (value(f"{test} ? 'yes' : 'no'", a=given) == "yes") is value(test, a=given)
