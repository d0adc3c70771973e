"""Which servers use a database: joined, renewed, declared dead; two at once."""

import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio

from motorpool.storage.cluster import membership
from motorpool.storage.cluster.membership import open_membership
from motorpool.storage.database import nodes
from motorpool.storage.encryption import NO_KEYS
from motorpool.storage.errors import SetupFailed

OTHERS = "a server of tests"
NOW = datetime(2026, 6, 15, tzinfo=UTC)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(membership, "RENEW_SECONDS", 0.02)
    monkeypatch.setattr(membership, "RENEW_ALONE_SECONDS", 0.02)
    monkeypatch.setattr(membership, "SETTLED_SECONDS", 0.1)
    monkeypatch.setattr(membership, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(membership, "RETRY_SECONDS", 0.02)


def member(database, cluster=None, on_dead=lambda: None, **more):
    return open_membership(database, cluster, "0", on_dead=on_dead, **more)


async def states(database):
    rows = await database.fetch("select id, state from nodes order by id")
    return {row[0]: row[1] for row in rows}


async def silence(database, node):
    """Let a server look as if it had not renewed its row for long."""
    await database.execute(
        "update nodes set seen_until = clock_timestamp() - interval '1 second' where id = $1", node
    )


async def until(condition):
    with trio.fail_after(30):
        while not await condition():  # noqa: ASYNC110 - the database is asked
            await trio.sleep(0.02)


async def test_each_start_has_a_number_of_its_own_and_ends_dead(database):
    async with member(database) as first:
        assert await states(database) == {first: "live"}
    async with member(database) as second:
        assert second > first
        assert await states(database) == {first: "dead", second: "live"}
    assert set((await states(database)).values()) == {"dead"}


async def test_a_second_server_that_is_alone_does_not_start(database):
    async with member(database) as first:
        with pytest.raises(SetupFailed, match=r"another server on .* uses this database: .*cluster\.name"):
            async with member(database):
                raise AssertionError
        with pytest.raises(SetupFailed, match="uses this database"):
            async with member(database, "north"):
                raise AssertionError
        assert await states(database) == {first: "live"}


async def test_servers_of_one_cluster_run_beside_each_other_and_no_others(database):
    async with member(database, "north") as first, member(database, "north") as second:
        assert await states(database) == {first: "live", second: "live"}
        with pytest.raises(SetupFailed, match="of the cluster north"):
            async with member(database, "south"):
                raise AssertionError
        with pytest.raises(SetupFailed, match="of the cluster north"):
            async with member(database):
                raise AssertionError


async def test_a_server_whose_process_was_killed_is_replaced_at_once(database, monkeypatch):
    monkeypatch.setattr(membership, "WAIT_SECONDS", 7)  # less than LIFE_SECONDS
    # Its row is fresh, but its session, and with it the lock, has ended.
    async with database.session() as session:
        killed = await nodes.join(session, None, OTHERS, "0")
    async with member(database) as second:
        assert await states(database) == {killed: "dead", second: "live"}


async def test_a_lock_that_outlives_its_server_holds_up_nobody_for_long(database):
    # As that of a machine that lost its power: PostgreSQL learns of it after hours.
    async with database.session() as session:
        lost = await nodes.join(session, None, OTHERS, "0")
        await silence(database, lost)
        async with member(database) as second:
            assert await states(database) == {lost: "dead", second: "live"}


async def test_a_server_that_starts_waits_for_another_one_to_end(database, monkeypatch):
    monkeypatch.setattr(membership, "WAIT_SECONDS", 30)
    ended = trio.Event()

    async def run_first(task_status):
        async with member(database):
            task_status.started()
            await ended.wait()

    async with trio.open_nursery() as nursery:
        await nursery.start(run_first)
        trio.lowlevel.current_trio_token().run_sync_soon(ended.set)
        async with member(database):
            assert sorted((await states(database)).values()) == ["dead", "live"]


async def test_one_that_is_not_seen_any_more_is_declared_dead_and_learns_of_it(database, caplog):
    caplog.set_level(logging.INFO)
    dead = []
    async with database.session() as session:
        frozen = await nodes.join(session, "north", OTHERS, "0")
        async with member(database, "north") as watching:
            assert (await states(database))[frozen] == "live"
            await silence(database, frozen)

            async def declared_dead():
                return (await states(database))[frozen] == "dead"

            await until(declared_dead)
            assert not await nodes.renew(session, frozen)
            await database.execute("update nodes set state = 'dead' where id = $1", watching)
        async with member(database, "north", lambda: dead.append(True)) as third:
            await database.execute("update nodes set state = 'dead' where id = $1", third)

            async def knows():
                return dead == [True]

            await until(knows)
    assert f"server {frozen} has not been seen for 8 s" in caplog.text
    assert "declared this one dead" in caplog.text


async def test_a_server_that_starts_right_after_an_outage_declares_none_of_its_cluster_dead(
    database, monkeypatch
):
    monkeypatch.setattr(membership, "SETTLED_SECONDS", 1000)
    async with database.session() as session:
        kept = await nodes.join(session, "north", OTHERS, "0")
        # The database answered nobody for longer than LIFE_SECONDS.
        await silence(database, kept)
        async with member(database, "north") as started:
            assert await states(database) == {kept: "live", started: "live"}
        assert await nodes.renew(session, kept)


async def test_a_server_of_a_cluster_learns_the_time_of_the_database_before_it_acts_and_from_then_on(
    database,
):
    times = []

    def note(now, age_seconds):
        assert age_seconds >= 0
        times.append(now)

    before = await database.fetch_value("select clock_timestamp()")
    async with member(database, "north", on_time=note):
        assert before < times[0] <= await database.fetch_value("select clock_timestamp()")

        async def again():
            return len(times) > 2

        await until(again)
    assert times == sorted(times)
    times.clear()
    async with member(database, None, on_time=note) as alone:
        first = await database.fetch_value("select seen_until from nodes where id = $1", alone)

        async def renewed():
            return first < await database.fetch_value("select seen_until from nodes where id = $1", alone)

        await until(renewed)
    assert times == []


async def test_a_server_declares_none_dead_unless_its_own_row_is_fresh(database):
    async with database.session() as session:
        one = await nodes.join(session, "north", OTHERS, "0")
        other = await nodes.join(session, "north", OTHERS, "0")
        # The database stood still between the renewal and this statement, for both of them.
        await silence(database, one)
        await silence(database, other)
        assert await nodes.declare_dead(session, one) == []
        assert await nodes.renew(session, one)
        assert await nodes.declare_dead(session, one) == [other]
        assert await nodes.declare_dead(session, other) == []


async def test_after_a_database_that_stood_still_the_others_have_time_to_renew_their_rows(
    autojump_clock, monkeypatch
):
    monkeypatch.undo()
    stood_still = 100.0
    buried_at = []

    async def join(*_, **__):
        return 1

    async def renew(*_):
        # The connection is kept, and the answer comes late.
        if 20 < trio.current_time() < stood_still:
            await trio.sleep_until(stood_still)
        return True

    async def declare_dead(*_):
        buried_at.append(trio.current_time())
        return []

    for name, function in {"join": join, "renew": renew, "declare_dead": declare_dead, "leave": join}.items():
        monkeypatch.setattr(nodes, name, function)

    class Silent:
        keyring = NO_KEYS

        @asynccontextmanager
        async def session(self):
            yield self

        async def fetch(self, *_):
            return []

    began = trio.current_time()
    async with member(Silent(), "north"):
        await trio.sleep_until(stood_still + 30)
    settled = membership.SETTLED_SECONDS
    assert began + settled < buried_at[0] <= 20 + membership.RENEW_SECONDS
    assert not [at for at in buried_at if 21 < at <= stood_still + settled]
    assert buried_at[-1] > stood_still + settled


async def test_a_lost_connection_costs_a_server_nothing(database, caplog):
    dead = []
    async with member(database, None, lambda: dead.append(True)) as node:

        async def locks():
            return await database.fetch_value(
                "select array_agg(l.pid) from pg_locks l join pg_database d on d.oid = l.database"
                " where d.datname = current_database() and l.locktype = 'advisory' and l.granted"
            )

        (pid,) = await locks()
        await database.execute("select pg_terminate_backend($1)", pid)

        async def again():
            return await locks() not in (None, [pid])

        await until(again)
        await trio.sleep(0.1)
        assert await states(database) == {node: "live"}
        assert dead == []
    assert "the connection that says that this server lives is lost: " in caplog.text


async def test_of_servers_that_start_at_once_one_is_alone(database):
    running, refused = [], []
    stop = trio.Event()

    async def run():
        try:
            async with member(database) as node:
                running.append(node)
                await stop.wait()
        except SetupFailed:
            refused.append(True)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(run)
        with trio.fail_after(30):
            while len(running) + len(refused) < 4:  # noqa: ASYNC110 - several events
                await trio.sleep(0.02)
        assert (len(running), len(refused)) == (1, 3)
        stop.set()
