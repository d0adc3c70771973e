"""Methods of texts."""

import pytest


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("s.length()", 10),
        ("s.isEmpty()", False),
        ("' '.isBlank()", True),
        ("s.charAt(0)", "L"),
        ("'A'.codePointAt(0)", 65),
        ("s.substring(3)", " Power "),
        ("s.substring(4, 9)", "Power"),
        ("s.indexOf('o')", 1),
        ("s.indexOf('o', 2)", 5),
        ("s.indexOf('x')", -1),
        ("s.lastIndexOf('o')", 5),
        ("s.contains('Pow')", True),
        ("s.startsWith('Low')", True),
        ("s.startsWith('Pow', 4)", True),
        ("s.startsWith('Pow', 40)", False),
        ("s.endsWith('r')", False),
        ("s.trim().endsWith('r')", True),
        ("s.equals('x')", False),
        ("'1'.equals(1)", False),
        ("'ABC'.equalsIgnoreCase('abc')", True),
        ("'a'.compareTo('b')", -1),
        ("'B'.compareToIgnoreCase('a')", 1),
        ("s.toUpperCase()", "LOW POWER "),
        ("s.toLowerCase()", "low power "),
        ("'a'.concat('b')", "ab"),
        ("'ab'.repeat(3)", "ababab"),
        ("'aXbX'.replace('X', '')", "ab"),
        ("'1'.toString()", "1"),
        ("'abc'.size()", 3),
        ("''.empty()", True),
        ("'é'.length()", 1),
    ],
)
def test_texts_have_the_methods_of_javas(value, text, wanted):
    found = value(text, s="Low Power ")
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("'abc'.charAt(3)", "a text of 3 characters has no character 3"),
        ("'abc'.charAt(-1)", "a text of 3 characters has no character -1"),
        ("'abc'.substring(2, 1)", "a text of 3 characters has no part 2 to 1"),
        ("'abc'.substring(0, 4)", "a text of 3 characters has no part 0 to 4"),
        ("'abc'.substring('x')", "the text 'x' is not a number"),
        ("'abc'.contains(null)", "null is not a text"),
        ("'abc'.repeat(-1)", "a text cannot be repeated less than 0 times"),
    ],
)
def test_wrong_arguments_are_errors(refusal, text, wanted):
    assert refusal(text) == wanted
