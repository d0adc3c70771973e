"""What the tables say: edges and their records, and which server decided under which epoch."""

from typing import Any

import trio

from motorpool.bench.checks.server_history import History, find_anomalies
from motorpool.bench.cluster import records
from motorpool.bench.cluster.cluster import Place
from motorpool.bench.cluster.frequent_schedules import FrequentSchedules
from motorpool.bench.cluster.records import EdgeRun, edges
from motorpool.bench.server import fetch_rows


def test_each_edge_that_is_due_has_its_records() -> None:
    schedules = FrequentSchedules(((1, 7),), (100.0, 104.0, 108.0), (102.0, 106.0, 110.0))
    due = schedules.due(101.0, 106.0)
    assert due == {"start": (104.0,), "end": (102.0, 106.0)}
    runs = [
        EdgeRun(1, 7, "end", 102.0, 102.1),
        EdgeRun(1, 7, "end", 102.0, 102.2),
        EdgeRun(1, 7, "start", 104.0, 104.1),
        # Not due for long, but it has fired.
        EdgeRun(1, 7, "start", 108.0, 108.1),
    ]
    found = {each.instant: each.runs for each in edges(runs, schedules.targets, due)}
    assert found == {102.0: 2, 104.0: 1, 106.0: 0, 108.0: 1}


class OneDatabase:
    """Two servers whose transactions are made by hand, by the user of the first."""

    def __init__(self, url: str, role: str) -> None:
        self.url = url
        self.places = [Place("A", 1, ("http://a",), role), Place("B", 1, ("http://b",), "nobody")]

    async def rows(self, sql: str) -> list[list[str]]:
        return await trio.to_thread.run_sync(fetch_rows, self.url, sql)


FIRE = """
    insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id, command_id,
        delay_seconds, followed, time, status)
    values (3, nextval('scheduled_command_firings'), 'start', 0, 7, 1, 0, false, '2026-06-15 12:00Z',
        'sending');
"""


async def test_an_edge_is_decided_under_the_epoch_of_the_server_that_commits_it(database_url: str) -> None:
    role = (await trio.to_thread.run_sync(fetch_rows, database_url, "select session_user"))[0][0]
    cluster: Any = OneDatabase(database_url, role)
    server = "insert into nodes (id, host, release, address, state, started, seen_until) values"
    await cluster.rows(
        f"{server} (11, 'h', 'r', 'http://a', 'live', now(), now());"
        "insert into duties (name, node, epoch) values ('schedule', 11, 1)"
    )
    await records.note(cluster)
    await cluster.rows(FIRE)
    # The fence is the last statement of the holder's transaction; the decision is noted after it.
    await cluster.rows(f"begin; {FIRE} select from duties where node = 11 for share; commit")
    await cluster.rows(
        f"{server} (12, 'h', 'r', 'http://b', 'live', now(), now());"
        "update duties set node = 12, epoch = epoch + 1; update nodes set state = 'dead' where id = 11"
    )
    found = History(versions=await records.versions(cluster), decisions=await records.decisions(cluster))
    assert find_anomalies(found) == []
    decided = [each for each in found.decisions if each.key == "duty schedule"]
    assert [each.epoch for each in decided] == [1, 1]
    assert [(each.duty, each.server) for each in await records.duties_taken(cluster)] == [
        ("schedule", 11),
        ("schedule", 12),
    ]

    (absence,) = await records.absences(cluster)
    assert absence.place == 0
    assert absence.began < absence.died < absence.ended

    # The first server wakes, and nothing keeps it from firing.
    await cluster.rows(FIRE)
    found = History(versions=await records.versions(cluster), decisions=await records.decisions(cluster))
    assert [anomaly.rule for anomaly in find_anomalies(found)] == ["decision under a succeeded epoch"]
    last = max(found.decisions, key=lambda each: each.committed)
    assert last.what.startswith("server 11, start of 3 at 2026-06-15")
    assert [(run.schedule, run.device, run.phase) for run in await records.edge_runs(cluster)] == [
        (3, 7, "start")
    ] * 3
