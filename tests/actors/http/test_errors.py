import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.http.errors import MAX_LENGTH, one_line, root_cause


@given(st.text(max_size=1000))
def test_whatever_was_said_becomes_one_short_printable_line(text):
    line = one_line(text)
    assert len(line) <= MAX_LENGTH
    assert line == line.strip()
    assert line.isprintable()


def test_what_fits_stays_as_it_is():
    assert one_line("550 no such user") == "550 no such user"
    assert one_line(" 550\r\n  no\tsuch\x00user ") == "550 no such user"


async def test_the_reason_behind_an_error_is_the_innermost_one():
    with pytest.raises(OSError) as caught:
        await trio.open_tcp_stream("127.0.0.1", 1)
    assert root_cause(caught.value) == "Connection refused"
    assert (
        root_cause(ExceptionGroup("several", [ValueError("one\nof them"), OSError("other")])) == "one of them"
    )
    assert root_cause(ValueError()) == "ValueError"
