"""What migrations make of a database that a release has filled, field by field, and when they are killed."""

import json
import signal
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from functools import partial

import pytest
import trio
from tests.storage.filled import migrating
from tests.storage.filled.loading import (
    contents,
    differences,
    pending_messages,
    pending_messages_of_0a24c499,
)
from tests.storage.filled.migrating import bring_up_to_date, open_session

from motorpool.storage.database.migrations import load

OURS = load()
STEPS_OF_0A24C499 = 50


def last_value(before, table):
    (found,) = [row["last_value"] for row in before["sequences"] if row["sequencename"] == f"{table}_id_seq"]
    return found


def delivered_to_companies(before):
    for row in before["ticket_messages"]:
        body, is_overtaken, ticket_id = row["body"], row["is_overtaken"], row["ticket_id"]
        kept = {name: row[name] for name in row if name not in ("body", "is_overtaken", "ticket_id")}
        yield {
            **kept,
            "lane": "ticket webhook",
            "receiver": row["company_id"],
            "user_id": None,
            "message_id": f"msg_{row['company_id']}_{row['id']}",
            "message": {"channel": "ticket webhook", "to": "", "text": body},
            "expires": None,
            "order_key": ticket_id,
            "holds_back": not is_overtaken,
        }


def delivered_to_users(before):
    for row in before["outbox"]:
        is_webhook = row["lane"] == "webhook"
        kept = {name: row[name] for name in row if name not in ("claimed_until", "is_overtaken")}
        yield {
            **kept,
            "id": row["id"] + last_value(before, "ticket_messages"),
            "receiver": row["user_id"] if row["lane"] in ("own mail", "webhook") else 0,
            "company_id": None,
            "state": "waiting",
            "order_key": 0 if is_webhook else None,
            "holds_back": is_webhook and not row["is_overtaken"],
            "sequence": 0,
            "type": "",
        }


def receivers(before):
    same = {"holder": "", "leased_until": None}
    for row in before["failing_receivers"]:
        user = {"receiver": row["user_id"], "company_id": None, "dropped": 0, "held_until": None}
        yield {**row, **user, **same}
    for row in before["ticket_webhooks"]:
        yield {
            **same,
            "lane": "ticket webhook",
            "receiver": row["company_id"],
            "user_id": None,
            "company_id": row["company_id"],
            "failures": row["failures"],
            "since": row["failing_since"],
            "last_failure": None,
            "last_error": "",
            "held_until": row["held_until"],
            "paused": row["stopped_at"],
            "dropped": row["dropped"],
        }


def attachments(before):
    for row in before["outbox_attachments"]:
        kept = {name: row[name] for name in row if name != "outbox_id"}
        yield {**kept, "delivery_id": row["outbox_id"] + last_value(before, "ticket_messages")}


def attempts(before):
    for row in before["ticket_message_attempts"]:
        yield {"delivery_id" if name == "message_id" else name: value for name, value in row.items()}


def bindings(before):
    def instant(row, name):
        return datetime.fromisoformat(row[name])

    known = {row["id"] for row in before["devices"]}
    latest = {}
    for row in sorted(before["positions"], key=lambda row: (instant(row, "fix_time"), row["id"])):
        if instant(row, "fix_time") <= instant(row, "server_time") + timedelta(days=1):
            latest[row["device_id"]] = row
    assert len({row["protocol"] for row in latest.values()}) > 1
    for device_id, row in latest.items():
        if device_id in known:
            since = {"protocol": row["protocol"], "since": row["server_time"]}
            yield {"device_id": device_id, **since, "registration": None, "code": None}


def json_bytes(value):
    """As long as PostgreSQL writes JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def users_use(before):
    """What is counted of what users have created: the first of those that are linked to a row."""
    found = Counter()
    links = {
        **{
            table: f"user_{table.removesuffix('s')}"
            for table in ("geofences", "drivers", "orders", "calendars")
        },
        **{
            table: f"user_{table.removesuffix('s')}"
            for table in ("notifications", "commands", "groups", "devices")
        },
        "maintenance": "user_maintenance",
        "scheduled_commands": "user_scheduled_command",
        "scheduled_reports": "user_report",
    }
    for table, link in links.items():
        column = f"{link.removeprefix('user_')}_id"
        for row in before[table]:
            users = [each["user_id"] for each in before[link] if each[column] == row["id"]]
            user = min(users, default=None)
            size = json_bytes(row["attributes"])
            size += sum(len(row.get(name, "").encode()) for name in ("area", "data"))
            found[user, f"{table}:bytes"] += size
            if table != "devices":
                found[user, f"{table}:rows"] += 1
            if table == "geofences":
                found[user, "geofences:points"] += row["area"].count(",") + 1
            if table == "notifications":
                found[user, "notifications:links"] += len(users)
    for row in before["companies"]:
        found[row["creator_id"], "companies:rules"] += len(row["attributes"].get("ticketRules", []))
    return rows_of("user", found)


def owners_use(owner, before):
    """What is linked to devices, or to groups."""
    found = Counter()
    for name, table, measures in (
        ("geofence", "geofences", {"rows": lambda _: 1, "points": lambda row: row["area"].count(",") + 1}),
        (
            "attribute",
            "computed_attributes",
            {"rows": lambda _: 1, "characters": lambda row: len(row["expression"])},
        ),
        ("maintenance", "maintenance", {"rows": lambda _: 1}),
        ("notification", "notifications", {"rows": lambda _: 1}),
        (
            "scheduled_command",
            "scheduled_commands",
            {"steps": lambda row: len(row["on_start"]) + len(row["on_end"])},
        ),
    ):
        rows = {row["id"]: row for row in before[table]}
        for link in before[f"{owner}_{name}"]:
            for measure, size in measures.items():
                found[link[f"{owner}_id"], f"{table}:{measure}"] += size(rows[link[f"{name}_id"]])
    for link in before["device_device"] if owner == "device" else ():
        found[link["device_id"], "devices:linked"] += 1
    return rows_of(owner, found)


def with_devices(table, before):
    """Events that wait, with their devices."""
    devices = {row["id"]: row["device_id"] for row in before["events"]}
    return [{**row, "device_id": devices.get(row["event_id"], 0)} for row in before[table]]


def rows_of(owner, found):
    return [
        {f"{owner}_id": number, "measure": measure, "amount": amount}
        for (number, measure), amount in found.items()
        if amount
    ]


def sequences(before):
    gone = {"outbox_id_seq", "ticket_messages_id_seq", "ticket_message_attempts_id_seq"}
    kept = [row for row in before["sequences"] if row["sequencename"] not in gone]
    deliveries = last_value(before, "ticket_messages") + last_value(before, "outbox")
    of_attempts = last_value(before, "ticket_message_attempts")
    return [
        *kept,
        {"sequencename": "deliveries_id_seq", "last_value": deliveries},
        {"sequencename": "delivery_attempts_id_seq", "last_value": of_attempts},
    ]


def created(table, link, column):
    """The rows with the first of the users that are linked to them as their creator."""

    def rows(before):
        for row in before[table]:
            users = [each["user_id"] for each in before[link] if each[column] == row["id"]]
            points = {"points": row["area"].count(",") + 1} if table == "geofences" else {}
            yield {**row, "creator_id": min(users, default=None), **points}

    return lambda before: list(rows(before))


INTENDED = {
    "openid_identities": lambda before: [{**row, "existed": False} for row in before["openid_identities"]],
    "devices": lambda before: [
        {**row, **{name: row[name] or None for name in ("phone", "model", "contact", "category")}}
        for row in created("devices", "user_device", "device_id")(before)
    ],
    "geofences": created("geofences", "user_geofence", "geofence_id"),
    "drivers": created("drivers", "user_driver", "driver_id"),
    "orders": created("orders", "user_order", "order_id"),
    "maintenance": created("maintenance", "user_maintenance", "maintenance_id"),
    "notifications": created("notifications", "user_notification", "notification_id"),
    "calendars": lambda before: [
        {**row, "cost": 0} for row in created("calendars", "user_calendar", "calendar_id")(before)
    ],
    "unmatched_events": partial(with_devices, "unmatched_events"),
    "ticket_rule_events": partial(with_devices, "ticket_rule_events"),
    "commands": created("commands", "user_command", "command_id"),
    "groups": created("groups", "user_group", "group_id"),
    "scheduled_commands": created("scheduled_commands", "user_scheduled_command", "scheduled_command_id"),
    "scheduled_reports": created("scheduled_reports", "user_report", "report_id"),
    "quota_locks": lambda _: [],
    "unfinished_firings": lambda _: [],
    "user_quota_use": users_use,
    "device_quota_use": partial(owners_use, "device"),
    "group_quota_use": partial(owners_use, "group"),
    "deliveries": lambda before: [*delivered_to_companies(before), *delivered_to_users(before)],
    "receivers": lambda before: list(receivers(before)),
    "delivery_attachments": lambda before: list(attachments(before)),
    "delivery_attempts": lambda before: list(attempts(before)),
    "device_bindings": lambda before: list(bindings(before)),
    "differing_logins": lambda _: [],
    "homes": lambda before: [{**row, "datagrams": False} for row in before["homes"]],
    "encryption_keys": lambda _: [],
    "nodes": lambda before: [{**row, "encryption_keys": []} for row in before["nodes"]],
    "sequences": sequences,
    **dict.fromkeys(
        (
            "outbox",
            "outbox_attachments",
            "ticket_messages",
            "ticket_message_attempts",
            "failing_receivers",
            "ticket_webhooks",
        ),
        lambda _: None,
    ),
}
"""Table -> what later migrations make of it: a function from all tables of before to its rows, or to None if
it is gone. What is not named here stays as it was.
"""
WAITS = """
    select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid())
"""


async def read(url):
    async with open_session(url) as session:
        return await contents(session)


def expected_of(before, applied):
    made = {table: rule(before) for table, rule in INTENDED.items()}
    expected = {table: rows for table, rows in {**before, **made}.items() if rows is not None}
    del expected["schema_migrations"]
    if applied:
        # The migration has seen that the server was killed.
        expected["nodes"] = [{**row, "state": "dead"} for row in expected["nodes"]]
    return expected


async def test_all_rows_are_as_they_were_but_for_what_migrations_change(filled_url):
    before = await read(filled_url)
    applied = await bring_up_to_date(filled_url, OURS)
    after = await read(filled_url)
    assert applied == len(OURS) - STEPS_OF_0A24C499
    steps = [(row["number"], row["name"]) for row in after.pop("schema_migrations")]
    assert sorted(steps) == [(step.number, step.name) for step in OURS]
    assert list(differences(expected_of(before, applied), after)) == []


async def test_restrictions_of_the_server_become_those_of_its_users_but_not_of_administrators(filled_url):
    flags = ("readonly", "disable_reports", "fixed_email")
    async with open_session(filled_url) as session:
        await session.execute(f"update server set {', '.join(f'{flag} = true' for flag in flags)}")
    before = {row["id"]: row for row in (await read(filled_url))["users"]}
    await bring_up_to_date(filled_url, OURS)
    after = {row["id"]: row for row in (await read(filled_url))["users"]}
    assert {row["administrator"] for row in before.values()} == {True, False}
    for number, row in before.items():
        changes = not row["administrator"] and not all(row[flag] for flag in flags)
        restricted = {**row, **dict.fromkeys(flags, True), "version": row["version"] + 1}
        assert after[number] == (restricted if changes else row)


async def test_what_waits_to_be_sent_is_sent_once_and_in_the_same_order(filled_url):
    async with open_session(filled_url) as session:
        # The dump has none of an order that others go before.
        for table, condition in (("ticket_messages", "state = 'waiting'"), ("outbox", "lane = 'webhook'")):
            await session.execute(
                f"update {table} set is_overtaken = true"
                f" where id in (select id from {table} where {condition} order by id limit 3)"
            )
    before = pending_messages_of_0a24c499(await read(filled_url))
    assert {each.lane for each in before if each.is_overtaken} == {"company", "webhook"}
    await bring_up_to_date(filled_url, OURS)
    assert pending_messages(await read(filled_url)) == before


async def test_the_dump_has_rows_in_every_table_and_of_every_kind(filled_url):
    found = await read(filled_url)
    assert [table for table, rows in found.items() if not rows] == []
    assert len(found["schema_migrations"]) == STEPS_OF_0A24C499

    def values(table, column):
        return {row[column] for row in found[table]}

    waiting = pending_messages_of_0a24c499(found)
    lanes = {"mail", "own mail", "sms", "telegram", "pushover", "webhook", "company"}
    assert {each.lane for each in waiting} == lanes
    assert {each.lane for each in waiting if each.attempts} == lanes
    assert {each.lane for each in waiting if not each.attempts} >= lanes - {"own mail"}
    assert {row["is_overtaken"] for row in found["outbox"]} == {True, False}
    # Several messages of one order, else there is none to lose.
    orders = Counter(each.order for each in waiting)
    del orders[""]
    assert min(
        sum(name.startswith(kind) and n > 1 for name, n in orders.items()) for kind in ("user", "ticket")
    )
    assert any(row["claimed_until"] for row in found["outbox"])
    assert values("ticket_messages", "state") == {"waiting", "delivered", "failed", "dropped"}
    assert any(row["leased_until"] for row in found["ticket_webhooks"])
    assert any(row["stopped_at"] for row in found["ticket_webhooks"])
    assert any(row["held_until"] for row in found["ticket_webhooks"])
    assert {row["paused"] is None for row in found["failing_receivers"]} == {True, False}
    kinds = {"new", "open", "pending", "resolved", "closed", "cancelled"}
    for company in values("companies", "id"):
        assert {row["status_kind"] for row in found["tickets"] if row["company_id"] == company} == kinds
    assert values("ticket_pauses", "reason") == {"pending", "resolved", "closed", "cancelled", "outsideZone"}
    assert values("ticket_captures", "status") == {"waiting", "recording"}
    assert values("ticket_commands", "status") == {"sent", "queued"}
    assert values("captures", "status") == {"RECORDING", "COMPLETE", "FAILED"}
    assert values("footage_requests", "status") >= {"WAITING", "FETCHING"}
    assert values("scheduled_command_runs", "phase") == {"start", "end", "manual"}
    assert values("scheduled_command_runs", "status") >= {"pending", "queued", "sent"}
    assert {row["run_id"] is None for row in found["queued_commands"]} == {True, False}
    assert values("positions", "protocol") >= {"jt808", "osmand", "teltonika", "gt06"}
    assert values("tokens", "purpose") == {"session", "share"}
    assert values("nodes", "state") == {"live", "dead"}
    written = {word for row in found["notifications"] for word in row["notificators"].split(",")}
    assert written >= {"web", "mail", "sms", "telegram", "pushover", "webhook", "command"}


def begin_migration(url):
    return subprocess.Popen([sys.executable, migrating.__file__, url])


POINTS = [
    # All statements of the step are done, but it is not written down.
    *((number, "schema_migrations") for number in range(STEPS_OF_0A24C499 + 1, len(OURS) + 1)),
    # Some of its statements are done.
    (51, "ticket_messages"),
]
"""Where a migration is killed: the number of a step, and the table that it waits for at that moment."""


@pytest.mark.parametrize(("number", "table"), POINTS)
async def test_a_migration_that_is_killed_is_done_again(make_filled, number, table):
    url, undisturbed = make_filled(), make_filled()
    await bring_up_to_date(undisturbed, OURS)
    await bring_up_to_date(url, OURS[: number - 1])
    async with open_session(url) as other, open_session(url) as observer:
        await other.execute("begin")
        await other.execute(f"lock table {table} in share mode")
        with begin_migration(url) as process:
            with trio.fail_after(60):
                while not await observer.fetch_value(WAITS):
                    assert process.poll() is None
                    await trio.sleep(0.02)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        await other.execute("rollback")
    assert await bring_up_to_date(url, OURS) == len(OURS) - number + 1
    assert list(differences(await read(undisturbed), await read(url))) == []
