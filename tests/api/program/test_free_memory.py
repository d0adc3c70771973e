import trio

from motorpool.api.program import free_memory


async def test_memory_is_returned_again_and_again(monkeypatch) -> None:
    thrice = trio.Event()
    token = trio.lowlevel.current_trio_token()
    calls: list[None] = []

    def trim() -> None:
        calls.append(None)
        if len(calls) == 3:
            token.run_sync_soon(thrice.set)

    monkeypatch.setattr(free_memory, "INTERVAL_SECONDS", 0.001)
    monkeypatch.setattr(free_memory, "_find_trim", lambda: trim)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(free_memory.return_free_memory)
        with trio.fail_after(30):
            await thrice.wait()
        nursery.cancel_scope.cancel()


async def test_where_the_allocator_has_no_such_function_nothing_is_done(monkeypatch) -> None:
    monkeypatch.setattr(free_memory.sys, "platform", "darwin")
    with trio.fail_after(30):
        await free_memory.return_free_memory()


def test_the_function_of_this_platform_can_be_called() -> None:
    trim = free_memory._find_trim()
    assert trim is None or trim() in (0, 1)
