from typing import Any

import pytest
import trio
from tests.runtime.actor_testing import Broken

from motorpool.runtime.guard import CrashGuard


class Crashes:
    """Stands where a cell does, and records its calls."""

    def __init__(self) -> None:
        self.crashes: list[tuple[Exception, object]] = []

    def crash(self, error: Exception, item: object) -> None:
        self.crashes.append((error, item))


@pytest.fixture
def cell() -> Any:
    return Crashes()


def test_failures_become_a_crash_and_go_no_further(cell: Any) -> None:
    error = Broken("x")
    with CrashGuard(cell.crash, "message"):
        raise error
    assert cell.crashes == [(error, "message")]


def test_a_group_of_failures_is_one_crash(cell: Any) -> None:
    group = ExceptionGroup("both", [Broken("x"), ValueError("y")])
    with CrashGuard(cell.crash):
        raise group
    assert cell.crashes == [(group, None)]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("", [SystemExit(), KeyboardInterrupt()])]
)
def test_what_is_no_failure_passes(cell: Any, error: BaseException) -> None:
    with pytest.raises(type(error)), CrashGuard(cell.crash):
        raise error
    assert cell.crashes == []


def test_a_mixed_group_is_split(cell: Any) -> None:
    broken, interrupt = Broken("x"), KeyboardInterrupt()
    with pytest.raises(BaseExceptionGroup) as caught, CrashGuard(cell.crash):
        raise BaseExceptionGroup("mixed", [broken, interrupt])
    assert caught.value.exceptions == (interrupt,)
    [(crash, _)] = cell.crashes
    assert isinstance(crash, ExceptionGroup)
    assert crash.exceptions == (broken,)


async def test_cancellation_passes_and_the_failure_beside_it_does_not(cell: Any) -> None:
    async def clean_up_badly() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise Broken("while cleaning up")

    with trio.CancelScope() as scope:
        with CrashGuard(cell.crash):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(clean_up_badly)
                scope.cancel()
        await trio.sleep_forever()
    assert scope.cancelled_caught
    assert len(cell.crashes) == 1
