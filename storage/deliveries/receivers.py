"""How users' receivers fail: a mail account, a webhook, a chat (docs/events.md#failing-receivers).

A receiver is a user and a lane of the outbox. It has a row while the last messages to it were not delivered.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries


class FailingReceiver(msgspec.Struct, frozen=True, rename="camel"):
    """A receiver of a user that the last messages could not be delivered to."""

    notificator: str
    """One of `GET /notifications/notificators`."""
    failures: int
    """Failed attempts since the last success."""
    since: datetime
    """The first of these attempts."""
    last_failure: datetime
    """The latest of them."""
    last_error: str
    """Why it failed."""
    paused: datetime | None = None
    """Since when no messages are made for it; null while attempts go on."""


async def record_failure(
    q: Queries, user_id: int, lane: str, *, error: str, now: datetime
) -> FailingReceiver | None:
    """Count a failed attempt to reach a receiver; None if there is no such user."""
    row = await q.fetch_row(
        """
        insert into failing_receivers (user_id, lane, failures, since, last_failure, last_error)
        select id, $2, 1, $4, $4, $3 from users where id = $1
        on conflict (user_id, lane) do update set failures = failing_receivers.failures + 1,
            last_failure = excluded.last_failure, last_error = excluded.last_error
        returning lane, failures, since, last_failure, last_error, paused
        """,
        user_id,
        lane,
        error,
        now,
    )
    return None if row is None else FailingReceiver(*row.values())


async def pause(q: Queries, user_id: int, lane: str, *, now: datetime) -> bool:
    """Make no more messages for a failing receiver; return False if that was so already."""
    tag = await q.execute(
        "update failing_receivers set paused = $3 where user_id = $1 and lane = $2 and paused is null",
        user_id,
        lane,
        now,
    )
    return tag.endswith(" 1")


async def resume(q: Queries, user_id: int, lane: str, *, now: datetime) -> None:
    """Forget the failures of a receiver that a message was delivered to; what waits for it is due."""
    await q.execute(
        """
        with known as (delete from failing_receivers where user_id = $1 and lane = $2 returning user_id)
        update outbox set next_attempt = $3
        from known where outbox.user_id = known.user_id and lane = $2 and next_attempt > $3
        """,
        user_id,
        lane,
        now,
    )


async def failing(q: Queries, user_id: int) -> list[FailingReceiver]:
    """Return the receivers of a user that fail, by the names of their notificators."""
    rows = await q.fetch(
        "select case lane when 'own mail' then 'mail' else lane end,"
        "   failures, since, last_failure, last_error, paused from failing_receivers"
        " where user_id = $1 order by lane",
        user_id,
    )
    return [FailingReceiver(*row.values()) for row in rows]


async def paused(q: Queries, user_ids: Iterable[int]) -> set[tuple[int, str]]:
    """Return (user, lane) of those receivers of the users that are paused."""
    rows = await q.fetch(
        "select user_id, lane from failing_receivers"
        " where user_id = any($1::bigint[]) and paused is not null",
        list(user_ids),
    )
    return {(row[0], row[1]) for row in rows}
