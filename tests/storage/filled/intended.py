"""What migrations change on purpose in a database that is in use; all else has to stay as it was.

A migration that changes rows, or the columns of tables that have some, is an entry in `CHANGES`.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from tests.storage.filled.loading import Contents, Row, last_value

Rows = list[Row]
Change = Callable[[Contents], Rows | None]
"""From all tables of before to the rows of one afterwards; None: it is gone."""


def delivered_to_companies(before: Contents) -> Iterator[Row]:
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


def delivered_to_users(before: Contents) -> Iterator[Row]:
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


def receivers(before: Contents) -> Iterator[Row]:
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


def attachments(before: Contents) -> Iterator[Row]:
    for row in before["outbox_attachments"]:
        kept = {name: row[name] for name in row if name != "outbox_id"}
        yield {**kept, "delivery_id": row["outbox_id"] + last_value(before, "ticket_messages")}


def attempts(before: Contents) -> Iterator[Row]:
    for row in before["ticket_message_attempts"]:
        yield {"delivery_id" if name == "message_id" else name: value for name, value in row.items()}


def sequences_of_deliveries(before: Contents) -> Iterator[Row]:
    gone = {"outbox_id_seq", "ticket_messages_id_seq", "ticket_message_attempts_id_seq"}
    yield from (row for row in before["sequences"] if row["sequencename"] not in gone)
    deliveries = last_value(before, "ticket_messages") + last_value(before, "outbox")
    yield {"sequencename": "deliveries_id_seq", "last_value": deliveries}
    of_attempts = last_value(before, "ticket_message_attempts")
    yield {"sequencename": "delivery_attempts_id_seq", "last_value": of_attempts}


def bindings(before: Contents) -> Iterator[Row]:
    def instant(row: Row, name: str) -> datetime:
        return datetime.fromisoformat(row[name])

    known = {row["id"] for row in before["devices"]}
    latest: dict[int, Row] = {}
    for row in sorted(before["positions"], key=lambda row: (instant(row, "fix_time"), row["id"])):
        if instant(row, "fix_time") <= instant(row, "server_time") + timedelta(days=1):
            latest[row["device_id"]] = row
    assert len({row["protocol"] for row in latest.values()}) > 1
    for device_id, row in latest.items():
        if device_id in known:
            since = {"protocol": row["protocol"], "since": row["server_time"]}
            yield {"device_id": device_id, **since, "registration": None, "code": None}


CREATED = (
    *("geofences", "drivers", "orders", "maintenance", "notifications", "calendars", "commands", "groups"),
    *("scheduled_commands", "scheduled_reports"),
)
"""Tables whose rows count for who has created them."""
LINKED: dict[str, dict[str, Callable[[Row], int]]] = {
    "geofence": {"geofences:rows": lambda _: 1, "geofences:points": lambda row: row["points"]},
    "attribute": {
        "computed_attributes:rows": lambda _: 1,
        "computed_attributes:characters": lambda row: len(row["expression"]),
    },
    "maintenance": {"maintenance:rows": lambda _: 1},
    "notification": {"notifications:rows": lambda _: 1},
    "scheduled_command": {
        "scheduled_commands:steps": lambda row: len(row["on_start"]) + len(row["on_end"]),
    },
}
"""What is linked to devices and groups, and what it counts for."""


def used_by_users(before: Contents) -> Iterator[Row]:
    found: Counter[tuple[int | None, str]] = Counter()
    for table in CREATED:
        for row in before[table]:
            found[row["creator_id"], f"{table}:rows"] += 1
            found[row["creator_id"], f"{table}:bytes"] += _bytes_of(row)
    for row in devices_with_creator(before) or ():
        found[row["creator_id"], "devices:bytes"] += _bytes_of(row)
    for row in before["geofences"]:
        found[row["creator_id"], "geofences:points"] += row["points"]
    creators = {row["id"]: row["creator_id"] for row in before["notifications"]}
    for link in before["user_notification"]:
        found[creators[link["notification_id"]], "notifications:links"] += 1
    for row in before["companies"]:
        found[row["creator_id"], "companies:rules"] += len(row["attributes"].get("ticketRules", []))
    yield from _quota_use("user", found)


def used_by_owners(owner: str, before: Contents) -> Iterator[Row]:
    """By devices, or by groups."""
    found: Counter[tuple[int | None, str]] = Counter()
    for name, measures in LINKED.items():
        for measure, size in measures.items():
            linked = {row["id"]: row for row in before[measure.partition(":")[0]]}
            for link in before[f"{owner}_{name}"]:
                found[link[f"{owner}_id"], measure] += size(linked[link[f"{name}_id"]])
    for link in before["device_device"] if owner == "device" else ():
        found[link["device_id"], "devices:linked"] += 1
    yield from _quota_use(owner, found)


def _quota_use(owner: str, found: Counter[tuple[int | None, str]]) -> Iterator[Row]:
    for (number, measure), amount in found.items():
        if amount:
            yield {f"{owner}_id": number, "measure": measure, "amount": amount}


def _bytes_of(row: Row) -> int:
    """Return how much of a row is counted, with JSON as PostgreSQL writes it."""
    texts = (json.dumps(row["attributes"], ensure_ascii=False), row.get("area", ""), row.get("data", ""))
    return sum(len(text.encode()) for text in texts)


def with_devices(table: str) -> Change:
    """Events that wait, with their devices."""

    def made(before: Contents) -> Iterator[Row]:
        devices = {row["id"]: row["device_id"] for row in before["events"]}
        for row in before[table]:
            yield {**row, "device_id": devices.get(row["event_id"], 0)}

    return rows(made)


def rows(make: Callable[[Contents], Iterator[Row]]) -> Change:
    """The rows that a generator makes."""
    return lambda before: list(make(before))


def gone(_: Contents) -> None:
    """The table is not there any more."""


def empty(_: Contents) -> Rows:
    """A new table without rows."""
    return []


def with_sequence(name: str, last: int | None = None) -> Change:
    """The sequences with a new one."""
    return lambda before: [*before["sequences"], {"sequencename": name, "last_value": last}]


def with_columns(table: str, **values: Any) -> Change:
    """The rows with further columns, of these values."""
    return lambda before: [{**row, **values} for row in before[table]]


def without_empty_texts(table: str, *names: str) -> Change:
    """The rows with null for texts that are empty."""
    return lambda before: [row | {name: row[name] or None for name in names} for row in before[table]]


def with_creator(table: str, link: str, column: str) -> Change:
    """The rows with the first of the users that are linked to them as their creator."""

    def made(before: Contents) -> Iterator[Row]:
        for row in before[table]:
            users = [each["user_id"] for each in before[link] if each[column] == row["id"]]
            points = {"points": row["area"].count(",") + 1} if table == "geofences" else {}
            yield {**row, "creator_id": min(users, default=None), **points}

    return rows(made)


devices_with_creator = with_creator("devices", "user_device", "device_id")

CHANGES: dict[int, dict[str, Change]] = {
    51: {
        "deliveries": lambda before: [*delivered_to_companies(before), *delivered_to_users(before)],
        "receivers": rows(receivers),
        "delivery_attachments": rows(attachments),
        "delivery_attempts": rows(attempts),
        "sequences": rows(sequences_of_deliveries),
        "outbox": gone,
        "outbox_attachments": gone,
        "ticket_messages": gone,
        "ticket_message_attempts": gone,
        "failing_receivers": gone,
        "ticket_webhooks": gone,
    },
    53: {"openid_identities": with_columns("openid_identities", existed=False)},
    56: {"devices": without_empty_texts("devices", "phone", "model", "contact", "category")},
    57: {
        "geofences": with_creator("geofences", "user_geofence", "geofence_id"),
        "drivers": with_creator("drivers", "user_driver", "driver_id"),
        "orders": with_creator("orders", "user_order", "order_id"),
        "maintenance": with_creator("maintenance", "user_maintenance", "maintenance_id"),
        "notifications": with_creator("notifications", "user_notification", "notification_id"),
        "calendars": with_creator("calendars", "user_calendar", "calendar_id"),
        "commands": with_creator("commands", "user_command", "command_id"),
        "groups": with_creator("groups", "user_group", "group_id"),
        "scheduled_commands": with_creator(
            "scheduled_commands", "user_scheduled_command", "scheduled_command_id"
        ),
        "scheduled_reports": with_creator("scheduled_reports", "user_report", "report_id"),
    },
    58: {
        "device_bindings": rows(bindings),
        "differing_logins": empty,
        "homes": with_columns("homes", datagrams=False),
    },
    59: {"encryption_keys": empty, "nodes": with_columns("nodes", encryption_keys=[])},
    60: {
        "devices": devices_with_creator,
        "calendars": with_columns("calendars", cost=0),
        "user_quota_use": rows(used_by_users),
        "device_quota_use": rows(partial(used_by_owners, "device")),
        "group_quota_use": rows(partial(used_by_owners, "group")),
        "quota_locks": empty,
    },
    61: {
        "unmatched_events": with_devices("unmatched_events"),
        "ticket_rule_events": with_devices("ticket_rule_events"),
    },
    62: {"unfinished_firings": empty},
    63: {"driver_assignments": empty, "sequences": with_sequence("driver_assignments_id_seq")},
    64: {
        # The map of a server that is in use stays without streets.
        "settings": lambda _: [
            {"id": 1, "section": "map", "name": "tiles", "value": "none", "secret": None, "version": 1}
        ],
        "installation": with_columns("installation", settings_version=1),
        "sequences": with_sequence("settings_id_seq", 1),
    },
    65: {"events": with_columns("events", severity=None, review=None)},
    66: {"kept_files": empty},
    67: {
        "stills": empty,
        "captures": with_columns("captures", duration=None),
        "sequences": with_sequence("stills_id_seq"),
    },
    68: {"ticket_presences": empty},
    69: {"command_log": empty, "sequences": with_sequence("command_log_id_seq")},
    70: {
        "sessions": with_columns("sessions", view_only=False),
        "users": with_columns("users", last_login=None),
    },
    # Reports work them out anew.
    72: {"report_days": empty},
    74: {"stream_marks": with_columns("stream_marks", node=None)},
    75: {"captures": with_columns("captures", continuation=None)},
    76: {"nodes": with_columns("nodes", roles=["devices", "api", "duties"])},
}
"""Migration -> table -> what the migration makes of it; what is not named stays as it was."""


def after_migrations(before: Contents, steps: int) -> Contents:
    """Return what a database that has `steps` migrations becomes by all others."""
    found = before
    for number in sorted(CHANGES):
        if number > steps:
            made = {table: change(found) for table, change in CHANGES[number].items()}
            found = {table: rows for table, rows in {**found, **made}.items() if rows is not None}
    return found
