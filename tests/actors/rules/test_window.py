"""Windows that share a list are as the tuples that they stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.window import Window

STEPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 2)), max_size=150)
"""From which of the windows so far the next one goes on, and how many values it drops at either end."""


@given(STEPS)
def test_windows_are_as_tuples_whichever_of_them_goes_on(steps):
    made = [(Window((-1,)), (-1,))]
    for value, (back, dropped, taken_back) in enumerate(steps):
        window, values = made[max(0, len(made) - 1 - back)]
        first = min(dropped, len(values))
        last = max(first, len(values) - taken_back)
        made.append(
            (
                window.continued(value, window.first + first, window.first + last),
                (*values[first:last], value),
            )
        )
    for window, values in made:
        assert tuple(window) == values
        assert window == Window(values)
        assert len(window) == len(values)
        assert window[-1] == values[-1]
        assert window[1:] == values[1:]


def test_a_list_keeps_no_more_than_a_few_values_that_were_dropped():
    window = Window(range(10))
    for value in range(10, 1000):
        window = window.continued(value, window.first + 1, window.end)
        assert len(window.points) < 50
    assert list(window) == list(range(990, 1000))


def test_values_beyond_a_window_are_not_its_own():
    window = Window((1, 2))
    window.continued(3, 0, 2)
    with pytest.raises(IndexError):
        window[2]
    assert window != Window((1, 2, 3))
    assert not Window()
