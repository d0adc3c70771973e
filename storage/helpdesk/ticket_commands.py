"""Commands that were sent for tickets, and their outcomes (docs/tickets.md#commands).

A command has a row from before it is handed to its device until nothing more can be said of it. What becomes
of it is stored as updates by those who cause them, which are entered in the history by one server at a time
(`try_lock`): devices never wait for the lock of a ticket.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from motorpool.storage.database.queries import Queries

_LOCK = 0x6D70_7463
"""The advisory lock of the server that enters updates."""


class CommandUpdate(NamedTuple):
    """A change of a command's outcome."""

    id: int
    ticket_id: int
    user_id: int
    """Who caused it; 0: the device."""
    attributes: dict[str, Any]
    """Of the entry in the history."""


async def add(
    q: Queries, company_id: int, ticket_id: int, attributes: Mapping[str, Any], *, now: datetime
) -> int:
    """Store a command that is about to be handed to its device; return the id of its row.

    `attributes` are what all of its entries say.
    """
    row_id: int = await q.fetch_value(
        "insert into ticket_commands (company_id, ticket_id, status, changed_at, attributes)"
        " values ($1, $2, 'sending', $3, $4) returning id",
        company_id,
        ticket_id,
        now,
        dict(attributes),
    )
    return row_id


async def settle(q: Queries, row_id: int, *, is_over: bool, now: datetime) -> None:
    """Say that the history has how a command was handed over; with `is_over` nothing more will come."""
    if is_over:
        await q.execute("delete from ticket_commands where id = $1", row_id)
    else:
        await q.execute(
            "update ticket_commands set status = 'sent', changed_at = $2"
            " where id = $1 and status = 'sending'",
            row_id,
            now,
        )


async def note(
    q: Queries,
    row_id: int,
    attributes: Mapping[str, Any],
    *,
    becomes: Literal["sent", "over", "same"],
    now: datetime,
) -> None:
    """Store the outcome of a command; does nothing without a row, for example after its ticket was deleted.

    `over`: nothing more will come; `same`: how it was handed over may not be in the history yet.
    """
    if becomes == "over":
        await q.execute(_noting("delete from ticket_commands where id = $2"), dict(attributes), row_id)
        return
    changed = (
        "update ticket_commands set changed_at = $3, status = case when $4 then 'sent' else status end"
        " where id = $2"
    )
    await q.execute(_noting(changed), dict(attributes), row_id, now, becomes == "sent")


async def note_removed(
    q: Queries, queued_command_id: int, user_id: int, attributes: Mapping[str, Any]
) -> None:
    """Store that a user has removed a command from a queue, in the transaction that does."""
    gone = "delete from ticket_commands where queued_command_id = $2"
    await q.execute(_noting(gone, user="$3::bigint"), dict(attributes), queued_command_id, user_id)


async def note_lost(
    q: Queries,
    *,
    sent_before: datetime,
    unknown: Mapping[str, Any],
    removed: Mapping[str, Any],
    silent_before: datetime,
) -> None:
    """Store what else became of commands.

    Commands handed to a device before `sent_before` of which nothing more is known get `unknown`: their
    server has ended. Commands that are no longer queued get `removed`. Commands not answered since
    `silent_before` are forgotten.
    """
    await q.execute(
        _noting(_lost("status = 'sending' and changed_at < $2"))
        + " where not exists (select from ticket_command_news news where news.command_id = changed.id)",
        dict(unknown),
        sent_before,
    )
    gone = "status = 'queued' and not exists (select from queued_commands where id = queued_command_id)"
    await q.execute(_noting(_lost(gone)), dict(removed))
    await q.execute(_lost("status = 'sent' and changed_at < $1"), silent_before)


def _lost(condition: str) -> str:
    # Rows whose ticket is being deleted are left.
    return (
        "delete from ticket_commands where id in ("  # noqa: S608 - constants
        f"select id from ticket_commands where {condition} for update skip locked)"
    )


def _noting(change: str, *, user: str = "0") -> str:
    """Return a statement that changes rows of commands, and stores an update with `$1` for each of them."""
    return f"""
        with changed as ({change} returning *)
        insert into ticket_command_news (company_id, ticket_id, command_id, user_id, attributes)
        select company_id, ticket_id, id, {user}, attributes || $1 from changed
    """  # noqa: S608 - constants


async def try_lock(transaction: Queries) -> bool:
    """Keep other transactions from entering updates until this one ends; False if another one does."""
    return await transaction.fetch_value("select pg_try_advisory_xact_lock($1)", _LOCK) is True


async def is_any_update(q: Queries) -> bool:
    """Return whether any update waits to be entered."""
    return await q.fetch_value("select exists (select from ticket_command_news)") is True


async def updates(q: Queries, *, limit: int) -> list[CommandUpdate]:
    """Return the oldest update of each ticket that has any, at most `limit`; with `try_lock` held.

    What became of a command comes after how it was handed over, which who sent it enters.
    """
    rows = await q.fetch(
        "select * from (select distinct on (ticket_id) id, ticket_id, user_id, attributes"
        " from ticket_command_news where not exists (select from ticket_commands sent"
        "  where sent.id = command_id and sent.status = 'sending')"
        " order by ticket_id, id) as oldest order by id limit $1",
        limit,
    )
    return [CommandUpdate(*row.values()) for row in rows]


async def remove_updates(q: Queries, ids: Iterable[int]) -> None:
    """Remove updates that have been entered."""
    await q.execute("delete from ticket_command_news where id = any($1::bigint[])", list(ids))
