import pytest

from motorpool.codecs.devices.command_values import integer, printable
from motorpool.codecs.errors import UnsupportedCommand


@pytest.mark.parametrize(("value", "number"), [(1, 1), ("9", 9), (3.0, 3)])
def test_a_number_within_its_limits_may_be_a_text(value, number):
    assert integer({"index": value}, "index", None, 1, 9) == number


@pytest.mark.parametrize("value", [0, 10, "x", None, True, 1.5])
def test_other_numbers_are_refused_with_their_limits(value):
    with pytest.raises(UnsupportedCommand, match="index must be a number of an output from 1 to 9"):
        integer({"index": value}, "index", None, 1, 9, "number of an output")


def test_a_number_that_is_not_there_has_its_default_or_is_required():
    assert integer({}, "index", 4, 1, 9) == 4
    with pytest.raises(UnsupportedCommand, match="index must be a whole number"):
        integer({}, "index", None, 1, 9)


@pytest.mark.parametrize("text", ["", "é", "\n", 5, None])
def test_only_printable_ascii_text_is_taken(text):
    with pytest.raises(UnsupportedCommand, match="data must be printable ASCII text"):
        printable({"data": text}, "data")


def test_a_text_has_at_most_the_characters_that_fit():
    assert printable({"data": "abc"}, "data", 3) == "abc"
    with pytest.raises(UnsupportedCommand, match="data must be a printable ASCII text of 1 to 3 characters"):
        printable({"data": "abcd"}, "data", 3)
