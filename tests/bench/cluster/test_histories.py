"""Random histories of servers on a real database: none shows an anomaly, but one does without the rules."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from motorpool.bench.checks.server_history import History, find_anomalies
from motorpool.bench.cluster.histories import run_history
from motorpool.bench.cluster.history_tables import prepare, settings
from motorpool.storage import duties
from motorpool.storage.database import Database, open_database

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
async def wide(database_url: str) -> AsyncIterator[Database]:
    """The database with as many connections as histories need."""
    async with open_database(settings(database_url), clock_now=lambda: NOW) as database:
        yield database


def holders(history: History, key: str) -> int:
    return len({version.owner for version in history.versions if version.key == key and version.owner})


async def test_histories_have_no_anomalies(wide: Database) -> None:
    devices = await prepare(wide)
    taken = 0
    for seed in range(4):
        history = await run_history(wide, seed, devices)
        # Where devices are at the end is left to `bench servers --histories`, which runs many more.
        assert [found for found in find_anomalies(history) if found.rule != "device not at home"] == []
        assert len(history.edges) >= 40
        assert any(place.connected for place in history.whereabouts)
        taken += holders(history, "duty schedule")
    # Other servers took over.
    assert taken > 4


async def test_without_the_fence_a_history_shows_it(wide: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(*unchecked: object) -> None:
        del unchecked

    monkeypatch.setattr(duties, "check", check)
    devices = await prepare(wide)
    found: set[str] = set()
    for seed in range(100):
        history = await run_history(wide, seed, devices, frozen_deciders=0.5)
        found |= {anomaly.rule for anomaly in find_anomalies(history)}
        if "edge fired twice" in found:
            break
    assert found >= {"decision under a succeeded epoch", "edge fired twice"}
