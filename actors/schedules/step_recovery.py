"""Settles steps whose outcome will not be reported any more."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from motorpool.actors.messages.counters import STEPS_SETTLED
from motorpool.runtime import Context
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import commands, device_states
from motorpool.storage.schedules import runs
from motorpool.storage.schedules.runs import DelayedStep

DELIVERY_SECONDS = 60.0
"""A device that has taken a step from its queue reports the outcome within this, or has crashed."""
OUTCOME_UNKNOWN = "the server ended while it was being sent: the device may have it or not"


async def fail_interrupted(
    database: Database, context: Context[Any], node: int = 0, *, sending: bool = True
) -> list[DelayedStep]:
    """Fail the steps that a server was sending when it ended; with `sending`, also the steps of `node`.

    Return all delayed steps that are still pending.
    """
    now = context.clock.now()
    async with database.transaction() as transaction:
        failed = await runs.fail_interrupted(
            transaction,
            now,
            OUTCOME_UNKNOWN,
            delivering_before=context.system.began,
            delivering_elsewhere_before=now - timedelta(seconds=DELIVERY_SECONDS),
            sending=sending,
            node=node,
        )
        await _schedule_next_steps(transaction, failed)
        await commands.expire(transaction, now)
        delayed = await runs.delayed(transaction)
    _report_failed(context, failed)
    return delayed


async def fail_lost_steps(database: Database, context: Context[Any], node: int = 0) -> None:
    """Fail the steps that a device took from its queue a while ago, or that a dead server was sending.

    The steps that follow are pending and found when they are overdue.
    """
    now = context.clock.now()
    lost = now - timedelta(seconds=DELIVERY_SECONDS)
    async with database.transaction() as transaction:
        failed = await runs.fail_interrupted(
            transaction, now, OUTCOME_UNKNOWN, delivering_before=lost, sending=False, node=node
        )
        await _schedule_next_steps(transaction, failed)
    _report_failed(context, failed)


async def _schedule_next_steps(q: Queries, failed: Mapping[int, bool]) -> None:
    """Set the due times of steps that follow failed ones that were not queued."""
    if following := [run_id for run_id, was_sent in failed.items() if was_sent]:
        await runs.schedule_next_steps(q, following)


async def recently_connected(database: Database, status_seconds: float) -> frozenset[int]:
    """Return the devices that were connected when the server stopped, to be called before `mark_alive`.

    They were heard of within the status time-out before the stop. The time of the stop is known to
    CHECK_SECONDS; a database of an earlier release has none, and the newest message stands for it.
    """
    stopped = await server.last_alive(database) or await device_states.newest(database)
    if stopped is None:
        return frozenset()
    return await device_states.seen_since(database, stopped - timedelta(seconds=status_seconds))


def _report_failed(context: Context[Any], run_ids: Iterable[int]) -> None:
    for run_id in run_ids:
        STEPS_SETTLED.labels("failed").inc()
        context.log.warning("step %d failed: %s", run_id, OUTCOME_UNKNOWN)
