"""Real servers on one database, with faults: nothing is lost or done twice, and what is wrong is found."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from motorpool.bench.cluster import drill
from motorpool.bench.cluster.faults import CRASH, CUT_LINK, KILL, KILL_NATS, REPLACE, Planned
from motorpool.bench.cluster.outcome import device_waits, duty_waits, report_drill
from motorpool.bench.figures import Summary
from motorpool.bench.scenarios import servers

MACHINE_DEPENDENT = {"device not at home", "outdated read"}
"""What a busy machine may show: it is late, not wrong."""


def plan_of_a_moment(film: Path, **changed: object) -> drill.Plan:
    return drill.Plan(
        **{
            "phones": tuple(f"136{number:08d}" for number in range(1, 31)),
            "cameras": ("13700000001",),
            "loop_file": str(film),
            "rate": 60.0,
            "moves": 2.0,
            "schedules": 3,
            "calm_seconds": 2.0,
            "settle_seconds": 3.0,
            "episodes": ((Planned(KILL, 0, 0.5), Planned(CRASH, 0, 0.5, after=1.0)),),
            **changed,
        }
    )


@pytest.mark.long
def test_nothing_is_lost_or_done_twice_when_a_server_is_killed(
    film: Path, forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drill, "FIRST_EDGE_SECONDS", 1.0)
    steps: list[str] = []
    outcome = servers.run_plan(plan_of_a_moment(film), steps.append, forks.start)
    assert [each for each in outcome.anomalies if each.rule not in MACHINE_DEPENDENT] == []
    assert [fault.name for fault in outcome.faults] == [KILL, CRASH]
    killed = outcome.faults[0]
    # There was something to lose, and to do twice.
    sessions = outcome.result.sessions
    assert any(each.server == killed.place and each.acknowledged for each in sessions)
    assert any(each.began > killed.began and each.acknowledged for each in sessions)
    assert outcome.baseline.answers > 0
    assert {version.key.split()[0] for version in outcome.history.versions} >= {"home", "duty", "server"}
    assert outcome.history.changes
    assert outcome.requested
    assert {(each.stream, each.server) for each in outcome.history.segments} == {
        (f"{outcome.filmed[0]}/1", name) for name in "AB"
    }
    summary = Summary({})
    report_drill(summary, "servers", outcome)
    assert {figure.metric for figure in summary.figures} >= {
        "positions per CPU second of all servers",
        "position on a WebSocket, other server, p99",
    }
    # PostgreSQL crashed meanwhile, so they are not among the figures.
    assert device_waits(outcome, killed)
    assert duty_waits(outcome, killed)


@pytest.mark.long
def test_nothing_is_lost_or_done_twice_when_processes_are_replaced_and_nats_ends(film: Path) -> None:
    episodes = (
        (Planned(REPLACE, 0, 0.0),),
        (Planned(KILL_NATS, 0, 1.0),),
        (Planned(CUT_LINK, 1, 8.0),),
        (Planned(KILL, 1, 0.5),),
    )
    plan = plan_of_a_moment(film, episodes=episodes)
    outcome = servers.run_plan(plan, print, counts=(1, 2), linked=True)
    assert [each for each in outcome.anomalies if each.rule not in MACHINE_DEPENDENT] == []
    assert [fault.name for fault in outcome.faults] == [REPLACE, KILL_NATS, CUT_LINK, KILL]
    assert any(each.is_due and each.result == "ok" for each in outcome.history.commands)
    assert outcome.history.shown


DEAF = """
from motorpool.actors.cluster.change_relay import ChangeRelay
from motorpool.api.main import main

async def ignore(self, *changes):
    pass

ChangeRelay._apply = ignore
main(["serve"])
"""


def start_deaf(folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a server that ignores what others have changed."""
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", DEAF], cwd=folder, env=environment, stdout=log, stderr=log
        )


@pytest.mark.long
def test_servers_that_ignore_changes_of_rights_are_found_by_what_the_user_does(film: Path) -> None:
    plan = plan_of_a_moment(film, episodes=(), cameras=(), calm_seconds=60.0)
    outcome = servers.run_plan(plan, print, start_deaf, linked=True)
    outdated = [each.text for each in outcome.anomalies if each.rule == "outdated read"]
    for means in ("a command: ", "a WebSocket: "):
        assert any(means in text for text in outdated), means
