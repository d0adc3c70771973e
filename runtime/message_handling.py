"""Message handling: at once in the sender's task, or in batches by the actor's worker.

Either way one message at a time and in order; a failure is a crash of the actor and never reaches the sender.
"""

from collections.abc import Coroutine
from time import perf_counter
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

import trio

from motorpool.runtime.envelope import Envelope
from motorpool.runtime.guard import CrashGuard
from motorpool.runtime.lifecycle import EndReason, State

if TYPE_CHECKING:
    from motorpool.runtime.cell import Cell

INLINE_DEPTH: Final = 16
"""Handlers that run inside one another's `tell`; deeper ones get a task of their own."""

INLINE_TURNS: Final = 16
"""Messages one sender handles for an actor before a worker takes over what queued behind them."""

SLICE_SECONDS: Final = 0.002
"""A worker yields to other tasks after so long. In real seconds: CPU time is limited, not the clock's."""

SLICE_CHECK_MESSAGES: Final = 16
"""Messages between two checks of the time slice; a check costs as much as half a message."""


def handle_now(cell: "Cell[Any]", item: object) -> None:
    """Handle `item` in the caller's task, and what queues behind it; only while the cell is idle."""
    runtime = cell.group.runtime
    if runtime.depth >= INLINE_DEPTH:
        cell.mailbox.put(item)
        cell.start_worker()
        return
    actor = cell.actor
    assert actor is not None
    runtime.depth += 1
    cell.idle = False
    turns = 0
    try:
        while True:
            result = actor.handle(item.message if type(item) is Envelope else item)
            if type(result) is CoroutineType:
                cell.start_worker(result, item)
                return
            cell.handled += 1
            if type(item) is Envelope:
                item.answer(result)
                if item.pending:
                    cell.ensure_life_scope().add_pending(item)
            if cell.ending is not None:
                cell.finish_ending()
                return
            if cell.mailbox.incoming is None and (not turns or not cell.mailbox.depth):
                cell.idle = True
                if cell.requested is not None:
                    cell.end(cell.requested)
                return
            turns += 1
            if turns == INLINE_TURNS:
                cell.start_worker()
                return
            item = cell.mailbox.pop()
    except Exception as error:
        cell.crash(error, item)
    except BaseException:
        cell.start_worker()  # for what queued; the exception is the sender's
        raise
    finally:
        runtime.depth -= 1


async def run_worker(
    cell: "Cell[Any]", scope: trio.CancelScope, coroutine: Coroutine[Any, Any, object] | None, item: object
) -> None:
    """The worker's task: the coroutine it was given, then what is queued, then the end if it is due."""
    try:
        with scope:
            if coroutine is not None:
                await _finish(cell, coroutine, item)
            elif cell.state is State.STARTING:
                await _start(cell)
            if cell.ending is None:
                await _drain(cell)
            if cell.ending is not None and cell.ending is not EndReason.CRASH:
                await cell.stop_actor()
    finally:
        cell.worker_left()


async def _start(cell: "Cell[Any]") -> None:
    assert cell.actor is not None
    with CrashGuard(cell):
        with trio.fail_after(cell.group.start_seconds):
            await cell.actor.start()
        if cell.ending is None:
            cell.started()


async def _finish(cell: "Cell[Any]", coroutine: Coroutine[Any, Any, object], item: object) -> None:
    """Await what handling `item` returned."""
    try:
        with CrashGuard(cell, item):
            value = await coroutine
            cell.handled += 1
            if type(item) is Envelope:
                item.answer(value)
                if item.pending:
                    cell.ensure_life_scope().add_pending(item)
    except BaseException:
        if type(item) is Envelope:
            item.fail(cell.end_error())  # cancelled in the middle
        raise


async def _drain(cell: "Cell[Any]") -> None:
    """Handle messages until there are none, or until cancelled if the actor is resident; or until it ends."""
    actor, mailbox, resident = cell.actor, cell.mailbox, cell.group.resident
    assert actor is not None
    handle = actor.handle
    while True:
        batch = mailbox.take()
        if batch is None:
            if cell.requested is not None:
                cell.ending = cell.requested
                return
            if not resident:
                return
            await _park(cell)
            if cell.ending is not None:
                return
            continue
        until = perf_counter() + SLICE_SECONDS
        countdown = SLICE_CHECK_MESSAGES
        for item in batch:
            if mailbox.waiting is not None:
                mailbox.admit()  # a message that is begun no longer takes a place, however long it runs
            try:
                result = handle(item.message if type(item) is Envelope else item)
            except Exception as error:
                cell.crash(error, item)
                return
            if type(result) is CoroutineType:
                await _finish(cell, result, item)
            else:
                cell.handled += 1
                if type(item) is Envelope:
                    item.answer(result)
                    if item.pending:
                        cell.ensure_life_scope().add_pending(item)
            if cell.ending is not None:
                return
            countdown -= 1
            if countdown == 0:
                countdown = SLICE_CHECK_MESSAGES
                if perf_counter() > until:
                    await trio.lowlevel.checkpoint()
                    until = perf_counter() + SLICE_SECONDS


async def _park(cell: "Cell[Any]") -> None:
    def leave(_: object) -> trio.lowlevel.Abort:
        cell.parked = None
        return trio.lowlevel.Abort.SUCCEEDED

    cell.parked = trio.lowlevel.current_task()
    await trio.lowlevel.wait_task_rescheduled(leave)
