import pytest
import trio

from motorpool.storage.exception_groups import GroupUnwrapper


async def fail(error, beside=None):
    """Raise inside two nurseries, with a task beside that fails as well where one is given."""

    async def beside_it():
        raise beside

    async with GroupUnwrapper() as unwrapper, trio.open_nursery() as outer:
        outer.start_soon(trio.sleep_forever)
        async with trio.open_nursery() as inner:
            with unwrapper.record():
                if beside is not None:
                    inner.start_soon(beside_it)
                    await trio.testing.wait_all_tasks_blocked()
                raise error


async def test_an_exception_comes_out_as_it_was_raised():
    error = KeyError("mine")
    with pytest.raises(KeyError) as raised:
        await fail(error)
    assert raised.value is error


async def test_a_group_of_the_bodys_own_stays_a_group():
    group = ExceptionGroup("two", [KeyError("a"), ValueError("b")])
    with pytest.raises(ExceptionGroup) as raised:
        await fail(group)
    assert raised.value is group


async def test_two_failures_at_once_are_both_seen():
    with pytest.raises(ExceptionGroup) as raised:
        await fail(KeyError("mine"), beside=ValueError("other"))
    assert raised.group_contains(ValueError, match="other")


async def test_a_cancelled_body_ends_its_scope():
    with trio.CancelScope() as scope:
        async with GroupUnwrapper() as unwrapper, trio.open_nursery():
            with unwrapper.record():
                scope.cancel()
                await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_without_a_failure_nothing_happens():
    async with GroupUnwrapper() as unwrapper, trio.open_nursery():
        with unwrapper.record():
            await trio.lowlevel.checkpoint()
