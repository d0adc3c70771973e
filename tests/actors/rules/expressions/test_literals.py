"""What stands within quotes and numbers."""

import pytest

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.literals import read_integer, unescape


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (r"a\n\t\r", "a\n\t\r"),
        (r"\\ \' \" \` \$", "\\ ' \" ` $"),
        (r"\d+\.\w", r"\d+\.\w"),
        (r"\u00e9\u20AC", "é€"),
        ("end\\", "end\\"),
    ],
)
def test_backslashes_stand_for_signs_or_for_themselves(written, wanted):
    assert unescape(written, 0) == wanted


@pytest.mark.parametrize("written", [r"ab\u12", r"ab\u12g4", r"ab\u0000", r"ab\ud800"])
def test_what_cannot_be_stored_is_refused_where_it_stands(written):
    with pytest.raises(ExpressionError, match="four digits") as caught:
        unescape(written, 10)
    assert caught.value.position == 14


@pytest.mark.parametrize("written", ["08", "9223372036854775808", "0xFFFFFFFFFFFFFFFF", "1" * 3000])
def test_numbers_that_are_none_or_too_large_are_refused(written):
    with pytest.raises(ExpressionError) as caught:
        read_integer(written, 3)
    assert caught.value.position == 3


def test_the_largest_number_is_read():
    assert read_integer("9223372036854775807", 0) == 2**63 - 1
