"""Lists of tickets are answered from indexes, whatever is asked and of whichever companies."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage.database.conditions import ALWAYS, Condition, all_of
from motorpool.storage.database.migrations import load
from motorpool.storage.errors import StatementRejected
from motorpool.storage.helpdesk import ticket_lists, tickets

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)

TICKETS = 10_000
COMPANIES = 20
CONTACTS = 5_000
KINDS = "array['new', 'open', 'pending', 'resolved', 'closed', 'cancelled']"
FILL = f"""
    insert into companies (id, name) select n, 'c' || n from generate_series(1, {COMPANIES}) n;
    insert into users (id, name, email)
        select n, 'u' || n, n || '@example.org' from generate_series(1, 40) n;
    insert into devices (id, name, unique_id) select n, 'd' || n, 'd' || n from generate_series(1, 1000) n;
    insert into branches (id, company_id, name, attributes)
        select n, (n - 1) % {COMPANIES} + 1, 'b' || n, jsonb_build_object('zone', 'zone ' || n % 7)
        from generate_series(1, 100) n;
    insert into teams (id, company_id, name)
        select n, (n - 1) % {COMPANIES} + 1, 't' || n from generate_series(1, 100) n;
    insert into contacts (id, company_id, name)
        select n, (n - 1) % {COMPANIES} + 1, 'Contact ' || md5(n::text) from generate_series(1, {CONTACTS}) n;
    insert into ticket_priorities (id, company_id, name, level)
        select n, (n - 1) % {COMPANIES} + 1, 'p' || n, n % 4 + 1 from generate_series(1, 100) n;
    insert into ticket_categories (id, company_id, parent_id, name)
        select n, (n - 1) % {COMPANIES} + 1, case when n > 200 then n - 200 end, 'k' || n
        from generate_series(1, 400) n;
    insert into ticket_statuses (id, company_id, name, kind)
        select n, (n - 1) % {COMPANIES} + 1, 's' || n,
            ({KINDS})[(n - 1) / {COMPANIES} + 1]
        from generate_series(1, {COMPANIES * 6}) n;
    insert into tickets (
        company_id, number, unique_id, branch_id, contact_id, device_id, category_id, priority_id, status_id,
        status_kind, team_id, assignee_id, reporter_id, event_id, parent_id, subject, description, created_at,
        updated_at, status_changed_at, first_response_at, first_response_due, resolution_due,
        first_response_breached, resolution_breached, escalated_at, attributes
    )
    select company, n, 'X-' || n, company + {COMPANIES} * (n % 5), company + {COMPANIES} * (n % 250),
        n % 1000 + 1, company + {COMPANIES} * (n % 20), company + {COMPANIES} * (n % 5),
        company + {COMPANIES} * kind, ({KINDS})[kind + 1],
        case when n % 3 > 0 then company + {COMPANIES} * (n % 5) end,
        case when n % 4 > 0 then n % 40 + 1 end, n % 40 + 1,
        case when n % 10 = 0 then n else 0 end, case when n % 50 = 0 then n - 1 end,
        'Subject ' || md5(n::text), repeat('Description ' || md5((n * 7)::text) || ' ', 2),
        made, made + interval '1 day', made, case when kind > 0 then made + interval '1 hour' end,
        made + interval '2 hours', made + interval '3 days', n % 17 = 0, n % 13 = 0,
        case when n % 29 = 0 then made + interval '3 hours' end,
        jsonb_build_object('tags', case when n % 5 = 0 then jsonb_build_array('tag' || n % 300) else '[]' end)
    from (
        select n, timestamptz '{NOW}' - n * interval '10 minutes' as made,
            -- One company has half of all.
            case when n % 2 = 0 then 1 else n / 2 % {COMPANIES} + 1 end as company,
            -- Old tickets are closed.
            case when n > {TICKETS // 5} then 3 + n % 3 else n / 2 % 5 end as kind
        from generate_series(1, {TICKETS}) n
    ) each;
"""
ANALYSED = ("tickets", "contacts", "branches", "ticket_priorities", "ticket_categories")
WITHOUT_EXTENSION = """
    drop extension pg_trgm cascade;
    create schema other;
    set local search_path to other;
    create table tickets (like public.tickets);
    create table contacts (like public.contacts);
    create role nobody_at_all;
    grant all on schema other to nobody_at_all;
    alter table tickets owner to nobody_at_all;
    alter table contacts owner to nobody_at_all;
    set local role nobody_at_all;
"""
INDEXES = """
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid in ('tickets'::regclass, 'contacts'::regclass) and not indisunique
"""
FILTERS = {
    "nothing": ALWAYS,
    "branch": ticket_lists.refers_to("branch_id", [1]),
    "branches": ticket_lists.refers_to("branch_id", [1, 2, 21]),
    "team": ticket_lists.refers_to("team_id", [1]),
    "no team": ticket_lists.refers_to("team_id", [0]),
    "assignee": ticket_lists.refers_to("assignee_id", [7]),
    "nobody": ticket_lists.refers_to("assignee_id", [0, 7]),
    "contact": ticket_lists.refers_to("contact_id", [21]),
    "device": ticket_lists.refers_to("device_id", [21]),
    "category": ticket_lists.in_categories([1], with_children=True),
    "only category": ticket_lists.in_categories([1], with_children=False),
    "priority": ticket_lists.refers_to("priority_id", [1]),
    "status": ticket_lists.refers_to("status_id", [1, 21]),
    "reporter": ticket_lists.refers_to("reporter_id", [9]),
    "parent": ticket_lists.refers_to("parent_id", [49]),
    "event": ticket_lists.is_any_of("event_id", [500]),
    "zone": ticket_lists.in_zones(["zone 1"]),
    "kind": ticket_lists.is_any_of("status_kind", ["new", "open"]),
    "open": ticket_lists.is_open(True),
    "done": ticket_lists.is_open(False),
    "breached": ticket_lists.is_breached(True, ["firstResponse", "resolution"]),
    "kept": ticket_lists.is_breached(False, ["resolution"]),
    "due": ticket_lists.due_before(NOW, ["firstResponse", "resolution"]),
    "escalated": ticket_lists.is_escalated(True),
    "unique id": ticket_lists.is_any_of("unique_id", ["X-77"]),
    "number": ticket_lists.is_any_of("number", [78]),
    "tag": ticket_lists.has_tag(["tag5", "tag10"]),
    "created": ticket_lists.between("created_at", NOW - timedelta(days=400), NOW),
    "stuck": ticket_lists.between("updated_at", None, NOW - timedelta(days=30)),
}
KEYWORDS = ("abc1", "subject 9", "X-777", "description c4c", "#4242", "contact 1f0", "100%", "subject")
SCOPES = {
    "the largest": ticket_lists.is_any_of("company_id", [1]),
    "a small one": ticket_lists.is_any_of("company_id", [2]),
    "three": ticket_lists.is_any_of("company_id", [1, 3, 4]),
    "all": ALWAYS,
}


class Plans:
    """Looks at the plan of a statement in place of running it."""

    def __init__(self, database):
        self._database = database
        self.scanned = []

    async def fetch(self, sql, *args):
        rows = await self._database.fetch(f"explain {sql}", *args)
        plan = "\n".join(row[0] for row in rows)
        if any(f"Seq Scan on {table}" in plan for table in ("tickets", "contacts", "ticket_events")):
            self.scanned.append(plan)
        return []

    async def fetch_value(self, sql, *args):
        await self.fetch(sql, *args)
        return 0


@pytest.fixture
async def plans(database):
    # Made at the end, indexes take a third of the time.
    indexes = [(row["name"], row["definition"]) for row in await database.fetch(INDEXES)]
    await database.execute("".join(f"drop index {name};" for name, _ in indexes))
    async with database.transaction() as transaction:
        await transaction.execute("set local session_replication_role = replica")
        await transaction.execute(FILL)
    await database.execute(";".join(definition for _, definition in indexes))
    for table in ANALYSED:
        await database.execute(f"analyze {table}")
    async with ticket_lists.from_indexes(database) as transaction:
        yield Plans(transaction)
    await database.execute("truncate tickets, contacts restart identity cascade")


async def test_every_filter_and_sort_is_answered_from_indexes(plans):
    for (what, condition), (of, scope) in itertools.product(FILTERS.items(), SCOPES.items()):
        await ticket_lists.list_page(plans, all_of(scope, condition), limit=100)
        await tickets.TABLE.count(plans, all_of(scope, condition))
        assert not plans.scanned, f"{what}, {of}: {plans.scanned[0]}"
    for keyword, (of, scope) in itertools.product(KEYWORDS, SCOPES.items()):
        condition = all_of(scope, ticket_lists.has_keyword(keyword, scope))
        await ticket_lists.list_page(plans, condition, limit=100, counts=True)
        await tickets.TABLE.count(plans, condition)
        assert not plans.scanned, f"{keyword}, {of}: {plans.scanned[0]}"
    for sort, is_descending in itertools.product(ticket_lists.SORT_KEYS, (False, True)):
        for of, scope in SCOPES.items():
            for condition in (ALWAYS, FILTERS["open"], FILTERS["assignee"]):
                chosen = all_of(scope, condition)
                await ticket_lists.list_page(
                    plans, chosen, sort=sort, is_descending=is_descending, limit=100, offset=100
                )
                assert not plans.scanned, f"{sort}, {of}: {plans.scanned[0]}"


async def test_keywords_are_found_without_the_extension(database):
    """As where it may not be created: everything but their index is there."""
    step = next(each for each in load() if each.name == "ticket_lists")
    with pytest.raises(StatementRejected, match="undo"):  # noqa: PT012 - what is undone stands in the block
        async with database.transaction() as transaction:
            await transaction.execute(WITHOUT_EXTENSION)
            await transaction.execute(step.sql)
            rows = await transaction.fetch("select indexname from pg_indexes where schemaname = 'other'")
            names = {row[0] for row in rows}
            assert "tickets_list" in names
            assert not {"tickets_keywords", "contacts_keywords"} & names
            scope = Condition("company_id = {0}", (1,))
            found = all_of(scope, ticket_lists.has_keyword("motor", scope))
            assert await tickets.TABLE.count(transaction, found) == 0
            raise StatementRejected("undo")
