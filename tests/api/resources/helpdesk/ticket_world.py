"""A helpdesk with tickets of random lives, written by SQL, and a slow model of lists and statistics of it.

The model reads the rows of the world, and shares nothing with the code that it checks.
"""

import random
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

Row = dict[str, Any]

LIVE = ("new", "open", "pending")
KINDS = (*LIVE, "resolved", "closed", "cancelled")
TARGETS = {"firstResponse": "first_response", "resolution": "resolution"}
ZONES = ("North", "South", None)
WORDS = ("Engine", "battery 100%", "SIM_card", "back\\slash", "Motor läuft", "door", "no signal", "see #7")
TAGS = ("urgent", "garage", "Süd", "a b")
SECONDS = (0, 59, 60, 90, 150, 400, 4000)
MILLISECOND = timedelta(milliseconds=1)
TABLES = (
    "companies",
    "branches",
    "teams",
    "user_team",
    "user_company",
    "contacts",
    "ticket_priorities",
    "ticket_statuses",
    "ticket_categories",
    "devices",
    "tickets",
    "ticket_events",
    "ticket_pauses",
    "ticket_breaches",
)


class TicketWorld:
    """Rows by table, as they are stored; companies 1 to 3, of which each has the same kinds of records."""

    def __init__(self, seed: int, now: datetime, users: Iterable[int], tickets: int) -> None:
        self.now = now
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self.random = random.Random(seed)
        self.users = list(users)
        """Whom tickets are assigned to; links and memberships are random."""
        self._configure()
        for number in range(1, tickets + 1):
            self._open_ticket(number)

    def __getitem__(self, table: str) -> list[Row]:
        return self.rows[table]

    def add(self, table: str, **row: Any) -> Row:
        self.rows[table].append(row)
        return row

    def find(self, table: str, row_id: int | None) -> Row | None:
        return next((row for row in self.rows[table] if row["id"] == row_id), None)

    async def store(self, database: Any) -> None:
        for table, rows in self.rows.items():
            if rows:
                names = ", ".join(rows[0])
                await database.execute(
                    f"insert into {table} ({names}) select {names}"
                    f" from jsonb_populate_recordset(null::{table}, $1::jsonb)",
                    [{name: _to_json(value) for name, value in row.items()} for row in rows],
                )

    def _configure(self) -> None:
        chance = self.random
        for company in (1, 2, 3):
            self.add("companies", id=company, name=f"Company {company}", version=1, unique_id="", **_PLAIN)
            for index in range(4):
                row_id = company * 100 + index
                zone = ZONES[index % 3]
                self._configured("branches", row_id, company, attributes={"zone": zone} if zone else {})
                self._configured("teams", row_id, company, disabled=index == 3, attributes={})
                self._configured("contacts", row_id, company, name=f"{WORDS[index]} & son", attributes={})
                self.add(
                    "ticket_priorities",
                    **_named(row_id, company),
                    level=chance.randint(1, 3),
                    first_response_minutes=0,
                    resolution_minutes=0,
                )
                self.add(
                    "ticket_categories",
                    **_named(row_id, company),
                    parent_id=None if index in (0, 3) else row_id - 1,
                )
                for user in self.users:
                    if chance.random() < 0.5:
                        self.add("user_team", user_id=user, team_id=row_id)
            for index, kind in enumerate((*KINDS, "open", "closed")):
                self.add(
                    "ticket_statuses",
                    **_named(company * 100 + index, company),
                    kind=kind,
                    sort_order=index,
                )
            for user in self.users:
                if chance.random() < 0.6:
                    self.add("user_company", user_id=user, company_id=company, manager=False)
        for index in range(4):
            self.add("devices", id=index + 1, name=f"d{index}", unique_id=f"d{index}", attributes={})

    def _configured(self, table: str, row_id: int, company: int, **fields: Any) -> None:
        named = {**_named(row_id, company), "unique_id": "", **fields}
        if table == "contacts":
            named |= {"email": "", "phone": "", "language": "", "timezone": ""}
        self.add(table, **named)

    def _instant(self) -> datetime:
        """Random, but often at an edge: a midnight, an age of the backlog, the edge of the usual span."""
        chance = self.random
        edge = chance.random()
        if edge < 0.1:
            return (
                self.now
                - timedelta(days=chance.choice((1, 3, 7, 14, 30)))
                + chance.choice((-1, 0, 1)) * (MILLISECOND)
            )
        if edge < 0.2:
            zone = chance.choice((UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Africa/Cairo")))
            day = (self.now - timedelta(days=chance.randint(0, 60))).astimezone(zone)
            midnight = day.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
            return min(midnight + chance.choice((-1, 0)) * MILLISECOND, self.now)
        return self.now - timedelta(milliseconds=chance.randint(0, 60 * 86_400_000))

    def _between(self, start: datetime, end: datetime) -> datetime:
        span = (end - start) // MILLISECOND
        return start + self.random.randint(0, span) * MILLISECOND

    def _open_ticket(self, ticket_id: int) -> None:
        chance = self.random
        company = chance.choice((1, 1, 2, 3))

        def some(table: str, none: float = 0.2) -> int | None:
            own = [row["id"] for row in self.rows[table] if row["company_id"] == company]
            return None if chance.random() < none else chance.choice(own)

        created = self._instant()
        statuses = [row for row in self.rows["ticket_statuses"] if row["company_id"] == company]
        status = chance.choice(statuses[:2]) if chance.random() < 0.9 else chance.choice(statuses)
        moves = sorted(self._between(created, self.now) for _ in range(chance.choice((0, 0, 1, 2, 3, 5))))
        resolved = created if status["kind"] in ("resolved", "closed") else None
        escalated = self._between(created, self.now) if chance.random() < 0.2 else None
        history = []
        for at in moves:
            following = chance.choice(statuses)
            history.append((at, status["kind"], following["kind"]))
            if following["kind"] in LIVE:
                resolved = None
            elif following["kind"] in ("resolved", "closed"):
                resolved = resolved or at
            status = following
        number = ticket_id * 2
        row = self.add(
            "tickets",
            id=ticket_id,
            company_id=company,
            number=number,
            unique_id=f"X-{ticket_id}" if chance.random() < 0.5 else "",
            branch_id=some("branches"),
            contact_id=some("contacts"),
            device_id=chance.choice((None, 1, 2, 3)),
            category_id=some("ticket_categories"),
            priority_id=some("ticket_priorities"),
            status_id=status["id"],
            status_kind=status["kind"],
            team_id=some("teams", 0.3),
            assignee_id=chance.choice((None, *self.users)),
            reporter_id=chance.choice((None, *self.users)),
            channel="api",
            event_id=chance.choice((0, 0, 5, 6)),
            position_id=0,
            maintenance_id=0,
            geofence_id=0,
            parent_id=chance.choice((None, None, max(1, ticket_id - 1))),
            subject=f"{chance.choice(WORDS)} {ticket_id}",
            description=chance.choice(("", *WORDS)).upper(),
            created_at=created,
            updated_at=self._between(created, self.now),
            status_changed_at=created,
            resolved_at=resolved,
            escalated_at=escalated,
            sla_paused=status["kind"] == "pending",
            reopen_count=0,
            comment_count=0,
            attributes=self._attributes(),
            version=1,
            clock_failures=0,
            message_sequence=0,
        )
        for at, before, after in history:
            self._enter(row, "statusChanged", at, {"fromKind": before, "toKind": after})
            if before not in LIVE and after in LIVE:
                self._enter(row, "reopened", at, {})
        for target, name in TARGETS.items():
            self._decide(row, target, name, moves)
        pauses = random.Random(ticket_id)
        for reason in pauses.sample(("outsideZone", "pending"), pauses.randint(0, 2)):
            self.add(
                "ticket_pauses",
                company_id=company,
                ticket_id=ticket_id,
                begins=created,
                ends=pauses.choice((None, self.now)),
                status_id=0,
                reason=reason,
            )

    def _attributes(self) -> Row:
        chance = self.random
        found: Row = {}
        if chance.random() < 0.6:
            found["tags"] = chance.sample(TAGS, chance.randint(0, 2))
        if chance.random() < 0.2:
            found["slaExcused"] = chance.sample(list(TARGETS), chance.randint(0, 2))
        return found

    def _enter(self, ticket: Row, kind: str, at: datetime, attributes: Row) -> None:
        self.add(
            "ticket_events",
            id=len(self.rows["ticket_events"]) + 1,
            company_id=ticket["company_id"],
            ticket_id=ticket["id"],
            event_time=at,
            created_at=at,
            type=kind,
            actor="user",
            user_id=self.random.choice(self.users),
            contact_id=0,
            field="",
            text="",
            internal=False,
            version=1,
            attributes=attributes,
        )

    def _decide(self, ticket: Row, target: str, name: str, moves: list[datetime]) -> None:
        chance = self.random
        created = ticket["created_at"]
        verdict = chance.choice((None, "met", "breached"))
        breached = verdict == "breached" or (verdict == "met" and chance.random() < 0.1)
        due = created + timedelta(minutes=chance.randint(0, 60 * 24 * 70))
        if chance.random() < 0.2:
            due = self.now + chance.choice((0, 1, 59, 60, 61)) * timedelta(minutes=1)
        decided = min(due, self.now)
        if name == "first_response":
            done = self._between(created, self.now) if chance.random() < 0.5 else None
            ticket["first_response_at"] = done
        else:
            done = ticket["resolved_at"]
        known = done is not None and chance.random() < 0.9
        ticket |= {
            f"{name}_due": due if chance.random() < 0.8 else None,
            f"{name}_breached": breached,
            f"{name}_credit": 0,
            f"{name}_target": 60 if verdict else 0,
            f"{name}_verdict": verdict,
            f"{name}_decided_at": decided if verdict else None,
            # Few values, so that there are ties.
            f"{name}_elapsed": timedelta(seconds=chance.choice((0, 59, 60, 90, 150, 400, 4000)))
            if known
            else None,
            f"{name}_warned": False,
        }
        if breached:
            self.add(
                "ticket_breaches",
                ticket_id=ticket["id"],
                company_id=ticket["company_id"],
                target=target,
                due=decided,
                detected_at=decided,
            )


_PLAIN: Row = {"disabled": False, "attributes": {}}


def _named(row_id: int, company: int) -> Row:
    return {"id": row_id, "company_id": company, "name": f"No {row_id}", "version": 1, **_PLAIN}


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return f"{value.total_seconds()} seconds" if isinstance(value, timedelta) else value


# The model of lists.


def undecided_due(ticket: Row, target: str) -> datetime | None:
    name = TARGETS[target]
    is_done = name == "first_response" and ticket["first_response_at"] is not None
    if ticket["status_kind"] not in LIVE or ticket[f"{name}_breached"] or is_done:
        return None
    return ticket[f"{name}_due"]


def zone_of(world: TicketWorld, ticket: Row) -> str:
    branch = world.find("branches", ticket["branch_id"])
    return branch["attributes"].get("zone", "") if branch else ""


def _below(world: TicketWorld, category: int | None, tops: list[int]) -> bool:
    while category is not None:
        if category in tops:
            return True
        category = world.find("ticket_categories", category)["parent_id"]
    return False


def _texts(world: TicketWorld, ticket: Row) -> list[str]:
    contact = world.find("contacts", ticket["contact_id"])
    found = [ticket["subject"], ticket["description"], ticket["unique_id"]]
    return [*found, contact["name"]] if contact else found


def matches(world: TicketWorld, ticket: Row, query: Row) -> bool:
    """Whether a ticket meets all parameters of a query; lists hold alternatives."""
    targets = query.get("target") or list(TARGETS)
    for name, wanted in query.items():
        match name:
            case "companyId":
                found = ticket["company_id"] in wanted
            case "zone":
                found = zone_of(world, ticket) in wanted
            case "categoryId":
                if query.get("includeChildren", True):
                    found = _below(world, ticket["category_id"], wanted)
                else:
                    found = ticket["category_id"] in wanted
                found = found or (0 in wanted and ticket["category_id"] is None)
            case (
                "statusId"
                | "teamId"
                | "assigneeId"
                | "branchId"
                | "contactId"
                | "deviceId"
                | "priorityId"
                | ("reporterId" | "parentId" | "eventId")
            ):
                found = (ticket[name[:-2] + "_id"] or 0) in wanted
            case "kind":
                found = ticket["status_kind"] in wanted
            case "open":
                found = (ticket["status_kind"] in LIVE) is wanted
            case "breached":
                found = any(ticket[f"{TARGETS[each]}_breached"] for each in targets) is wanted
            case "dueBefore":
                dues = [undecided_due(ticket, each) for each in targets]
                found = any(due is not None and due < wanted for due in dues)
            case "overdue":
                found = (ticket["status_kind"] in LIVE and is_overdue(ticket, world.now)) is wanted
            case "escalated":
                found = (ticket["escalated_at"] is not None) is wanted
            case "uniqueId":
                found = ticket["unique_id"] in wanted
            case "number":
                found = ticket["number"] in wanted
            case "tag":
                found = bool(set(ticket["attributes"].get("tags", ())) & set(wanted))
            case "from":
                found = ticket["created_at"] >= wanted
            case "to":
                found = ticket["created_at"] < wanted
            case "updatedFrom":
                found = ticket["updated_at"] >= wanted
            case "updatedTo":
                found = ticket["updated_at"] < wanted
            case "keyword":
                found = any(wanted.lower() in text.lower() for text in _texts(world, ticket))
                found = found or wanted == f"#{ticket['number']}"
            case _:
                found = True
        if not found:
            return False
    return True


def sort_value(world: TicketWorld, ticket: Row, key: str) -> Any:
    match key:
        case "createdAt":
            return ticket["created_at"]
        case "updatedAt":
            return ticket["updated_at"]
        case "number":
            return ticket["number"]
        case "level":
            priority = world.find("ticket_priorities", ticket["priority_id"])
            return priority["level"] if priority else None
        case "firstResponseDue":
            return ticket["first_response_due"]
        case "resolutionDue":
            return ticket["resolution_due"]
    dues = [undecided_due(ticket, target) for target in TARGETS]
    return min((due for due in dues if due is not None), default=None)


def in_order(world: TicketWorld, tickets: Iterable[Row], sort: str) -> list[int]:
    """Return the ids: by the key, without one at the end, equal ones by id in the same direction."""
    key, is_descending = sort.removeprefix("-"), sort.startswith("-")
    values = [(sort_value(world, ticket, key), ticket["id"]) for ticket in tickets]
    dated = sorted((pair for pair in values if pair[0] is not None), reverse=is_descending)
    others = sorted((pair for pair in values if pair[0] is None), reverse=is_descending)
    return [row_id for _, row_id in (*dated, *others)]


# The model of statistics.


def tenths(dividend: int | Fraction, divisor: int) -> float | None:
    """Half up; None without anything."""
    if not divisor:
        return None
    return int(Fraction(dividend) / divisor * 10 + Fraction(1, 2)) / 10


def kind_at(world: TicketWorld, ticket: Row, instant: datetime) -> str | None:
    """The kind of the status just before an instant; None if the ticket did not exist."""
    if ticket["created_at"] >= instant:
        return None
    moves = [
        entry
        for entry in world["ticket_events"]
        if entry["ticket_id"] == ticket["id"] and entry["type"] == "statusChanged"
    ]
    if not moves:
        return ticket["status_kind"]
    kind = moves[0]["attributes"]["fromKind"]
    for entry in moves:
        if entry["event_time"] < instant:
            kind = entry["attributes"]["toKind"]
    return kind


class Figures:
    """What happened to some tickets between two instants."""

    def __init__(
        self, world: TicketWorld, tickets: list[Row], start: datetime, end: datetime, cancelled: bool
    ):
        self.world, self.start, self.end = world, start, end
        self.all = {ticket["id"]: ticket for ticket in tickets}
        self.counted = {
            row_id: ticket
            for row_id, ticket in self.all.items()
            if cancelled or ticket["status_kind"] != "cancelled"
        }
        self.judged = [ticket for ticket in tickets if ticket["status_kind"] != "cancelled"]

    def within(self, instant: datetime | None) -> bool:
        return instant is not None and self.start <= instant < self.end

    def entries(self, kind: str) -> list[Row]:
        return [
            entry
            for entry in self.world["ticket_events"]
            if entry["type"] == kind and entry["ticket_id"] in self.all and self.within(entry["event_time"])
        ]

    def moves(self, to: Iterable[str], *, of: Iterable[str], tickets: dict[int, Row]) -> int:
        return sum(
            entry["attributes"]["toKind"] in to
            and entry["attributes"]["fromKind"] in of
            and entry["ticket_id"] in tickets
            for entry in self.entries("statusChanged")
        )

    def created(self) -> int:
        return sum(self.within(ticket["created_at"]) for ticket in self.counted.values())

    def resolved(self) -> int:
        return self.moves(("resolved", "closed"), of=LIVE, tickets=self.counted)

    def volume(self) -> Row:
        reopened = sum(entry["ticket_id"] in self.counted for entry in self.entries("reopened"))
        not_closed = [kind for kind in KINDS if kind != "closed"]
        not_cancelled = [kind for kind in KINDS if kind != "cancelled"]
        return {
            "created": self.created(),
            "resolved": self.resolved(),
            "closed": self.moves(("closed",), of=not_closed, tickets=self.counted),
            "cancelled": self.moves(("cancelled",), of=not_cancelled, tickets=self.all),
            "reopened": reopened,
            "reopenRate": tenths(100 * reopened, self.resolved()),
            "repeat": sum(self.is_repeat(ticket) for ticket in self.with_device()),
        }

    def with_device(self) -> list[Row]:
        return [
            ticket
            for ticket in self.counted.values()
            if ticket["device_id"] and self.within(ticket["created_at"])
        ]

    def is_repeat(self, ticket: Row) -> bool:
        """Whether another ticket of the device was resolved in the seven days before."""
        return any(
            other["id"] != ticket["id"]
            and other["status_kind"] != "cancelled"
            and (other["company_id"], other["device_id"]) == (ticket["company_id"], ticket["device_id"])
            and other["resolved_at"] is not None
            and timedelta(0) < ticket["created_at"] - other["resolved_at"] < timedelta(days=7)
            for other in self.world["tickets"]
        )

    def by_device(self) -> list[Row]:
        devices: dict[int, list[Row]] = {}
        for ticket in self.with_device():
            devices.setdefault(ticket["device_id"], []).append(ticket)
        found = []
        for device_id, tickets in devices.items():
            created = sorted(ticket["created_at"] for ticket in tickets)
            gaps = [(after - before) // MILLISECOND for before, after in pairwise(created)]
            found.append(
                {
                    "deviceId": device_id,
                    "created": len(tickets),
                    "repeat": sum(map(self.is_repeat, tickets)),
                    "hoursBetween": tenths(Fraction(sum(gaps), 3_600_000), len(gaps)),
                }
            )
        return sorted(found, key=lambda each: (-each["created"], each["deviceId"]))[:10]

    def target(self, target: str) -> Row:
        name = TARGETS[target]
        decided = [ticket for ticket in self.judged if self.within(ticket[f"{name}_decided_at"])]
        met = sum(ticket[f"{name}_verdict"] == "met" for ticket in decided)
        breached = [ticket for ticket in decided if ticket[f"{name}_verdict"] == "breached"]
        excused = sum(target in ticket["attributes"].get("slaExcused", ()) for ticket in breached)
        done = "first_response_at" if target == "firstResponse" else "resolved_at"
        minutes = sorted(
            ticket[f"{name}_elapsed"] // timedelta(minutes=1)
            for ticket in self.judged
            if self.within(ticket[done]) and ticket[f"{name}_elapsed"] is not None
        )
        return {
            "decided": len(decided),
            "met": met,
            "breached": len(breached),
            "attainment": tenths(100 * met, met + len(breached) - excused),
            "averageMinutes": tenths(sum(minutes), len(minutes)),
            "medianMinutes": median(minutes) if minutes else None,
            "p90Minutes": minutes[-(-9 * len(minutes) // 10) - 1] if minutes else None,
        }

    def figures(self) -> Row:
        return {
            "created": self.created(),
            "resolved": self.resolved(),
            "firstResponse": self.target("firstResponse"),
            "resolution": self.target("resolution"),
        }

    def breaches(self) -> Row:
        rows = [
            row
            for row in self.world["ticket_breaches"]
            if row["ticket_id"] in self.counted and self.within(row["due"])
        ]
        excused = [self.all[row["ticket_id"]]["attributes"].get("slaExcused", ()) for row in rows]
        return {
            **{target: sum(row["target"] == target for row in rows) for target in TARGETS},
            "tickets": len({row["ticket_id"] for row in rows}),
            "excused": sum(row["target"] in named for row, named in zip(rows, excused, strict=True)),
        }

    def escalations(self) -> int:
        return sum(self.within(ticket["escalated_at"]) for ticket in self.counted.values())

    def backlog_at_end(self) -> int:
        return sum(kind_at(self.world, ticket, self.end) in LIVE for ticket in self.counted.values())

    def is_empty(self) -> bool:
        figures = self.figures()
        targets = (figures["firstResponse"], figures["resolution"])
        return not (
            figures["created"]
            or figures["resolved"]
            or any(each["decided"] or each["averageMinutes"] is not None for each in targets)
        )


def is_orphaned(world: TicketWorld, ticket: Row, disabled: set[int], administrators: set[int]) -> bool:
    user, team = ticket["assignee_id"], world.find("teams", ticket["team_id"])
    if team and team["disabled"]:
        return True
    if user is None:
        return False
    member_of = {row["team_id"] for row in world["user_team"] if row["user_id"] == user}
    own_teams = {row["id"] for row in world["teams"] if row["company_id"] == ticket["company_id"]}
    links = {(row["user_id"], row["company_id"]) for row in world["user_company"]}
    if team:
        has_access = team["id"] in member_of
    else:
        has_access = (
            (user, ticket["company_id"]) in links or user in administrators or bool(member_of & own_teams)
        )
    return user in disabled or not has_access


def is_overdue(ticket: Row, now: datetime) -> bool:
    def late(name: str) -> bool:
        due = ticket[f"{name}_due"]
        return ticket[f"{name}_breached"] or (due is not None and due < now)

    return late("resolution") or (ticket["first_response_at"] is None and late("first_response"))


def backlog(world: TicketWorld, tickets: list[Row], disabled: set[int], administrators: set[int]) -> Row:
    live = [ticket for ticket in tickets if ticket["status_kind"] in LIVE]
    now = world.now
    hour = timedelta(hours=1)
    outside = {
        pause["ticket_id"]
        for pause in world["ticket_pauses"]
        if pause["reason"] == "outsideZone" and pause["ends"] is None
    }

    def is_soon(ticket: Row) -> bool:
        dues = [undecided_due(ticket, target) for target in TARGETS]
        return any(due is not None and now <= due <= now + hour for due in dues)

    def bucket(ticket: Row) -> str:
        days = (now - ticket["created_at"]) / timedelta(days=1)
        edges = [("30d+", 30), ("14-30d", 14), ("7-14d", 7), ("3-7d", 3), ("1-3d", 1)]
        return next((name for name, lower in edges if days >= lower), "0-1d")

    def named(column: str) -> list[Row]:
        counts = Counter(ticket[column] or 0 for ticket in live)
        return [
            {"id": key, "count": n} for key, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        ]

    zones = Counter(zone_of(world, ticket) for ticket in live)
    ages = Counter(bucket(ticket) for ticket in live)
    return {
        "total": len(live),
        "unassigned": sum(ticket["assignee_id"] is None for ticket in live),
        "orphaned": sum(is_orphaned(world, ticket, disabled, administrators) for ticket in live),
        "paused": sum(ticket["sla_paused"] for ticket in live),
        "outsideZone": sum(ticket["id"] in outside for ticket in live),
        "overdue": sum(is_overdue(ticket, now) for ticket in live),
        "dueSoon": sum(is_soon(ticket) for ticket in live),
        "byKind": {kind: sum(ticket["status_kind"] == kind for ticket in live) for kind in LIVE},
        "byStatus": named("status_id"),
        "byPriority": named("priority_id"),
        "byTeam": named("team_id"),
        "byCategory": named("category_id"),
        "byAssignee": named("assignee_id"),
        "byZone": [
            {"zone": zone, "count": n}
            for zone, n in sorted(zones.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
        "ageing": [
            {"bucket": name, "count": ages[name]}
            for name in ("0-1d", "1-3d", "3-7d", "7-14d", "14-30d", "30d+")
        ],
    }


def period_key(instant: datetime, period: str, zone: str) -> tuple[int, ...]:
    local = instant.astimezone(ZoneInfo(zone))
    if period == "day":
        return local.year, local.month, local.day
    return local.isocalendar()[:2] if period == "week" else (local.year, local.month)


def periods(start: datetime, end: datetime, period: str, zone: str) -> list[tuple[datetime, datetime]]:
    """Return the spans with one key each, found by stepping through the time."""
    found, begin = [], start
    step = timedelta(minutes=30)
    at = start
    while at < end:
        after = min(at + step, end)
        key = period_key(begin, period, zone)
        if after < end and period_key(after, period, zone) != key:
            low, high = at, after
            while high - low > timedelta(milliseconds=1):
                middle = low + (high - low) / 2
                low, high = (low, middle) if period_key(middle, period, zone) != key else (middle, high)
            cut = (low + timedelta(seconds=0.5)).replace(microsecond=0)
            found.append((begin, cut))
            begin = cut
            at = cut
        else:
            at = after
    return [*found, (begin, end)]
