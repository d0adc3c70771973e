"""Pauses that end together: how long they are, and whose end early."""

import trio
import trio.testing

from motorpool.actors.gateway.shared_pauses import SharedPauses


async def test_a_pause_lasts_as_long_as_it_should_and_at_most_a_tenth_less(autojump_clock):
    pauses = SharedPauses(1.0)
    for begin in (0.0, 0.03, 0.55, 0.999):
        await trio.sleep(begin)
        began = trio.current_time()
        await pauses.wait()
        assert 0.9 - 1e-9 <= trio.current_time() - began <= 1.0 + 1e-9


async def test_pauses_that_begin_in_the_same_step_end_together(mock_clock):
    pauses, ended = SharedPauses(1.0), []

    async def pause(name, delay):
        await trio.sleep(delay)
        await pauses.wait()
        ended.append(name)

    mock_clock.jump(0.01)
    async with trio.open_nursery() as nursery:
        for name, delay in (("first", 0.0), ("second", 0.05), ("next step", 0.12)):
            nursery.start_soon(pause, name, delay)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(2):
            mock_clock.jump(0.06)
            await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(0.875)
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(ended) == ["first", "second"]
        mock_clock.jump(0.1)
    assert ended[-1] == "next step"


async def test_the_others_of_a_step_go_on_where_the_task_that_sleeps_for_them_is_cancelled(mock_clock):
    pauses, ended = SharedPauses(1000.0), []

    async def pause(scope):
        with scope:
            await pauses.wait()
            ended.append(scope)

    scopes = [trio.CancelScope() for _ in range(3)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pause, scopes[0])
        await trio.testing.wait_all_tasks_blocked()
        for scope in scopes[1:]:
            nursery.start_soon(pause, scope)
        await trio.testing.wait_all_tasks_blocked()
        scopes[1].cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert ended == []
        scopes[0].cancel()
    assert ended == [scopes[2]]
