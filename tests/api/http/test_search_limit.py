"""Searches of tickets: few at once, in their order, and few of one user."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from motorpool.api.http.errors import TooManyRequests
from motorpool.api.http.search_limit import AT_ONCE, PER_USER, SearchLimit


async def test_searches_are_done_in_their_order_few_at_once() -> None:
    limit = SearchLimit()
    begun: list[int] = []
    gates = [trio.Event() for _ in range(6)]

    async def search(number: int) -> None:
        async with limit.enter(number):
            begun.append(number)
            await gates[number].wait()

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(search, number)
            await wait_all_tasks_blocked()
        assert begun == list(range(AT_ONCE))
        for ended in range(6):
            gates[ended].set()
            await wait_all_tasks_blocked()
            assert begun == list(range(min(6, AT_ONCE + ended + 1)))


async def test_a_user_has_few_searches_and_others_are_let_in() -> None:
    limit = SearchLimit()
    done = trio.Event()

    async def search(user_id: int) -> None:
        async with limit.enter(user_id):
            await done.wait()

    async with trio.open_nursery() as nursery:
        for _ in range(PER_USER):
            nursery.start_soon(search, 1)
        await wait_all_tasks_blocked()
        with pytest.raises(TooManyRequests):
            await search(1)
        nursery.start_soon(search, 2)
        await wait_all_tasks_blocked()
        done.set()
    await search(1)
