"""Failed logins at several servers of one database count together (docs/servers.md#limits-on-guesses)."""

import random

import pytest
import trio
from tests.runtime.actor_testing import TestClock

from motorpool.actors.cluster import shared_attempts
from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.api.auth.login_limits import LoginLimits
from motorpool.api.auth.login_throttle import LoginLocked, LoginThrottle
from motorpool.api.login_settings import LoginSettings
from motorpool.storage.errors import StorageUnavailable

LIMITS = LoginSettings(failures_per_account=3, failures_per_address=5, window_seconds=300)


@pytest.fixture
async def clock():
    found = TestClock()
    found.stop_wall(found.now())
    return found


@pytest.fixture
def server(database, clock):
    """`server()`: the limits of another server."""

    def make():
        throttle = LoginThrottle(LIMITS, lambda: clock.now().timestamp())
        return LoginLimits(throttle, LIMITS, clock, SharedAttempts(database, clock))

    return make


async def fail(limits, network, account=1, **more):
    await limits.record_failure(await limits.begin_attempt("", network, account=account, **more))


async def count_rows(database):
    return await database.fetch_value("select count(*) from counted_attempts")


async def test_failures_at_all_servers_lock_an_account_at_each(server, clock):
    one, other = server(), server()
    await fail(one, "10.0.0.1")
    clock.move_wall(10)
    await fail(other, "10.0.0.2")
    await fail(one, "10.0.0.3")
    for limits in (one, other, server()):
        with pytest.raises(LoginLocked) as caught:
            await limits.begin_attempt("", "10.0.0.9", account=1)
        assert (caught.value.limit, caught.value.headers) == ("account", {"Retry-After": "290"})
    with pytest.raises(LoginLocked) as again:
        await other.begin_attempt("", "10.0.0.9", account=1)
    assert (caught.value.begins, again.value.begins) == (True, False)
    await other.begin_attempt("", "10.0.0.9", account=2)
    clock.move_wall(290)
    await fail(other, "10.0.0.9")


async def test_a_login_where_none_has_failed_writes_nothing(server, database):
    one, other = server(), server()
    for limits in (one, other, one):
        await limits.record_success(await limits.begin_attempt("", "10.0.0.1", account=1))
        await limits.withdraw(await limits.begin_anonymous_attempt("10.0.0.1"))
    assert await count_rows(database) == 0


async def test_a_success_is_uncounted_and_clears_the_failures_of_a_known_place(server, database):
    one, other = server(), server()
    await fail(one, "10.0.0.1", known_place="device a")
    await fail(one, "10.0.0.1")
    attempt = await other.begin_attempt("", "10.0.0.1", account=1)
    assert attempt.counted is not None
    await other.record_success(attempt)
    rows = await database.fetch("select kind, cardinality(times) from counted_attempts order by kind")
    assert [tuple(row.values()) for row in rows] == [("account", 1), ("address", 1), ("known place", 1)]
    await other.record_success(await other.begin_attempt("", "10.0.0.1", account=1, known_place="device a"))
    assert await database.fetch_value("select count(*) from counted_attempts where kind = 'known place'") == 0


async def test_a_mailed_link_clears_the_failures_at_all_servers(server):
    one, other = server(), server()
    for number in range(3):
        await fail(one, f"10.0.0.{number}")
    await one.reset_failures(1)
    await other.begin_attempt("", "10.0.0.9", account=1)


async def test_parallel_guesses_exceed_the_limit_by_one_for_each_further_server(server):
    servers = [server() for _ in range(3)]
    begun = []

    async def guess(limits, number):
        try:
            begun.append(await limits.begin_attempt("", f"10.0.0.{number}", account=1))
        except LoginLocked:
            return

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(guess, servers[number % 3], number)
    assert LIMITS.failures_per_account <= len(begun) <= LIMITS.failures_per_account + len(servers)


async def test_two_servers_refuse_what_one_would(server, clock, seed):
    choose = random.Random(seed)
    servers = [server(), server()]
    failures = []
    for _ in range(60):
        account, network = choose.randrange(1, 4), f"net {choose.randrange(3)}"
        now = clock.now().timestamp()
        failures = [each for each in failures if each[0] > now - 300]
        of_account = [each for each in failures if each[1] == account]
        of_network = [each for each in failures if each[2] == network]
        expected = len(of_account) < 3 and len(of_network) < 5
        limits = choose.choice(servers)
        try:
            attempt = await limits.begin_attempt("", network, account=account)
        except LoginLocked:
            assert not expected
        else:
            assert expected
            if choose.random() < 0.7:
                await limits.record_failure(attempt)
                failures.append((now, account, network))
            else:
                await limits.record_success(attempt)
        clock.move_wall(choose.choice((1, 5, 40, 120)))


class AwayDatabase:
    def transaction(self):
        raise StorageUnavailable("away")

    async def fetch(self, *args):
        raise StorageUnavailable("away")


async def test_without_the_database_each_server_counts_for_itself(clock):
    throttle = LoginThrottle(LIMITS, lambda: clock.now().timestamp())
    one = LoginLimits(throttle, LIMITS, clock, SharedAttempts(AwayDatabase(), clock))
    for number in range(3):
        await fail(one, f"10.0.0.{number}")
    with pytest.raises(LoginLocked):
        await one.begin_attempt("", "10.0.0.9", account=1)


async def test_a_server_that_is_alone_writes_nothing(database, clock):
    throttle = LoginThrottle(LIMITS, lambda: clock.now().timestamp())
    alone = LoginLimits(throttle, LIMITS, clock, None)
    await fail(alone, "10.0.0.1")
    assert await count_rows(database) == 0


async def test_rows_are_deleted_now_and_then(server, database, clock, monkeypatch):
    monkeypatch.setattr(shared_attempts, "CLEAN_AFTER", 2)
    one = server()
    await fail(one, "10.0.0.1", account=5)
    clock.move_wall(301)
    await fail(one, "10.0.0.2", account=6)
    assert await count_rows(database) == 2
