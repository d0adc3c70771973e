"""Values as they are written."""

import math

import pytest


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("12", 12),
        ("12L", 12),
        ("0x1F", 31),
        ("017", 15),
        ("0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("2.5E-1d", 0.25),
        ("5f", 5.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("'a\"b'", 'a"b'),
        ('"a\'b"', "a'b"),
        ("~/a\\/b/", "a/b"),
        ("[]", []),
        ("[1, 'a', null,]", [1, "a", None]),
        ("{}", []),
        ("{1, 2, 1}", [1, 2]),
        ("{1, 1.0, true}", [1, 1.0, True]),
        ("{:}", {}),
        ("{'a': 1, 'b': [2]}", {"a": 1, "b": [2]}),
        ("{'a': 1}.a", 1),
    ],
)
def test_values_are_read_as_they_are_written(value, text, wanted):
    found = value(text)
    assert found == wanted
    assert type(found) is type(wanted)


def test_not_a_number_is_a_number(value):
    found = value("NaN")
    assert isinstance(found, float)
    assert math.isnan(found)


def test_templates_take_values_in(value, refusal):
    assert value("`${name}: ${fuel * 2} l${nothing}`", name="Ann", fuel=1.5, nothing=None) == "Ann: 3.0 l"
    assert value("`plain`") == "plain"
    assert value("``") == ""
    assert value("`\\`\\${a}`", a=1) == "`${a}"
    assert value("`${ {'a}': 1}.'a}' }`") == "1"
    assert refusal("`a ${`") == "${ without } at character 4"
    assert refusal("`a ${1 +}`") == "the expression ends too early at character 9"


def test_sets_and_keys_hold_plain_values(refusal):
    assert refusal("{[1], 2}") == "a set holds no lists and no maps"
    assert refusal("{null: 1}") == "the key of a map is a text or a number"


def test_comments_say_nothing(value):
    assert value("## one\n1 // two\n + /* three\n ' */ 2") == 3
    assert value("'## not // one'") == "## not // one"
