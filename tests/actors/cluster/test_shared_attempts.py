"""Rate limits of servers that count together (docs/servers.md#limits-on-guesses)."""

from itertools import cycle
from math import inf

import pytest
import trio
from tests.runtime.actor_testing import TestClock

from motorpool.actors.cluster.shared_attempts import MAX_BLOCKS, SharedAttempts, SharedRate, SharedRates
from motorpool.storage.errors import StorageUnavailable

HOUR = 3600.0


class Time:
    """The clocks of servers: both go together, where a test lets them."""

    def __init__(self):
        self.clock = TestClock()
        self.clock.stop_wall(self.clock.now())
        self.seconds = 100.0

    def passes(self, seconds):
        self.seconds += seconds
        self.clock.move_wall(seconds)

    def monotonic(self):
        return self.seconds


@pytest.fixture
async def hours():
    return Time()


@pytest.fixture
def servers(database, hours):
    """`servers(user=2, all=5)`: the same limits at two servers of one database."""

    def make(**limits):
        return [
            SharedRates(limits, HOUR, hours.monotonic, SharedAttempts(database, hours.clock))
            for _ in range(2)
        ]

    return make


async def rows(database):
    found = await database.fetch(
        "select kind, key, cardinality(times) from counted_attempts order by kind, key"
    )
    return [tuple(row.values()) for row in found]


async def test_a_rate_of_all_servers(database, hours):
    one, other = (
        SharedRate("registration", 3, HOUR, hours.monotonic, SharedAttempts(database, hours.clock))
        for _ in range(2)
    )
    assert [await rate.hit("net") for rate in (one, other, one)] == [0, 0, 0]
    hours.passes(600)
    assert await other.hit("net") == 3000
    assert await one.hit("other net") == 0
    hours.passes(3000)
    assert await other.hit("net") == 0


async def test_events_count_against_all_limits_or_none(servers, database, hours):
    one, other = servers(user=2, all=3)
    assert await one.hit({"user": "1", "all": ""}, 2) is None
    hours.passes(60)
    assert await other.hit({"user": "1", "all": ""}) == ("user", 3540)
    assert await other.hit({"user": "2", "all": ""}, 2) == ("all", 3540)
    assert await rows(database) == [("all", "", 2), ("user", "1", 2)]
    assert await other.hit({"user": "2", "all": ""}, 3) == ("user", inf)
    assert await other.hit({"user": "2", "all": ""}) is None
    assert await rows(database) == [("all", "", 3), ("user", "1", 2), ("user", "2", 1)]


async def test_what_another_server_makes_it_refuse_does_not_count(servers, hours):
    one, other = servers(user=5)
    assert await one.hit({"user": "1"}, 5) is None
    for _ in range(10):
        hours.passes(300)
        assert (await other.hit({"user": "1"}))[0] == "user"
    hours.passes(600)
    assert await other.hit({"user": "1"}, 5) is None


async def test_servers_that_count_at_the_same_moment_do_not_exceed_the_limit(servers):
    counted = []

    async def hit(server, number):
        counted.append(await server.hit({"user": str(number % 3), "all": ""}))

    async with trio.open_nursery() as nursery:
        for number, server in zip(range(30), cycle(servers(user=4, all=10)), strict=False):
            nursery.start_soon(hit, server, number)
    assert counted.count(None) == 10


async def test_large_limits_are_counted_in_few_instants(servers, database, hours):
    limit = 10 * MAX_BLOCKS
    pair = servers(all=limit)
    for server, events in zip(cycle(pair), [1, 1, 15, 15, 4, 4], strict=False):
        assert await server.hit({"all": ""}, events) is None
    assert await rows(database) == [("all", "", 4)]
    used = 40
    while await pair[0].hit({"all": ""}, 90) is None:
        used += 90
    while await pair[1].hit({"all": ""}) is None:
        used += 1
    assert limit - 10 <= used <= limit + 10
    assert (await rows(database))[0][2] <= MAX_BLOCKS
    hours.passes(3600)
    for server in pair:
        assert await server.hit({"all": ""}, limit // 2 - 10) is None


async def test_one_server_asks_no_database(hours):
    alone = SharedRates({"user": 1}, HOUR, hours.monotonic, None)
    assert await alone.hit({"user": "1"}) is None
    assert await alone.hit({"user": "1"}) == ("user", HOUR)
    assert await alone.hit({"user": "2"}) is None


class AwayDatabase:
    def transaction(self):
        raise StorageUnavailable("away")


async def test_without_the_database_each_server_counts_for_itself(hours):
    rates = SharedRates({"user": 1}, HOUR, hours.monotonic, SharedAttempts(AwayDatabase(), hours.clock))
    assert await rates.hit({"user": "1"}) is None
    assert await rates.hit({"user": "1"}) == ("user", HOUR)
