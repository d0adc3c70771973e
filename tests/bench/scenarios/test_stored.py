"""The scenario `stored`."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import scenario, stored
from motorpool.bench.server import Server

StartServer = Callable[..., AbstractContextManager[Server]]


@pytest.mark.long
def test_both_sizes_are_asked_and_lose_their_oldest_day(
    monkeypatch: pytest.MonkeyPatch, start_server: StartServer
) -> None:
    monkeypatch.setattr(stored, "run_server", start_server)
    monkeypatch.setattr(stored, "FEW", 8000)
    monkeypatch.setattr(stored, "TERMINALS", 3)
    monkeypatch.setattr(stored, "REPORTS_PER_SECOND", 6.0)
    summary, steps = Summary({}), list[str]()
    scenario("stored").run(Options(seconds=1.0, stored=32_000), summary, steps.append)
    figures = {figure.metric: figure for figure in summary.figures}
    assert set(figures) == {
        *stored.ASKED,
        "acknowledgement p99 meanwhile",
        "retention, for each position that it deletes",
    }
    assert all(figure.value and figure.ratio for figure in figures.values())
    assert len(steps) == stored.STEPS


@pytest.mark.long
def test_rows_are_copied_as_they_would_have_come_in(start_server: StartServer) -> None:
    with start_server() as server:
        found = stored.fill(server, 32_000)
        rows = server.fetch_sql("select device_id, fix_time, id from positions order by id")
        ids = [int(row[0]) for row in rows]
        assert len(rows) == 32_000
        assert ids[:4] == list(found.device_ids)[:4]
        assert [row[1] for row in rows] == sorted(row[1] for row in rows)
        assert {ids.count(device_id) for device_id in found.device_ids} == {found.days * stored.PER_DAY}
        [[next_id]] = server.fetch_sql("select next_id from id_blocks where name = 'positions'")
        assert int(next_id) > int(rows[-1][2])


@pytest.mark.long
def test_rows_that_the_database_refuses_are_told(start_server: StartServer) -> None:
    with start_server() as server:
        with pytest.raises(BenchError, match="no_such_table"):
            server.copy_rows("positions", "select * from no_such_table")
        with pytest.raises(BenchError, match="COPY positions"):
            server.copy_rows("positions", "select 1")
