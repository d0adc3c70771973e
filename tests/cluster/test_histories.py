"""Random histories of servers on a real database: none shows an anomaly, but one does without the rules."""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from tests.cluster.fake_pipe import FakePipe
from tests.cluster.histories import FAULTS, run_history
from tests.cluster.history_tables import prepare, settings
from trio.testing import MockClock

from motorpool.bench.checks.server_history import History, find_anomalies
from motorpool.runtime import Link
from motorpool.storage.cluster import duties
from motorpool.storage.database.database import Database, open_database

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
async def wide(database_url: str) -> AsyncIterator[Database]:
    """The database with as many connections as histories need."""
    async with open_database(settings(database_url), clock_now=lambda: NOW) as database:
        yield database


def holders(history: History, key: str) -> int:
    return len({version.owner for version in history.versions if version.key == key and version.owner})


async def test_histories_have_no_anomalies(wide: Database, mock_clock: MockClock, at_length: bool) -> None:
    devices = await prepare(wide)
    taken_over = False
    # All faults in the first history, then some of them; more where no other server has taken the duty over.
    for seed in range(1, 30):
        history = await run_history(wide, seed, devices, faults=FAULTS if seed == 1 else None)
        assert find_anomalies(history) == []
        assert len(history.edges) >= 40
        assert any(place.connected for place in history.whereabouts)
        taken_over = taken_over or holders(history, "duty schedule") > 1
        if seed >= (8 if at_length else 1) and taken_over:
            break
    assert taken_over


@pytest.mark.long
async def test_without_the_fence_a_history_shows_it(
    wide: Database, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(*unchecked: object) -> None:
        del unchecked

    monkeypatch.setattr(duties, "check", check)
    devices = await prepare(wide)
    found: set[str] = set()
    for seed in range(1, 100):
        # Holders are frozen between a decision and its transaction.
        history = await run_history(wide, seed, devices, faults=(), frozen_deciders=0.5)
        found |= {anomaly.rule for anomaly in find_anomalies(history)}
        if "edge fired twice" in found:
            break
    assert found >= {"decision under a succeeded epoch", "edge fired twice"}


@pytest.mark.timeout(3 * 3600)
async def test_commands_reach_their_device_once_or_not_at_all(
    wide: Database, mock_clock: MockClock, at_length: bool
) -> None:
    devices = await prepare(wide)
    results: Counter[str] = Counter()
    for seed in range(1, 2_001 if at_length else 3):
        history = await run_history(wide, seed, devices, linked=True)
        assert find_anomalies(history) == [], f"seed {seed}"
        results.update(command.result for command in history.commands)
    assert results["ok"] > 10
    assert results["fail"]


@pytest.mark.parametrize("remembers", [True, False])
async def test_what_a_link_delivers_twice_is_begun_once_since_it_is_remembered(
    wide: Database, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch, remembers: bool
) -> None:
    receive = FakePipe._receive

    def receive_twice(self: FakePipe, subject: str, data: bytes) -> None:
        receive(self, subject, data)
        receive(self, subject, data)

    monkeypatch.setattr(FakePipe, "_receive", receive_twice)
    if not remembers:
        monkeypatch.setattr(Link, "_is_begun", lambda *_: False)
    devices = await prepare(wide)
    history = await run_history(wide, 1, devices, faults=(), linked=True)
    found = {anomaly.rule for anomaly in find_anomalies(history)}
    assert found == (set() if remembers else {"command carried out twice"})
