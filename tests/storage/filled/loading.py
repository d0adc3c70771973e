"""Databases of earlier releases, as `fill.py` has dumped them, and what their tables hold."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.storage.filled.releases import dump_of

from motorpool.storage.database.queries import Queries
from motorpool.storage.postgres.embedded import binaries

Row = dict[str, Any]
Contents = dict[str, list[Row]]
"""The rows of each table by its name, with values as in JSON; in no order. "sequences" are among them."""

TABLES = """
    select c.relname from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname
"""
SEQUENCES = "select sequencename, last_value from pg_sequences where schemaname = current_schema()"
SERVERS_ENDED = "update nodes set seen_until = now() - interval '1 day'"
"""The server was killed: however wrong the clock of this machine is, that was a while ago."""


def load_dump(url: str, release: str) -> None:
    """Fill an empty database with what a release has left in its own."""
    psql = [str(binaries() / "psql"), "-Xqo", "/dev/null", "-1", "-v", "ON_ERROR_STOP=1", "-d", url]
    with subprocess.Popen(["gzip", "-dc", str(dump_of(release))], stdout=subprocess.PIPE) as unpacked:
        subprocess.run(psql, stdin=unpacked.stdout, check=True)
    subprocess.run([*psql, "-c", SERVERS_ENDED], check=True)


async def contents(q: Queries) -> Contents:
    """Read all tables of the schema that statements find first."""
    names = [row[0] for row in await q.fetch(TABLES)]
    if not names:
        return {}
    found: Contents = {name: [] for name in names}
    # As one statement: there are a hundred tables, and most are small.
    each = (f"select '{name}' as name, to_jsonb(t)::text as row from {name} t" for name in names)
    for row in await q.fetch(" union all ".join(each)):
        found[row["name"]].append(json.loads(row["row"]))
    found["sequences"] = [dict(row.items()) for row in await q.fetch(SEQUENCES)]
    return found


def last_value(found: Contents, table: str) -> int:
    """Return the last id that a table has given."""
    (value,) = [row["last_value"] for row in found["sequences"] if row["sequencename"] == f"{table}_id_seq"]
    return int(value)


def differences(expected: Contents, found: Contents) -> Iterator[str]:
    """Yield a line for each table whose rows are not those that are expected, in whatever order."""
    for table in sorted({*expected, *found}):
        if table not in found or table not in expected:
            yield f"{table}: {'expected' if table in expected else 'not expected'}"
            continue
        missing = _texts(expected[table])
        further = []
        for text in _texts(found[table]):
            if text in missing:
                missing.remove(text)
            else:
                further.append(text)
        if missing or further:
            yield f"{table}: missing {missing[:2]}, not expected {further[:2]}"


def _texts(rows: list[Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


class PendingMessage(NamedTuple):
    """A message that is to be sent, whatever table it waits in."""

    lane: str
    """That of the outbox, or `company`: to the webhook of a company."""
    order: str
    """Messages that have this in common are sent one after the other; "" for none."""
    number: int
    """The place in that order, among those that wait: 0, 1, 2 …"""
    identity: str
    """What the receiver tells repetitions by."""
    body: str
    """The text of the message, as it is sent."""
    user_id: int | None
    company_id: int | None
    created: str
    next_attempt: str
    attempts: int
    last_error: str | None
    is_overtaken: bool
    """Whether later ones in its order go first; False without an order."""


def pending_messages(found: Contents) -> list[PendingMessage]:
    """Return what a release has yet to send, ordered: what a migration must not change."""
    if "outbox" in found:
        return _pending_in_two_tables(found)
    messages = [
        PendingMessage(
            lane=row["lane"] if row["company_id"] is None else "company",
            order=_order(row),
            number=row["id"],
            identity=row["message_id"],
            body=row["message"]["text"],
            user_id=row["user_id"],
            company_id=row["company_id"],
            created=row["created"],
            next_attempt=row["next_attempt"],
            attempts=row["attempts"],
            last_error=row["last_error"],
            is_overtaken=row["order_key"] is not None and not row["holds_back"],
        )
        for row in found["deliveries"]
        if row["state"] == "waiting"
    ]
    return _counted(messages)


def attached_to(found: Contents, message: PendingMessage) -> int:
    """Return how many files a message that is to be mailed has."""
    for row in found.get("outbox", found.get("deliveries", [])):
        if row["message_id"] == message.identity:
            return int(row["message"]["attached"])
    raise LookupError(message.identity)


def disabled_webhooks(found: Contents) -> set[int]:
    """Return the ids of the companies whose webhooks are disabled, since they have failed."""
    if "ticket_webhooks" in found:
        return {row["company_id"] for row in found["ticket_webhooks"] if row["stopped_at"]}
    return {row["company_id"] for row in found["receivers"] if row["company_id"] and row["paused"]}


def _pending_in_two_tables(found: Contents) -> list[PendingMessage]:
    """Return the same of releases before 0.3.0."""
    messages = [
        PendingMessage(
            lane=row["lane"],
            order=f"user {row['user_id']}" if row["lane"] == "webhook" else "",
            number=row["id"],
            identity=row["message_id"],
            body=row["message"]["text"],
            user_id=row["user_id"],
            company_id=None,
            created=row["created"],
            next_attempt=row["next_attempt"],
            attempts=row["attempts"],
            last_error=row["last_error"],
            is_overtaken=row["is_overtaken"] and row["lane"] == "webhook",
        )
        for row in found["outbox"]
    ]
    messages += [
        PendingMessage(
            lane="company",
            order=f"ticket {row['ticket_id']} of company {row['company_id']}",
            number=row["sequence"],
            identity=f"msg_{row['company_id']}_{row['id']}",
            body=row["body"],
            user_id=None,
            company_id=row["company_id"],
            created=row["created"],
            next_attempt=row["next_attempt"],
            attempts=row["attempts"],
            last_error=row["last_error"],
            is_overtaken=row["is_overtaken"],
        )
        for row in found["ticket_messages"]
        if row["state"] == "waiting"
    ]
    return _counted(messages)


def _order(row: Row) -> str:
    if row["company_id"] is not None:
        return f"ticket {row['order_key']} of company {row['company_id']}"
    return "" if row["order_key"] is None else f"user {row['user_id']}"


def _counted(messages: list[PendingMessage]) -> list[PendingMessage]:
    """Return messages in their orders, with the places of those that are left."""
    places: dict[tuple[str, str], int] = {}
    counted = []
    for message in sorted(messages, key=lambda each: (each.lane, each.order, each.number)):
        place = places.get((message.lane, message.order), 0)
        places[message.lane, message.order] = place + 1
        counted.append(message._replace(number=place))
    return counted
