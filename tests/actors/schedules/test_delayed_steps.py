from math import inf

from motorpool.actors.schedules.delayed_steps import DelayedSteps


def test_steps_are_due_in_the_order_of_their_times():
    steps = DelayedSteps()
    for run_id, due in ((1, 30.0), (2, 10.0), (3, 20.0), (4, 10.0), (5, -5.0)):
        steps.add(due, run_id)
    assert steps.next_due == -5.0
    assert steps.pop_due(0.0, 100) == [5]
    assert steps.next_due == 10.0
    assert steps.pop_due(9.9, 100) == []
    assert steps.pop_due(20.0, 100) == [2, 4, 3]
    assert steps.pop_due(30.0, 100) == [1]


def test_at_most_as_many_as_are_asked_for_are_removed():
    steps = DelayedSteps()
    for run_id in range(7):
        steps.add(run_id, run_id)
    assert steps.pop_due(100.0, 3) == [0, 1, 2]
    assert steps.pop_due(100.0, 3) == [3, 4, 5]
    assert steps.pop_due(100.0, 3) == [6]


def test_without_steps_nothing_is_ever_due():
    steps = DelayedSteps()
    assert steps.next_due == inf
    assert steps.pop_due(inf, 3) == []
