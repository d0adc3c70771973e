"""Which firings get records next, and for how many devices."""

import pytest

from motorpool.actors.schedules import firing_queue
from motorpool.actors.schedules.firing_queue import FiringQueue
from motorpool.storage.schedules.edge_occurrences import Firing


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(firing_queue, "PORTION_ROWS", 100)
    return FiringQueue()


def shares(queue):
    """(firing, devices) of what comes next."""
    return [(portion.firing.id, portion.devices) for portion in queue.take()]


def test_scheduled_commands_share_a_transaction_by_the_steps_of_a_device(queue):
    queue.add([Firing(1, 11, 1), Firing(2, 12, 10), Firing(3, 13, 50), Firing(4, 14, 50)])
    # One more would have more steps than fit; each has a device at least.
    assert shares(queue) == [(1, 33), (2, 3), (3, 1)]
    assert len(queue) == 4


def test_one_device_may_have_more_steps_than_fit(queue):
    queue.add([Firing(1, 11, 250), Firing(2, 12, 1)])
    assert shares(queue) == [(1, 1)]


def test_those_that_are_unfinished_go_to_the_end(queue):
    queue.add([Firing(number, number, 60) for number in range(1, 4)])
    order = []
    for _ in range(7):
        portions = queue.take()
        order += [portion.firing.id for portion in portions]
        queue.made(portions, {1, 3} if len(order) < 5 else {1})
    assert order == [1, 2, 3, 1, 3, 1, 1]


def test_firings_of_a_scheduled_command_come_one_after_the_other(queue):
    queue.add([Firing(1, 11, 1), Firing(2, 11, 1), Firing(3, 12, 1)])
    portions = queue.take()
    assert [portion.firing.id for portion in portions] == [1, 3]
    queue.made(portions, {1})
    assert [portion.firing.id for portion in queue.take()] == [1]
    queue.made(queue.take(), ())
    assert [portion.firing.id for portion in queue.take()] == [2]
    queue.made(queue.take(), ())
    assert len(queue) == 0


def test_what_was_cleared_or_left_out_meanwhile_does_not_come_back(queue):
    queue.add([Firing(1, 11, 1), Firing(2, 11, 1), Firing(3, 12, 1)])
    portions = queue.take()
    queue.discard({1, 3})
    queue.made(portions, {1})
    assert shares(queue) == [(2, 100)]
    queue.replace(())
    queue.made(portions, ())
    assert shares(queue) == []
    queue.replace([Firing(7, 11, 1)])
    assert shares(queue) == [(7, 100)]
