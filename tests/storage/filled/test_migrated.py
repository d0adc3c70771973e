"""What migrations make of a database that a release has filled, field by field, and when they are killed."""

import re
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import trio
from tests.storage.filled import migrating
from tests.storage.filled.intended import after_migrations
from tests.storage.filled.loading import contents, differences, pending_messages
from tests.storage.filled.migrating import bring_up_to_date, open_session
from tests.storage.filled.releases import NEWEST, RELEASES, newest_before, releases, steps_of, version_of

from motorpool.storage.database.migrations import load

OURS = load()
WAITS = """
    select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid())
"""


def test_each_release_has_left_a_dump():
    """The next one, which has no dump yet, is made of the commit that names its version."""
    root = Path(__file__).parents[3]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    told = re.findall(r"^## (\d+\.\d+\.\d+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = {each for each in told if version_of(each) < version_of(version)}
    assert released <= set(RELEASES)


async def read(url):
    async with open_session(url) as session:
        return await contents(session)


async def test_all_rows_are_as_they_were_but_for_what_migrations_change(release, filled_url):
    before = await read(filled_url)
    applied = await bring_up_to_date(filled_url, OURS)
    after = await read(filled_url)
    assert applied == len(OURS) - steps_of(release)
    steps = [(row["number"], row["name"]) for row in after.pop("schema_migrations")]
    assert sorted(steps) == [(step.number, step.name) for step in OURS]
    expected = after_migrations(before, steps_of(release))
    del expected["schema_migrations"]
    if applied:
        # The migration has seen that the server was killed.
        expected["nodes"] = [{**row, "state": "dead"} for row in expected["nodes"]]
    assert list(differences(expected, after)) == []


@pytest.mark.parametrize("release", releases(newest_before(52)))
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


OVERTAKEN = {
    "outbox": (
        "update ticket_messages set is_overtaken = true where id in"
        " (select id from ticket_messages where state = 'waiting' order by id limit 3)",
        "update outbox set is_overtaken = true where id in"
        " (select id from outbox where lane = 'webhook' order by id limit 3)",
    ),
    "deliveries": (
        "update deliveries set holds_back = false where id in"
        " (select id from deliveries where state = 'waiting' and company_id is not null order by id limit 3)",
        "update deliveries set holds_back = false where id in"
        " (select id from deliveries where state = 'waiting' and lane = 'webhook' order by id limit 3)",
    ),
}
"""By a table that a release has: have others go before some of what waits, of which dumps have few."""


async def test_what_waits_to_be_sent_is_sent_once_and_in_the_same_order(filled_url):
    (table,) = OVERTAKEN.keys() & (await read(filled_url)).keys()
    async with open_session(filled_url) as session:
        for statement in OVERTAKEN[table]:
            await session.execute(statement)
    before = pending_messages(await read(filled_url))
    assert {each.lane for each in before if each.is_overtaken} == {"company", "webhook"}
    await bring_up_to_date(filled_url, OURS)
    assert pending_messages(await read(filled_url)) == before


async def test_the_dump_has_rows_in_every_table_and_of_every_kind(release, filled_url):
    found = await read(filled_url)
    assert [table for table, rows in found.items() if not rows] == []
    assert len(found["schema_migrations"]) == steps_of(release)

    def values(table, column):
        return {row[column] for row in found[table]}

    waiting = pending_messages(found)
    lanes = {"mail", "own mail", "sms", "telegram", "pushover", "webhook", "company"}
    if "deliveries" in found:
        lanes.add("ntfy")
        assert {row["receiver"] < 0 for row in found["receivers"]} == {True, False}
        logged = {row["state"] for row in found["deliveries"] if row["company_id"] is not None}
        assert any(each.is_overtaken for each in waiting)
        paused = found["receivers"]
    else:
        assert any(row["claimed_until"] for row in found["outbox"])
        assert values("outbox", "is_overtaken") == {True, False}
        logged = values("ticket_messages", "state")
        paused = [
            *found["failing_receivers"],
            *({**row, "paused": row["stopped_at"]} for row in found["ticket_webhooks"]),
        ]
    assert {each.lane for each in waiting} == lanes
    assert {each.lane for each in waiting if each.attempts} == lanes
    assert {each.lane for each in waiting if not each.attempts} >= lanes - {"own mail"}
    # Several messages of one order, else there is none to lose.
    orders = Counter(each.order for each in waiting)
    del orders[""]
    assert min(
        sum(name.startswith(kind) and n > 1 for name, n in orders.items()) for kind in ("user", "ticket")
    )
    assert logged == {"waiting", "delivered", "failed", "dropped"}
    assert any(row.get("leased_until") for row in paused)
    assert any(row.get("held_until") for row in paused)
    assert {row["paused"] is None for row in paused} == {True, False}
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
    *((number, "schema_migrations") for number in range(steps_of(RELEASES[0]) + 1, len(OURS) + 1)),
    # Some of its statements are done.
    (51, "ticket_messages"),
]
"""Where a migration is killed: the number of a step, and the table that it waits for at that moment."""


@pytest.mark.parametrize(
    ("release", "number", "table"),
    [
        # Those that were released have been tested enough.
        pytest.param(
            newest_before(number),
            number,
            table,
            id=f"{number}-{table}",
            marks=pytest.mark.long if number <= steps_of(NEWEST) else (),
        )
        for number, table in POINTS
    ],
)
async def test_a_migration_that_is_killed_is_done_again(make_filled, migrated, release, number, table):
    url = make_filled(release)
    await bring_up_to_date(url, OURS[: number - 1])
    async with open_session(url) as other, open_session(url) as observer:
        await other.execute("begin")
        await other.execute(f"lock table {table} in share mode")
        with begin_migration(url) as process:
            with trio.fail_after(120):
                while not await observer.fetch_value(WAITS):
                    assert process.poll() is None
                    await trio.sleep(0.02)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        await other.execute("rollback")
    assert await bring_up_to_date(url, OURS) == len(OURS) - number + 1
    assert list(differences(await migrated(release), await read(url))) == []


@pytest.fixture(scope="module")
def undisturbed():
    """By release what its database becomes, as read once."""
    return {}


@pytest.fixture
def migrated(undisturbed, make_filled):
    """`await migrated(release)`: what its database becomes where nothing is killed."""

    async def migrate(release):
        if release not in undisturbed:
            url = make_filled(release)
            await bring_up_to_date(url, OURS)
            undisturbed[release] = await read(url)
        return undisturbed[release]

    return migrate
