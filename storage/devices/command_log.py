"""The log of commands: one row for each that was sent or queued (docs/commands.md#log).

A row is there before its command is handed to a device, in state SENDING, which is read as UNKNOWN: if the
server ends, nobody learns more. Changes name the states that they follow, so that of two servers one decides.
Statements that change several rows lock them in the order of their ids, after those of runs and queues.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries, Row, columns

MAX_ATTRIBUTES = 16_384
"""Characters of JSON; longer attributes are left out."""
MAX_TEXT = 1000
"""Characters of a description, a reason and an answer."""
LOGGED_OF_A_DEVICE = 10_000
"""Rows that are left of a device, the newest."""
TRIM_EVERY = 100
"""On average, of how many rows that are added one has those of its device deleted that are too many; at
random, since clients see ids."""
_RANDOM = random.SystemRandom()
ANSWER_TIME = timedelta(hours=1)
"""A command that was not answered within it is no longer expected to be."""

Origin = Literal["USER", "SCHEDULE", "NOTIFICATION", "TICKET"]
State = Literal["QUEUED", "SENT", "ANSWERED", "REFUSED", "EXPIRED", "CANCELLED", "UNKNOWN"]

ENDED = "the server ended while it was sending it, or before an answer came"
NO_ANSWER = "no answer came"
DISCONNECTED = "the connection ended before an answer came"


class LoggedCommand(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A command that was sent or queued, and what became of it."""

    id: int
    device_id: int
    type: str
    description: str
    text_channel: bool
    """Whether it was sent as a text message."""
    attributes: dict[str, Any]
    """What the type asks for. Secrets, and the text of a `custom` command, are masked unless the reader may
    send such commands; those of more than 16,384 characters are left out."""
    origin: Origin
    """Who caused it: USER by hand, also a saved command; SCHEDULE, NOTIFICATION, or TICKET by hand for a
    ticket."""
    user_id: int
    """The user who sent it, or with whose rights it was sent; 0: unknown."""
    user_name: str | None
    """The name of that user then; null for temporary users."""
    scheduled_command_id: int
    """The scheduled command of which it is a step; else 0."""
    event_id: int
    """The event that caused it by a notification; else 0."""
    ticket_id: int
    """The ticket that it was sent for; else 0."""
    time: datetime
    """When it was sent or queued first."""
    state: State
    """QUEUED: waits for the device. SENT: handed to its connection, or to the SMS gateway. ANSWERED, where
    the protocol tells which command an answer is for. REFUSED: never sent. EXPIRED, CANCELLED: it left the
    queue unsent. UNKNOWN: it is being sent, or may have been sent, and nobody learned the end."""
    reason: str | None
    """Why it was refused, or its end is not known; else null."""
    sent_at: datetime | None
    """When it was handed over; null: it was not, or that is unknown."""
    answer: str | None
    """What the device answered, in its own words; null without an answer."""
    answer_ok: bool | None
    """Whether the device says that it has done it; null without an answer."""
    answer_time: datetime | None
    """When the answer came."""


class NewEntry(msgspec.Struct, frozen=True, gc=False):
    """A command that is about to be handed to its device, or queued."""

    device_id: int
    type: str
    description: str
    text_channel: bool
    attributes: Mapping[str, Any]
    origin: Origin
    user_id: int = 0
    event_id: int = 0
    ticket_id: int = 0


class Handover(msgspec.Struct, frozen=True, gc=False):
    """What came of handing a command over."""

    id: int
    state: Literal["SENT", "REFUSED", "UNKNOWN"]
    reason: str | None = None
    answer_node: int | None = None
    """The server at which an answer that can be matched with it may come; None: there is no such answer."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What a device has answered."""

    id: int
    ok: bool
    text: str
    time: datetime


def short(column: str) -> str:
    """Return the SQL expression for a text that is stored."""
    return f"left(coalesce({column}, ''), {MAX_TEXT})"


def bounded(attributes: str) -> str:
    """Return the SQL expression for attributes that are stored."""
    return f"case when length({attributes}::text) <= {MAX_ATTRIBUTES} then {attributes} else '{{}}' end"


_SHOWN = """
    id, device_id, type, description, text_channel, attributes, origin, user_id, user_name,
    scheduled_command_id, event_id, ticket_id, time,
    case state when 'SENDING' then 'UNKNOWN' else state end, reason, sent_at, answer, answer_ok, answer_time
"""
_ADD = f"""
    insert into command_log (device_id, type, description, text_channel, attributes, origin, user_id,
        user_name, event_id, ticket_id, time, state)
    select device_id, type, {short("description")}, text_channel, {bounded("attributes")}, origin, user_id,
        (select name from users where users.id = user_id), event_id, ticket_id, $10, 'SENDING'
    from unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[], $5::jsonb[], $6::text[], $7::bigint[],
        $8::bigint[], $9::bigint[]) with ordinality as new (device_id, type, description, text_channel,
        attributes, origin, user_id, event_id, ticket_id, number)
    where exists (select from devices where devices.id = device_id)
    order by number
    returning id, device_id
"""  # noqa: S608 - constants
_SETTLE = f"""
    with held as (
        select result.* from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
            as result (id, state, reason, answer_node)
        join command_log l using (id) where l.state = 'SENDING' order by l.id for update of l
    )
    update command_log l set state = result.state, reason = left(result.reason, {MAX_TEXT}),
        answer_node = result.answer_node,
        sent_at = case when result.state = 'SENT' then $5::timestamptz end
    from held as result where l.id = result.id
"""  # noqa: S608 - constants
_ANSWER = f"""
    with held as (
        select given.* from (
            select distinct on (id) id, ok, text, time
            from unnest($1::bigint[], $2::boolean[], $3::text[], $4::timestamptz[]) with ordinality
                as answer (id, ok, text, time, number)
            order by id, number desc
        ) as given join command_log l using (id) order by l.id for update of l
    )
    update command_log l set state = 'ANSWERED', answer_node = null, reason = null,
        answer = case when given.text <> '' or l.answer is null then left(given.text, {MAX_TEXT})
            else l.answer end,
        answer_ok = given.ok, answer_time = given.time, sent_at = coalesce(l.sent_at, given.time)
    from held as given where l.id = given.id
"""  # noqa: S608 - constants
_LOSE = f"""
    update command_log set state = 'UNKNOWN', answer_node = null, reason = left($2, {MAX_TEXT})
    where id in (
        select id from command_log where {{which}} and answer_node is not null order by id for update
    )
    returning id
"""  # noqa: S608 - constants
_LOSE_BY_ID = _LOSE.format(which="id = any($1::bigint[])")
_LOSE_OLD = _LOSE.format(which="sent_at < $1")
_LOSE_OF_SERVERS = _LOSE.format(
    which=f"(answer_node = $1 and sent_at < $3 or answer_node <> $1 and not {nodes.is_live('answer_node')})"
)
_LEAVE_QUEUE = """
    update command_log set state = case when expires <= $1 then 'EXPIRED' else 'CANCELLED' end,
        queued_command_id = null
    where id in (
        select id from command_log l
        where queued_command_id is not null and state = 'QUEUED'
            and not exists (select from queued_commands q where q.id = l.queued_command_id)
        order by id for update skip locked
    ) and state = 'QUEUED'
    returning id
"""
_FORGET_UNSENT = """
    delete from command_log l using scheduled_command_runs r
    where l.state = 'SENDING' and l.run_id = r.id and r.status in ('pending', 'skipped')
"""
_TRIM = """
    delete from command_log where id in (
        select old.id from (
            select device_id from command_log group by device_id having count(*) > $1
        ) as full_of
        cross join lateral (
            select id from command_log l where l.device_id = full_of.device_id
            order by id desc offset $1 limit $2
        ) as old
        limit $2
    )
"""
_TRIM_DEVICES = """
    delete from command_log where id in (
        select id from command_log where id in (
            select old.id from unnest($1::bigint[]) as device (id) cross join lateral (
                select id from command_log l where l.device_id = device.id order by id desc offset $2 limit $3
            ) as old
        ) for update skip locked
    )
"""


async def add(q: Queries, entries: Sequence[NewEntry], now: datetime) -> list[int]:
    """Store commands before they are handed over; return their ids in the order of `entries`.

    The id is 0 for a device that has been deleted meanwhile.
    """
    rows = await q.fetch(
        _ADD,
        *columns(
            (
                each.device_id,
                each.type,
                each.description,
                each.text_channel,
                dict(each.attributes),
                each.origin,
                each.user_id,
                each.event_id,
                each.ticket_id,
            )
            for each in entries
        ),
        now,
    )
    # Upkeep comes by the hour, in which one client can add hundreds of thousands.
    if full := sorted({row[1] for row in rows if not _RANDOM.randrange(TRIM_EVERY)}):
        await q.execute(_TRIM_DEVICES, full, LOGGED_OF_A_DEVICE, 10 * TRIM_EVERY)
    if len(rows) == len(entries):
        return [row[0] for row in rows]
    made = iter(rows)
    following = next(made, None)
    ids = []
    for each in entries:
        if following is not None and following[1] == each.device_id:
            ids.append(following[0])
            following = next(made, None)
        else:
            ids.append(0)
    return ids


async def settle(q: Queries, results: Iterable[Handover], now: datetime) -> None:
    """Store what came of handing commands over, in a transaction with its commit."""
    await q.defer_to_commit(_SETTLE, *columns(map(msgspec.structs.astuple, results)), now)


async def forget_unsent(q: Queries) -> None:
    """Delete the rows of steps that were certainly not handed to any device, and are pending or skipped."""
    await q.defer_to_commit(_FORGET_UNSENT)


async def answer(q: Queries, answers: Iterable[Answer]) -> None:
    """Store what devices have answered; of several answers to a command the last one that says anything."""
    await q.execute(_ANSWER, *columns(map(msgspec.structs.astuple, answers)))


async def note_disconnected(q: Queries, ids: Sequence[int]) -> list[int]:
    """Say that no answers will come to these commands; return those that still waited for one."""
    return _ids(await q.fetch(_LOSE_BY_ID, list(ids), DISCONNECTED))


async def note_lost(q: Queries, now: datetime, node: int, *, began: datetime) -> list[int]:
    """Settle what nobody else settles; return the ids of what has changed.

    Commands that are in no queue any more have expired or were cancelled. No answer is expected after
    `ANSWER_TIME`, nor by servers that are dead, nor to what this server, `node`, sent before it `began`.
    """
    found = _ids(await q.fetch(_LEAVE_QUEUE, now))
    found += _ids(await q.fetch(_LOSE_OLD, now - ANSWER_TIME, NO_ANSWER))
    found += _ids(await q.fetch(_LOSE_OF_SERVERS, node, ENDED, began))
    return found


async def fetch(q: Queries, ids: Iterable[int]) -> list[LoggedCommand]:
    """Return the rows with these ids."""
    sql = f"select {_SHOWN} from command_log where id = any($1::bigint[])"  # noqa: S608 - constants
    return _entries(await q.fetch(sql, list(ids)))


async def newest(
    q: Queries,
    *,
    device_ids: Sequence[int],
    user_id: int | None,
    states: Sequence[State],
    start: datetime | None,
    end: datetime | None,
    before_id: int,
    limit: int,
) -> list[LoggedCommand]:
    """Return rows of devices within [start, end], the newest first."""
    wanted = [*states, "SENDING"] if "UNKNOWN" in states else list(states)
    rows = await q.fetch(
        f"select {_SHOWN} from command_log where device_id = any($1::bigint[])"  # noqa: S608 - constants
        " and ($2::bigint is null or user_id = $2) and ($3::text[] is null or state = any($3))"
        " and ($4::timestamptz is null or time >= $4) and ($5::timestamptz is null or time <= $5)"
        " and id < $6 order by id desc limit $7",
        list(device_ids),
        user_id,
        wanted or None,
        start,
        end,
        before_id,
        limit,
    )
    return _entries(rows)


async def trim(q: Queries, most: int = LOGGED_OF_A_DEVICE) -> int:
    """Delete the oldest rows of devices that have more than `most`, some thousands; return how many."""
    return await q.affected(_TRIM, most, 5000)


def _ids(rows: Iterable[Row]) -> list[int]:
    return [row[0] for row in rows]


def _entries(rows: Iterable[Row]) -> list[LoggedCommand]:
    return [LoggedCommand(*row.values()) for row in rows]
