"""Whatever the text and the values: a value, or one error with one line."""

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motorpool.actors.rules.expressions import ExpressionError, compile_expression

SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = r"""
    a b c name list map t 1 0 2.5 0x1F 9223372036854775807 'x' "y" '(' `z${a}` ~/x+/ true false null NaN
    + - * / % << >> >>> & | ^ ~ ! == != < <= > >= =~ !~ =^ =$ && || and or not eq ne ?? ?: ? : ; , . ?. ( )
    [ ] { } if else return size empty math:abs math:pow math:round length toUpperCase replaceAll split
    substring get getTime intValue Integer parseInt matches repeat contains var for = # //
"""
OPERATORS = "+ - * / % << >> >>> & | ^ == != < <= > >= =~ !~ =^ =$ && || ?? ?:"
METHODS = """
    length size isEmpty trim toUpperCase toString intValue doubleValue longValue isNaN getTime getHours
    keySet values
"""
METHODS_OF_ONE = """
    charAt substring indexOf contains startsWith split matches repeat concat equals compareTo get before
    containsKey
"""
FUNCTIONS = "abs round floor ceil rint sqrt cbrt exp log log10 sin toRadians signum"
FUNCTIONS_OF_TWO = "max min pow atan2 hypot floorDiv floorMod addExact"
PIECES = st.sampled_from(WORDS.split())
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.text(alphabet="\ud800a(", max_size=3)
    | st.datetimes(timezones=st.just(UTC))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
VARIABLES = st.fixed_dictionaries(dict.fromkeys(("a", "b", "c", "name", "list", "map", "t"), VALUES))


def expressions() -> st.SearchStrategy[str]:
    """Texts that read well, most of them."""
    leaves = st.sampled_from(
        [
            "a",
            "b",
            "c",
            "nowhere",
            "1",
            "0",
            "-3",
            "2.5",
            "'x1'",
            "''",
            "null",
            "true",
            "NaN",
            "[a, b]",
            "{'k': a}",
            "`<${b}>`",
        ]
    )

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS.split()), inner),
            st.builds("({} ? {} : {})".format, inner, inner, inner),
            st.builds("({}).{}()".format, inner, st.sampled_from(METHODS.split())),
            st.builds("({}).{}({})".format, inner, st.sampled_from(METHODS_OF_ONE.split()), inner),
            st.builds("({}).replaceAll({}, {})".format, inner, inner, inner),
            st.builds("({}).replace({}, {})".format, inner, inner, inner),
            st.builds("math:{}({})".format, st.sampled_from(FUNCTIONS.split()), inner),
            st.builds("math:{}({}, {})".format, st.sampled_from(FUNCTIONS_OF_TWO.split()), inner, inner),
            st.builds("({})[{}]".format, inner, inner),
            st.builds("[{}, {}]".format, inner, inner),
            st.builds("{{{}, {}}}".format, inner, inner),
            st.builds("{}({})".format, st.sampled_from(["-", "+", "~", "!", "empty ", "size "]), inner),
            st.builds("Integer.parseInt({}, {})".format, inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=8)


def is_one_line(error: ExpressionError) -> bool:
    return 0 < len(str(error)) < 250 and len(str(error).splitlines()) == 1


def outcome(text: str, variables: dict[str, object]) -> object:
    try:
        return compile_expression(text).evaluate(variables)
    except ExpressionError as error:
        return error


@SLOW
@given(st.text(max_size=60), VARIABLES)
def test_any_text_is_an_expression_or_an_expression_error(text, variables):
    found = outcome(text, variables)
    assert not isinstance(found, ExpressionError) or is_one_line(found)


@SLOW
@given(st.lists(PIECES, max_size=14).map(" ".join), VARIABLES)
def test_any_pieces_of_the_language_are_an_expression_or_an_expression_error(text, variables):
    found = outcome(text, variables)
    assert not isinstance(found, ExpressionError) or is_one_line(found)


@SLOW
@given(expressions(), VARIABLES)
def test_any_values_give_a_value_or_an_expression_error(text, variables):
    before = repr(variables)
    found = outcome(text, variables)
    assert isinstance(found, type(None) | bool | int | float | str | list | dict | datetime | ExpressionError)
    assert not isinstance(found, ExpressionError) or is_one_line(found)
    assert repr(variables) == before


@SLOW
@given(expressions())
def test_what_reads_well_is_read(text):
    compile_expression(text)


def test_an_expression_keeps_nothing_between_evaluations():
    expression = compile_expression("return a + 'x'")
    assert expression.evaluate({"a": "1"}) == "1x"
    assert expression.evaluate({"a": "2"}) == "2x"
    assert repr(expression) == "Expression(\"return a + 'x'\")"


def test_a_text_beyond_4000_characters_is_not_read():
    assert compile_expression("1" + " " * 3999).evaluate({}) == 1
    with pytest.raises(ExpressionError, match="longer than 4000 characters"):
        compile_expression("1" + " " * 4000)


def test_values_nested_without_end_are_an_error():
    deep: object = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ExpressionError, match="nested too deep"):
        compile_expression("'' + a").evaluate({"a": deep})


@pytest.mark.parametrize(
    "text",
    ["(" * 4000, "{" * 4000, "/*" * 2000, "'\\" * 2000, "`${" * 1000, "1;" * 2000, "a?" * 2000, "~/" * 2000],
)
def test_long_nonsense_is_soon_refused_or_read(text):
    found = outcome(text, {"a": 1})
    assert found == 1 or (isinstance(found, ExpressionError) and is_one_line(found))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1 + 2", set()),
        ("a * 2 + b", {"a", "b"}),
        ("a.b?.c ?? d", {"a", "a.b", "a.b.c", "d"}),
        ("a ? b : c == null", {"a", "b", "c"}),
        ("if (a) return b; else { c; d }", {"a", "b", "c", "d"}),
        ("[a, -b][c]", {"a", "b", "c"}),
        ("{a, !b} =~ {c: d}", {"a", "b", "c", "d"}),
        ("a.contains(b) || empty c && size d > 1", {"a", "b", "c", "d"}),
        ("Math.max(a, math:abs(b))", {"a", "b"}),
        ("`${a} and ${b.c}`", {"a", "b", "b.c"}),
        ("a =~ 'x' ?: ~b", {"a", "b"}),
    ],
)
def test_it_names_the_variables_that_it_may_use(text, names):
    assert compile_expression(text).names == names
