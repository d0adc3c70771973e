"""Role by request, over HTTP, against a matrix that was written by hand (docs/users.md,
docs/http-api.md#lists, docs/decisions/0030). What is refused must be told by the audit log as well
(docs/server.md#audit).

The matrix is permission_matrix.txt beside this file; here stands only how its world is made and walked. Where
the code decides about requests alike, one of them is walked: of an operation the first without a login, of
families with one policy the one that `ALIKE` begins with. What the matrix says of the others is compared with
what it says of that one, and what makes them alike is checked.
"""

import ast
import base64
import inspect
import re
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import EverythingChanged
from motorpool.actors.words.record_json import encode
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import Right
from motorpool.api.engine.operations import Operation
from motorpool.api.engine.resource import Resource
from motorpool.api.http.errors import HttpError
from motorpool.api.resources import OPERATIONS
from motorpool.api.resources.helpdesk.company_policy import CompanyPolicy
from motorpool.api.resources.user_rules import show
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.database.tables import Table
from motorpool.storage.devices import commands, devices, driver_assignments, groups
from motorpool.storage.devices.driver_assignments import DriverAssignment
from motorpool.storage.events import events
from motorpool.storage.helpdesk import company_tables, tickets
from motorpool.storage.helpdesk.helpdesk_records import (
    Company,
    Ticket,
    TicketPriority,
    TicketStatus,
)
from motorpool.storage.records import (
    Calendar,
    Command,
    ComputedAttribute,
    Device,
    Driver,
    Event,
    Geofence,
    Group,
    Maintenance,
    Notification,
    Order,
    QueuedCommand,
    Review,
    ScheduledCommand,
    ScheduledReport,
    ScheduledStep,
    ServerSettings,
    User,
)
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import scheduled_commands

MATRIX = (Path(__file__).parent / "permission_matrix.txt").read_text("utf-8")

NOON = datetime.fromisoformat("2026-05-01T12:00:00Z")
SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
PAST = "from=2020-05-01T00:00:00Z&to=2020-05-02T00:00:00Z"
UNKNOWN = 4_711_000
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
EVENINGS = (
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260501T180000Z\n"
    b"DTEND:20260501T200000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR"
)

LINKED = ("own", "chief", "ro", "devro", "limit", "norep")
FIELDS: dict[str, dict[str, Any]] = {
    "own": {},
    "via": {},
    "none": {},
    "boss": {"userLimit": -1},
    "chief": {"userLimit": -1},
    "admin": {"administrator": True},
    "ro": {"readonly": True},
    "devro": {"deviceReadonly": True},
    "limit": {"limitCommands": True},
    "norep": {"disableReports": True},
    "dis": {"disabled": True},
    "exp": {"expirationTime": "2026-04-01T00:00:00Z"},
    "stranger": {},
    "T": {},
}
GUEST = {
    "readonly": True,
    "limitCommands": True,
    "disableReports": True,
    "fixedEmail": True,
    "temporary": True,
}
"""What `own` makes of a guest."""
FORCED = {"forceSettings": True}
SERVER_FLAGS = {
    "s.ro": {"readonly": True, **FORCED},
    "s.dev": {"deviceReadonly": True, **FORCED},
    "s.lim": {"limitCommands": True, **FORCED},
    "s.rep": {"disableReports": True, **FORCED},
    "s.adm": {
        "readonly": True,
        "deviceReadonly": True,
        "limitCommands": True,
        "disableReports": True,
        **FORCED,
    },
}


class Kind(NamedTuple):
    """A family: its rows, and the key that permissions call it by."""

    table: Table[Any]
    key: str
    example: Any
    """Completed by a name that is used once."""
    named: str = "name"
    by_device: bool = True


RESOURCES = {
    each.path: each
    for name, module in sorted(sys.modules.items())
    if name.startswith("motorpool.api.resources.")
    for each in vars(module).values()
    if isinstance(each, Resource)
}
CONFIGURED = {path: each for path, each in RESOURCES.items() if isinstance(each.policy, CompanyPolicy)}
EXAMPLES = {"ticketpriorities": TicketPriority(level=1), "ticketstatuses": TicketStatus(kind="new")}
"""What companies configure and needs more than a name."""
KINDS = {
    "devices": Kind(devices.TABLE, "device", Device(), "unique_id", by_device=False),
    "groups": Kind(groups.TABLE, "group", Group(), by_device=False),
    "geofences": Kind(plain_tables.GEOFENCES, "geofence", Geofence(area="CIRCLE (52.5 13.4, 100)")),
    "drivers": Kind(plain_tables.DRIVERS, "driver", Driver(name="Dora"), "unique_id"),
    "maintenance": Kind(plain_tables.MAINTENANCE, "maintenance", Maintenance(type="totalDistance")),
    "calendars": Kind(
        plain_tables.CALENDARS,
        "calendar",
        Calendar(data=base64.b64encode(EVENINGS).decode()),
        by_device=False,
    ),
    "orders": Kind(plain_tables.ORDERS, "order", Order(), "description"),
    "notifications": Kind(
        plain_tables.NOTIFICATIONS,
        "notification",
        Notification(type="alarm", web=True, notificators="web"),
        "description",
    ),
    "attributes/computed": Kind(
        plain_tables.COMPUTED_ATTRIBUTES,
        "attribute",
        ComputedAttribute(attribute="twice", expression="speed * 2", type="Number"),
        "description",
    ),
    "commands": Kind(
        commands.TABLE, "command", Command(type="custom", attributes={"data": "00"}), "description"
    ),
    "scheduledcommands": Kind(scheduled_commands.TABLE, "scheduledCommand", ScheduledCommand()),
    "reports": Kind(scheduled_reports.TABLE, "report", ScheduledReport(type="trips"), "description"),
    "driverassignments": Kind(
        driver_assignments.TABLE,
        "driverAssignment",
        DriverAssignment(device_id=1, driver_id=1, start_time=NOON, end_time=NOON + timedelta(hours=1)),
        by_device=False,
    ),
    "companies": Kind(company_tables.COMPANIES, "company", Company(), by_device=False),
    **{
        path: Kind(each.policy.table, each.name, EXAMPLES.get(path) or each.shape(), by_device=False)
        for path, each in CONFIGURED.items()
    },
    "tickets": Kind(tickets.TABLE, "ticket", Ticket(status_kind="new"), "subject", by_device=False),
}
PATHS = {f"{kind.key}Id": path for path, kind in KINDS.items()} | {
    "userId": "users",
    "managedUserId": "users",
    "linkedDeviceId": "devices",
    "assigneeId": "users",
}


KEPT = (*(pair.table for pair in links.LINK_TYPES.values()), *(kind.table.name for kind in KINDS.values()))
KEPT += ("users", "server", "positions", "deleted_devices", "queued_commands", "scheduled_command_runs")
KEPT += ("ticket_events", "ticket_pauses", "ticket_breaches")
REMEMBERED = {"users", "devices", "groups", "user_device", "user_group", "user_user"}
"""Tables whose rows the server caches."""
KEEP = """
    create schema kept;
    create table kept.changed (name text);
    create function kept.note() returns trigger language plpgsql as $$
    begin
        insert into kept.changed values (tg_argv[0]);
        return null;
    end
    $$;
    create function kept.restore() returns text language plpgsql as $$
    declare
        found text[] := (select array_agg(distinct c.name) from kept.changed c);
        name text;
        stored text;
    begin
        set local session_replication_role = replica;
        foreach name in array coalesce(found, '{}') loop
            execute format('delete from public.%I', name);
            select string_agg(quote_ident(attname), ', ') into stored from pg_attribute
            where attrelid = format('public.%I', name)::regclass and attnum > 0 and not attisdropped
                and attgenerated = '';
            execute format(
                'insert into public.%1$I (%2$s) overriding system value select %2$s from kept.%1$I',
                name, stored
            );
        end loop;
        delete from kept.changed;
        return coalesce(array_to_string(found, ' '), '');
    end
    $$;
"""
KEEP_TABLE = """
    create table kept.{0} as table public.{0};
    create trigger kept after insert or update or delete on public.{0}
        for each row execute function kept.note('{0}');
"""
"""Remembers tables as they are, and which of them a request changed, which `kept.restore` undoes.

By rows: actors that look for what is wrong run statements at any time, which change none. A row of a
partition counts for its table.
"""


@dataclass
class World:
    """What the head of the matrix describes."""

    served: Any
    database: Any
    clients: dict[str, Any] = field(default_factory=dict)
    ids: dict[tuple[str, str], int] = field(default_factory=dict)
    names: int = 0

    async def build(self) -> None:
        await self._people()
        for path, kind in KINDS.items():
            for letter in "MAOT" if path != "groups" else "MAOTPC":
                self.ids[path, letter] = (await kind.table.insert(self.database, self.new(path, letter))).id
                if hasattr(kind.example, "company_id") or path == "driverassignments":
                    # Visible to the users of the company, or of device and driver, of the same letter.
                    continue
                linked = {"A": ("own",), "O": ("stranger",), "P": ("via",), "C": ()}.get(letter, LINKED)
                for role in linked:
                    await self.link("userId", role, f"{kind.key}Id", letter)
        for letter in "MAOT":
            await scheduled_commands.set_owner(
                self.database, self.ids["scheduledcommands", letter], self.ids["users", "own"], NOON
            )
        await self._staff()
        await self._nest()
        for kind in KINDS.values():
            if kind.by_device:
                await self.link("deviceId", "M", f"{kind.key}Id", "M")
                await self.link("deviceId", "M", f"{kind.key}Id", "O")
                await self.link("groupId", "M", f"{kind.key}Id", "M")
        await self.link("deviceId", "M", "linkedDeviceId", "A")
        await self.link("deviceId", "M", "linkedDeviceId", "O")
        await publish_changes(self.served.context.system, EverythingChanged())
        for letter in "MAO":
            await self._travel(letter)
        for letter, role in (("M", "own"), ("O", "stranger")):
            waiting = QueuedCommand(device_id=self.ids["devices", letter], type="custom")
            sender = self.ids["users", role]
            self.ids["queue", letter] = (await commands.enqueue(self.database, waiting, user_id=sender)).id
        await self._share()
        await self.database.execute(KEEP)
        await self.database.execute("".join(KEEP_TABLE.format(name) for name in KEPT))

    async def _people(self) -> None:
        for role, fields in FIELDS.items():
            body = {
                "name": role,
                "email": f"{role}@example.com",
                "password": role,
                "deviceLimit": -1,
                **fields,
            }
            made = await self.served.admin.post("/users", json=body)
            assert made.status == 200, made.text
            self.ids["users", role] = made.json()["id"]
            word = base64.b64encode(f"{role}@example.com:{role}".encode()).decode()
            self.clients[role] = self.served.client({"Authorization": f"Basic {word}"})
        self.clients["anon"] = self.served.client()
        for manager in ("boss", "chief"):
            await self.link("userId", manager, "managedUserId", "own")
            await self.link("userId", manager, "managedUserId", "T")

    async def _staff(self) -> None:
        """own created the company A; devro is a member of the team M. M has a webhook that is not reached."""
        created = "update user_company set manager = true where company_id = $1"
        await self.database.execute(created, self.ids["companies", "A"])
        await self.link("userId", "devro", "teamId", "M")
        await self.database.execute("update companies set last_ticket_number = 2")
        await self.database.execute(
            "update companies set attributes = $2 where id = $1",
            self.ids["companies", "M"],
            {"ticketWebhook": {"url": "https://127.0.0.1:8443/", "secret": "a secret of the world"}},
        )

    async def _nest(self) -> None:
        """Group C below P, the devices M and T in C."""
        child = await groups.TABLE.fetch(self.database, self.ids["groups", "C"])
        await groups.TABLE.update(
            self.database, msgspec.structs.replace(child, group_id=self.ids["groups", "P"])
        )
        for letter in "MT":
            device = await devices.TABLE.fetch(self.database, self.ids["devices", letter])
            await devices.TABLE.update(self.database, msgspec.structs.replace(device, group_id=child.id))

    async def _travel(self, letter: str) -> None:
        """A latest position and an event; M was elsewhere before."""
        device_id = self.ids["devices", letter]
        if letter == "M":
            early = self.served.position(device_id, NOON - timedelta(days=2))
            (stored,) = await self.served.report(early)
            self.ids["positions", "T"] = stored.id
        (stored,) = await self.served.report(self.served.position(device_id))
        self.ids["positions", letter] = stored.id
        event = Event(type="alarm", event_time=NOON, device_id=device_id, review=Review())
        await events.assign_ids(self.database, [event])
        await events.insert_many(self.database, [event])
        self.ids["events", letter] = event.id

    async def _share(self) -> None:
        form = {"deviceId": str(self.ids["devices", "M"]), "expiration": "2026-05-03T00:00:00Z"}
        token = await self.clients["own"].post("/share/device", form=form)
        assert token.status == 200, token.text
        self.clients["guest"] = self.served.client({"Authorization": f"Bearer {token.text}"})
        self.ids["users", "guest"] = (await self.clients["guest"].get("/session")).json()["id"]
        self.ids["users", "root"] = self.served.admin_id

    async def link(self, owner_key: str, owner: str, key: str, owned: str) -> None:
        owner_id, owned_id = self.find(PATHS[owner_key], owner), self.find(PATHS[key], owned)
        await links.add(self.database, links.LINK_TYPES[owner_key, key], owner_id, owned_id)

    def new(self, path: str, name: str) -> Any:
        """A record of a family; unless it is one of the world's own, under a name used once."""
        kind = KINDS[path]
        if name == "N":
            self.names += 1
            name = f"N{self.names}"
        named = {"name": name} if hasattr(kind.example, "name") else {}
        if hasattr(kind.example, "company_id"):
            company = name if name in "MAO" or (name == "T" and path != "tickets") else "M"
            named["company_id"] = self.ids["companies", company]
        if path == "tickets":
            named["status_id"] = self.ids["ticketstatuses", company]
            named["number"] = 2 if name == "T" else 1
        if path == "driverassignments":
            # Each has a day of its own, since those of a device do not overlap.
            letter = name if name in "MAOT" else "M"
            spans = [timedelta(days=self.names), timedelta(days=self.names, hours=1)]
            start, end = (NOON + each for each in spans)
            found = {"device_id": self.ids["devices", letter], "driver_id": self.ids["drivers", letter]}
            return msgspec.structs.replace(kind.example, start_time=start, end_time=end, **found)
        if path == "reports":
            named["calendar_id"] = self.ids["calendars", "M"]
        if path == "scheduledcommands":
            named["calendar_id"] = self.ids["calendars", "M"]
            named["on_start"] = [ScheduledStep(self.ids["commands", "M"])]
        return msgspec.structs.replace(kind.example, **{**named, kind.named: name})

    def find(self, path: str, word: str, role: str = "") -> int:
        """The id of an object by its letter, or of a user by his role."""
        if path == "users" and word == "self":
            word = "own" if role == "anon" else self.who(role)
        if word == "9":
            return UNKNOWN
        return self.ids[path, word] if (path, word) in self.ids else int(word)

    def who(self, role: str) -> str:
        return {"s.adm": "admin"}.get(role, "own") if role in SERVER_FLAGS else role

    async def set_flags(self, **flags: bool) -> None:
        """Change the server's settings as an administrator does, for good."""
        usual = dict.fromkeys(("readonly", "deviceReadonly", "limitCommands", "disableReports"), False)
        settings = {**(await self.served.admin.get("/server")).json(), **usual, **flags}
        assert (await self.served.admin.put("/server", json=settings)).status == 200
        await self.database.execute("delete from kept.server")
        await self.database.execute("insert into kept.server table public.server")
        await self.database.execute("delete from kept.changed")

    async def restore(self) -> set[str]:
        """Undo what a request did; the names of the tables that it changed."""
        changed = set((await self.database.fetch_value("select kept.restore()")).split())
        if REMEMBERED & changed:
            await publish_changes(self.served.context.system, EverythingChanged())
        return changed


class Step(NamedTuple):
    """A row of the matrix: a request, and what each role gets."""

    family: str
    block: str
    request: str
    cells: dict[str, str]


def steps() -> Iterator[Step]:
    roles: list[str] = []
    block = ""
    for line in MATRIX.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("["):
            block = line.strip("[] ")
        elif line.startswith("= "):
            continue
        elif "|" not in line:
            roles = line.split()
        else:
            request, _, cells = line.partition("|")
            assert len(cells.split()) == len(roles), line
            wanted = dict(zip(roles, cells.split(), strict=True))
            for family in block.split():
                yield Step(family, block, request.strip().replace("/*", f"/{family}"), wanted)


STEPS = tuple(steps())
NOBODY = ("anon", "dis", "exp")
"""Who is not let in."""
ALIKE = {
    "drivers": ("geofences", "maintenance"),
    "orders": ("calendars",),
    "branches": ("teams", "ticketcategories", "ticketpriorities", "ticketstatuses"),
}
"""Families with one policy: that which is walked, and those for which it stands in rows that name both."""
STANDS_IN = {other: first for first, others in ALIKE.items() for other in others}
AFTERWARDS = {
    *("read", "validate", "required", "max_length", "warning", "show", "after_commit", "windows"),
    *("privileged", "audited", "audited_attributes", "max_rows", "insert", "update", "delete"),
}
"""What policies say of what is sent, and of what follows once it is decided that it may be done."""


@cache
def operation_of(request: str) -> Operation | None:
    """The operation that a request is for; of several the one that says most of it. None for a file."""
    method, path, *_ = request.partition("?")[0].split()
    return max(
        (
            each
            for each in OPERATIONS
            if each.method == method
            and re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(each.plain_path)), path)
        ),
        key=lambda each: len(re.sub(r"\{\w+\}", "", each.plain_path)),
        default=None,
    )


def walked() -> Iterator[Step]:
    """The rows that are walked, each with the cells that are."""
    begun = set()
    for step in STEPS:
        if STANDS_IN.get(step.family) not in step.block.split():
            operation = operation_of(step.request)
            left = NOBODY if id(operation) in begun and operation is not None and not operation.public else ()
            begun.add(id(operation))
            yield step._replace(cells={role: cell for role, cell in step.cells.items() if role not in left})


WALKED = tuple(walked())


async def ask(world: World, role: str, request: str) -> Any:
    """Send a request of the matrix as somebody."""
    method, _, rest = request.partition(" ")
    path, _, words = rest.partition(" ")
    if path.endswith(("/owns", "/shared")):
        await world.database.execute(CREDENTIALS, world.ids["users", "own"], world.ids["users", "T"])
    if "reporter=" in words:
        await _prepare_ticket(world, role, _pairs(words))
    place, _, query = path.partition("?")
    kind, place, target = _place(world, role, place)
    query = "&".join(_parameter(world, role, kind, each) for each in query.split("&") if each)
    sent = await _sent(world, role, method, kind, target, words, place)
    client = world.clients[world.who(role)]
    return await client.call(method, f"/api{place}{'?' * bool(query)}{query}", **sent)


def _pairs(words: str) -> dict[str, str]:
    """What is special about a request, by name."""
    return dict(pair.split("=") for pair in words.split(",") if "=" in pair)


FROM, TO = 7001, 7002
"""Statuses of the company M that a request moves its ticket between."""
PREPARED = {"ticket_statuses", "tickets"}


async def _prepare_ticket(world: World, role: str, pairs: dict[str, str]) -> None:
    """Have the ticket M be reported by somebody, and in a status of the kind `from`."""
    await world.database.execute(
        "insert into ticket_statuses (id, company_id, name, kind) overriding system value"
        " select * from unnest($1::bigint[], $2::bigint[], $3::text[], $3::text[]) on conflict do nothing",
        [FROM, TO],
        [world.ids["companies", "M"]] * 2,
        [pairs["from"], pairs["to"]],
    )
    await world.database.execute(
        "update tickets set reporter_id = $2, status_id = $3, status_kind = $4,"
        " resolved_at = case when $4 in ('resolved', 'closed') then created_at end where id = $1",
        world.ids["tickets", "M"],
        world.find("users", pairs["reporter"], role),
        FROM,
        pairs["from"],
    )


CREDENTIALS = """
    with gone as (delete from revoked_tokens where id = 'owns'),
    begun as (
        insert into sessions (id, user_id, created, last_used, expires)
        values ('owns', $1, now(), now(), '2100-01-01') on conflict do nothing
    )
    insert into tokens (id, purpose, user_id, issuer_id, issued, expires)
    values ('owns', 'session', $1, null, now(), '2100-01-01'),
        ('shared', 'share', $2, $1, now(), '2100-01-01')
    on conflict do nothing
"""
"""A session, a token and a share link of own's."""


def _place(world: World, role: str, place: str) -> tuple[str, str, int]:
    """Which family a path is of, the path with ids in place of letters, and the id."""
    kind = next((of for of in (*KINDS, "users", "positions", "events") if place[1:].startswith(of)), "")
    prefixes = {
        kind: kind,
        "commands/queue": "queue",
        "stream": "devices",
        "recordings": "devices",
        "session": "users",
    }
    for prefix, of in prefixes.items():
        found = re.fullmatch(rf"/{prefix}/(\w+)(/.*)?", place)
        if prefix and found and (found[1] in {"9", "self"} or (of, found[1]) in world.ids):
            target = world.find(of, found[1], role)
            return kind, f"/{prefix}/{target}{_with_member(world, role, found[2] or '')}", target
    return kind, place, 0


def _with_member(world: World, role: str, rest: str) -> str:
    """What follows the id of a team, with the id of the user."""
    return re.sub(r"(?<=^/members/)\w+", lambda word: str(world.find("users", word[0], role)), rest)


def _parameter(world: World, role: str, kind: str, each: str) -> str:
    name, _, word = each.partition("=")
    of = {"id": kind, **PATHS}.get(name)
    return f"{name}={world.find(of, word, role)}" if of else {"SPAN": SPAN, "PAST": PAST}.get(each, each)


async def _sent(
    world: World, role: str, method: str, kind: str, target: int, words: str, place: str
) -> dict[str, Any]:
    """What goes with a request; `words` say what is special about it."""
    pairs = _pairs(words)
    ids = {key: world.find(PATHS[key], word, role) for key, word in pairs.items() if key in PATHS}
    if place.startswith("/permissions") and method != "GET":
        return {"json": [ids] if place.endswith("/bulk") else ids}
    if place.startswith("/share"):
        return {"form": {**{key: str(of) for key, of in ids.items()}, "expiration": "2026-05-02T00:00:00Z"}}
    if place == "/session/token/revoke":
        return {"form": {"token": (await world.clients["own"].post("/session/token")).text}}
    if place == "/commands/send" and method == "POST":
        saved = {"id": world.find("commands", pairs["id"])} if "id" in pairs else {}
        return {"json": {"type": "custom", "attributes": {"data": "00"}, **saved, **ids}}
    if place.endswith(("/image", "/stills")):
        return {"data": PNG, "headers": {"Content-Type": "image/png"}}
    if place == "/devices/import":
        return {"data": b"uniqueId", "headers": {"Content-Type": "text/csv"}}
    if place.startswith("/server/file"):
        return {"data": b"x", "headers": {"Content-Type": "application/octet-stream"}}
    if place == "/footagerequests" and method == "POST":
        span = {"startTime": "2026-05-01T08:00:00Z", "endTime": "2026-05-01T09:00:00Z"}
        return {"json": {"channel": 1, **span, **ids}}
    if place == "/calendars/windows":
        return {"json": {"data": base64.b64encode(EVENINGS).decode()}}
    if place in {"/notifications/preview", "/notifications/trial"}:
        return {"json": {"type": "alarm", "always": True, "notificators": "web"}}
    if place.endswith("/ticketrules/trial"):
        return {"json": {"when": {"eventTypes": ["alarm"]}}}
    if place.endswith("/accumulators"):
        return {"json": {"deviceId": target, "hours": 1}}
    if place.endswith("/review"):
        return {"json": {"state": "ACKNOWLEDGED"}}
    if place.endswith("/presence"):
        return {"json": {"state": "VIEWING"}}
    if place.endswith("/binding") and method == "PUT":
        return {"json": {"protocol": "jt808"}}
    if place.endswith("/messages/explain"):
        return {"json": {"protocol": "gt06", "data": "00"}}
    if place.startswith("/notifications/send"):
        return {"json": {"body": "hello"}}
    if place == "/attributes/computed/test":
        return {"data": encode(KINDS[kind].example)}
    if kind == "tickets" and method in {"POST", "PUT"} and not place.startswith("/tickets/defaults"):
        changes = {name: _value(word) for name, word in pairs.items()} | ids
        if "to" in pairs:
            changes = {"statusId": TO}
        if "excused" in pairs:
            changes |= {"attributes": {"slaExcused": [pairs["excused"]]}}
        return {"json": {**_of_ticket(world, target, place), **changes}}
    if place == "/server/settings":
        return {"json": {"map": {"attribution": "walked"}}}
    if place == "/server" and method == "PUT":
        return {"json": (await world.served.admin.get("/server")).json()}
    if kind not in {*KINDS, "users"} or method not in {"POST", "PUT"}:
        return {}
    changes = {name: _value(word) for name, word in pairs.items()} | ids
    return {"json": {**await _record(world, kind, target), **changes}}


def _of_ticket(world: World, target: int, place: str) -> dict[str, Any]:
    """The body of a request about a ticket."""
    letters = {number: word for (of, word), number in world.ids.items() if of == "tickets"}
    letter = letters.get(target, "M")
    bodies = {
        "comments": {"text": "Hello"},
        "transition": {"statusId": world.ids["ticketstatuses", letter if letter != "T" else "M"]},
        "assign": {"assigneeId": 0},
    }
    return bodies.get(place.rpartition("/")[2], {"subject": "Broken again"})


def _value(word: str) -> Any:
    """What a word of the matrix is in JSON."""
    if word == "termsAccepted":
        return {"termsAccepted": True}
    return {"true": True, "false": False}.get(word, int(word) if word.isdecimal() else word)


async def _record(world: World, kind: str, target: int) -> dict[str, Any]:
    """The record as a client has it: what is stored, or a new one."""
    if kind == "users":
        found = await users.TABLE.fetch(world.database, target)
        new = {"name": "New", "email": "new@example.org", "password": "new"}
        return new if found is None else dict(msgspec.json.decode(encode(show(found))))
    record = await KINDS[kind].table.fetch(world.database, target) or world.new(kind, "N")
    return dict(msgspec.json.decode(encode(msgspec.structs.replace(record, id=target))))


def listed(world: World, request: str, found: Any) -> set[str]:
    """The letters, or the roles, of what a list holds."""
    path = request.split()[1].partition("?")[0].removeprefix("/")
    kind = {"commands/send": "commands", "commands/queue": "queue"}.get(path, path)
    if kind == "positions" or kind.startswith("reports/"):
        numbers, kind = {each["deviceId"] for each in found}, "devices"
    else:
        numbers = {each["id"] for each in found}
    names = {number: word for (of, word), number in world.ids.items() if of == kind}
    return {names.get(number, f"id {number}") for number in numbers}


def is_refusal(step: Step, role: str) -> bool:
    """Whether somebody is refused what an administrator may do: not for the form of the request."""
    refused = {"400", "401", "403", "404"}
    return (
        role not in NOBODY
        and step.cells[role] in refused
        and step.cells["admin"] not in {*refused, "500", "."}
    )


def refusals(world: World, step: Step, role: str) -> int:
    """How often somebody was refused the operation, by what is counted for the audit log."""
    operation = operation_of(step.request)
    name = f"{operation.method} {operation.plain_path}" if operation is not None else ""
    counts = world.served.context.limits.refusals._counts
    return int(counts.get((world.find("users", "self", role), name), 0))


async def look(world: World, step: Step, role: str, wanted: str) -> str:
    """Walk one cell; what is wrong about the answer, if anything."""
    before = refusals(world, step, role) if role not in NOBODY else 0
    answer = await ask(world, role, step.request)
    if wanted.isdecimal():
        if answer.status != int(wanted):
            return f"{answer.status} in place of {wanted}: {answer.text[:80]}"
        # What others must send besides is no refusal: a company, their password.
        if is_refusal(step, role) and ": needed" not in answer.text:
            told = refusals(world, step, role) > before
            return "" if told else f"not audited: {answer.text[:80]}"
        return ""
    if answer.status != 200:
        return f"{answer.status} in place of {wanted}: {answer.text[:80]}"
    found = listed(world, step.request, answer.json())
    if wanted == "all":
        expected = {word for path, word in world.ids if path == "users"}
    else:
        expected = set(wanted.split("+")) if step.block == "users" else set(wanted)
    # T is like M wherever there is one.
    if step.block != "users" and "M" in found:
        found.discard("T")
    return "" if found == expected - {"-"} else f"{sorted(found)} in place of {wanted}"


async def walk(world: World, step: Step, cells: Mapping[str, str]) -> list[str]:
    """Walk cells of a row, those first that are refused: together they must change nothing."""
    changes = not step.request.startswith("GET /")
    refused = {role: wanted for role, wanted in cells.items() if wanted.isdecimal() and int(wanted) >= 400}
    wrong = [
        f"{step.request}, {role}: {complaint}"
        for role, wanted in refused.items()
        if (complaint := await look(world, step, role, wanted))
    ]
    if changes and refused and (changed := await world.restore() - _prepared(step)):
        wrong.append(f"{step.request}: refused to {' '.join(refused)}, but changed {sorted(changed)}")
    for role, wanted in cells.items():
        if role not in refused:
            complaint = await look(world, step, role, wanted)
            wrong += [f"{step.request}, {role}: {complaint}"] if complaint else []
            if changes:
                await world.restore()
    return wrong


def _prepared(step: Step) -> set[str]:
    """Tables that are changed for a request; what changes a ticket enters it into the history as well."""
    return PREPARED if "reporter=" in step.request else set()


@pytest.fixture
async def world(served: Any, database: Any) -> AsyncIterator[World]:
    made = World(served, database)
    await made.build()
    yield made
    await database.execute("drop schema kept cascade")


# Of a walk that takes 20 s where it is alone.
@pytest.mark.timeout(900)
async def test_everybody_may_do_what_the_matrix_says_and_no_more(world):
    wrong = []
    for flags in (None, *SERVER_FLAGS):
        if flags:
            await world.set_flags(**SERVER_FLAGS[flags])
        for step in WALKED:
            cells = {
                role: wanted
                for role, wanted in step.cells.items()
                if wanted != "." and (role == flags if flags else role not in SERVER_FLAGS)
            }
            wrong += await walk(world, step, cells)
    assert not wrong, "\n".join(wrong)
    assert not await world.restore()


def test_without_a_login_no_request_of_an_operation_differs_from_another():
    """Who sends a request is found out before it is read, so that one of each operation is walked."""
    for step in STEPS:
        operation = operation_of(step.request)
        if operation is not None and not operation.public:
            assert {step.cells[role] for role in NOBODY} <= {"401", "."}, step.request


def test_families_that_are_not_walked_are_decided_as_one_that_is():
    for first, others in ALIKE.items():
        for other in others:
            assert list(rules_of(other)) == list(rules_of(first)), other


def rules_of(path: str) -> Iterator[Any]:
    """What decides about the requests to a family: right, parameters, and how each method begins."""
    resource = RESOURCES[path]
    yield (
        resource.change_right,
        resource.list_parameters & {"all", "user_id", "device_id", "group_id", "company_id"},
        resource.public_create,
        resource.policy.distinguishes_missing,
    )
    classes = [kind for kind in type(resource.policy).__mro__ if kind.__module__.startswith("motorpool")]
    shared = next(kind for kind in classes if kind.__name__.endswith(("edPolicy", "CompanyPolicy")))
    for name in sorted({name for kind in shared.__mro__ for name in vars(kind)} - AFTERWARDS):
        if inspect.isfunction(getattr(shared, name)) and not name.startswith("__"):
            # An own method may add to what the shared one demands, and begins with that.
            of = next(kind for kind in classes if name in vars(kind) and not goes_on(vars(kind)[name]))
            yield name, of
    for name, value in vars(resource.policy).items():
        if isinstance(value, bool) or value is None or isinstance(value, links.LinkType):
            yield name, bool(value)


def goes_on(method: Any) -> bool:
    """Whether a method calls that of the class above, whatever comes of what it does before."""
    function = ast.parse(textwrap.dedent(inspect.getsource(method))).body[0]
    assert isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef)
    awaited = "await " if isinstance(function, ast.AsyncFunctionDef) else ""
    for statement in function.body:
        is_plain = isinstance(statement, ast.Assign | ast.Expr | ast.Return)
        if is_plain and f"{awaited}super().{method.__name__}(" in ast.unparse(statement):
            return True
        if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
            return False
    return False


DECIDED_BY_LINKS = {*CONFIGURED, "reports", "scheduledcommands", "driverassignments"}
"""Of who creates one it is asked besides what they are in the company, or whether they see what it names."""


def test_whom_the_matrix_lets_change_something_has_the_right_to():
    """The table of rights, without HTTP, for all resources; that of users is by field."""
    seen = set()
    for step in STEPS:
        method, path, *words = step.request.partition("?")[0].split()
        family = path[1:] if method == "POST" else path[1:].rpartition("/")[0]
        if method == "GET" or family not in RESOURCES or family == "users":
            continue
        seen.add((family, method))
        for role in step.cells.keys() - {*NOBODY}:
            permitted = has_right(RESOURCES[family].change_right, role)
            if step.cells[role].startswith("2"):
                assert permitted, f"{step.request}, {role}"
            elif method == "POST" and not words and family not in DECIDED_BY_LINKS:
                assert not permitted, f"{step.request}, {role}"
    methods = ("POST", "PUT", "DELETE")
    assert seen == {(family, method) for family in RESOURCES.keys() - {"users"} for method in methods}


def has_right(right: Right, role: str) -> bool:
    """Whether somebody has a right by their role and restrictions, and those of the server."""
    told = {"s.adm": FIELDS["admin"], "guest": GUEST, **FIELDS}.get(role, FIELDS["own"])
    user = User(email="a@example.org", **{_snake(name): value for name, value in told.items()})
    server = ServerSettings(**{_snake(name): value for name, value in SERVER_FLAGS.get(role, {}).items()})
    try:
        right.require(Caller(user=user, server=server))
    except HttpError:
        return False
    return True


def _snake(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


ELSEWHERE = {
    "POST /session": "credentials are the question, not rights",
    "POST /password/reset": "open to all, and counted",
    "POST /password/update": "open to who has the mailed token",
    "POST /session/token/login": "open to who has the token",
    "GET /session/openid/auth": "open to all",
    "POST /session/openid/auth": "open to all",
    "GET /session/openid/callback": "open to all",
}


def test_the_matrix_forgets_no_operation():
    named = {id(operation_of(step.request)) for step in STEPS}
    forgotten = [f"{each.method} {each.plain_path}" for each in OPERATIONS if id(each) not in named]
    assert sorted(forgotten) == sorted(ELSEWHERE)
