"""Methods and properties of numbers, times, lists and maps."""

from datetime import UTC, datetime

import pytest

VARIABLES = {
    "t": datetime(2026, 5, 3, 12, 30, 15, 250_000, tzinfo=UTC),
    "later": datetime(2026, 5, 3, 12, 31, tzinfo=UTC),
    "list": ["a", 2, None],
    "map": {"a": 1, "size": 7},
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3.9.intValue()", 3),
        ("(-3.9).intValue()", -3),
        ("4294967297.intValue()", 1),
        ("1e20.longValue()", 2**63 - 1),
        ("NaN.intValue()", 0),
        ("300.byteValue()", 44),
        ("3.doubleValue()", 3.0),
        ("3.toString()", "3"),
        ("3.0.toString()", "3.0"),
        ("3.equals(3)", True),
        ("3.equals(3.0)", False),
        ("3.compareTo(4)", -1),
        ("NaN.isNaN()", True),
        ("1.0.isInfinite()", False),
        ("true.booleanValue()", True),
        ("true.toString()", "true"),
        ("t.getTime()", 1_777_811_415_250),
        ("t.time", 1_777_811_415_250),
        ("t.getHours()", 12),
        ("t.minutes", 30),
        ("t.getSeconds()", 15),
        ("t.getDay()", 0),
        ("t.getDate()", 3),
        ("t.getMonth()", 4),
        ("t.getYear()", 126),
        ("t.before(later)", True),
        ("t.after(later)", False),
        ("t.compareTo(later)", -1),
        ("t < later", True),
        ("(later.getTime() - t.getTime()) / 1000", 44),
        ("list.size()", 3),
        ("list.length", 3),
        ("list.get(1)", 2),
        ("list.contains('2')", True),
        ("list.indexOf('z')", -1),
        ("list.isEmpty()", False),
        ("list.empty", False),
        ("map.get('a')", 1),
        ("map.get('b')", None),
        ("map.getOrDefault('b', 5)", 5),
        ("map.containsKey('a')", True),
        ("map.containsKey([1])", False),
        ("map.containsValue(7)", True),
        ("map.keySet()", ["a", "size"]),
        ("map.values()", [1, 7]),
        ("map.size()", 2),
        ("map.isEmpty()", False),
    ],
)
def test_values_answer_as_in_java(value, text, wanted):
    found = value(text, **VARIABLES)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3.trim()", "a number has no trim()"),
        ("t.explode", "a time has no explode"),
        ("t.before(1)", "a time and a number cannot be compared"),
        ("t.compareTo(null)", "a time and null have no order"),
        ("list.get('a')", "the text 'a' is not a number"),
        ("size(3)", "a number has no size"),
    ],
)
def test_what_they_do_not_know_is_an_error(refusal, text, wanted):
    assert refusal(text, **VARIABLES) == wanted
