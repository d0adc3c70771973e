"""How long take-overs took, from the outcome of a drill."""

import pytest
from msgspec.structs import replace

from motorpool.bench.checks.server_history import History, Listed
from motorpool.bench.cluster.drill import Baseline, DrillOutcome, Plan
from motorpool.bench.cluster.faults import CUT_LINK, KILL, KILL_NATS, REPLACE, Fault, drawn, kinds, usual
from motorpool.bench.cluster.outcome import device_waits, duty_waits, report_drill, stream_waits
from motorpool.bench.cluster.records import DutyTaken
from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import Arrival, CameraResult, RoamerResult, SocketResult, TerminalSession

KILLED = Fault(KILL, 0, 11, 100.0, 104.0)
"""Server A, which was number 11."""


@pytest.fixture
def outcome() -> DrillOutcome:
    """Two terminals and a camera at A, which is killed at 100; another terminal at B."""
    sessions = (
        TerminalSession(0, 0, 10.0, 10.1, 100.1),
        TerminalSession(1, 0, 10.0, 10.1, 100.1),
        TerminalSession(2, 1, 10.0, 10.1, 0.0),
        TerminalSession(0, 1, 100.5, 100.6, 0.0),
        TerminalSession(1, 1, 100.7, 102.0, 0.0),
    )
    filmed = (TerminalSession(0, 0, 12.0, 12.1, 100.1), TerminalSession(0, 1, 101.0, 101.1, 0.0))
    segments = [
        Listed("90/1", 40, "a", 99.0, "A"),
        Listed("90/1", 39, "b", 98.0, "B"),
        # What B had of the stream of A still.
        Listed("90/1", 40, "a", 101.5, "B"),
        Listed("90/1", 1001, "c", 104.0, "B"),
        Listed("90/1", 1002, "d", 106.0, "B"),
    ]
    arrivals = (
        (Arrival(7, 1001.0, 50.05), Arrival(9, 1001.0, 50.13)),
        (
            Arrival(7, 1001.0, 50.11),
            Arrival(9, 1001.0, 50.07),
            Arrival(7, 1000.0, 50.2),
            Arrival(5, 1001.0, 51.0),
        ),
    )
    return DrillOutcome(
        plan=Plan(
            phones=("1", "2", "3"),
            cameras=("4",),
            loop_file="",
            rate=1.0,
            moves=0.0,
            schedules=0,
            calm_seconds=10.0,
            settle_seconds=1.0,
            episodes=(),
        ),
        names=("A", "B"),
        machines=(),
        history=History(segments=segments),
        anomalies=(),
        faults=(KILLED,),
        baseline=Baseline(
            began=45.0,
            ended=55.0,
            answers=100,
            server_seconds=2.0,
            database_seconds=1.0,
            sockets=SocketResult(arrivals=arrivals),
        ),
        first_epoch=1000.0,
        devices=(7, 8, 9),
        filmed=(90,),
        result=RoamerResult(
            sent=(2, 2, 2),
            unanswered=((), (), ()),
            sessions=sessions,
            times=((40.0, 50.0), (40.0, 50.0), (40.0, 50.0)),
            texts=(),
            answers=6,
            rejected=0,
            p50_ms=1.0,
            p99_ms=2.0,
        ),
        cameras=CameraResult(frames=1, late_ms=0.0, stalled=0, cpu_share=0.1, sessions=filmed),
        requested=(),
        asked_by_reader=(),
        runs=(),
        taken=(
            DutyTaken("schedule", 11, 5.0),
            DutyTaken("retention", 12, 5.0),
            DutyTaken("schedule", 12, 109.0),
        ),
    )


def test_devices_of_the_killed_server_count_from_the_kill(outcome: DrillOutcome) -> None:
    assert sorted(device_waits(outcome, KILLED)) == pytest.approx([0.6, 2.0])


def test_devices_of_the_other_process_of_a_machine_are_not_waited_for(outcome: DrillOutcome) -> None:
    stays = replace(outcome.result.sessions[1], ended=140.0)
    sessions = (outcome.result.sessions[0], stays, *outcome.result.sessions[2:])
    found = replace(outcome, machines=(0,), result=replace(outcome.result, sessions=sessions))
    assert device_waits(found, KILLED) == pytest.approx([0.6])


def test_a_duty_of_the_killed_server_counts_until_another_has_it(outcome: DrillOutcome) -> None:
    assert duty_waits(outcome, KILLED) == [9.0]


def test_a_stream_counts_until_a_new_segment_at_the_other_server(outcome: DrillOutcome) -> None:
    assert stream_waits(outcome, KILLED) == [(1.0, 4.0)]


def test_delays_and_rates_are_those_without_faults(outcome: DrillOutcome) -> None:
    summary = Summary({})
    report_drill(summary, "servers", outcome)
    figures = {figure.metric: figure.value for figure in summary.figures}
    # Positions that were sent before, and those of devices of nobody, do not count.
    assert figures["position on a WebSocket, own server, p99"] == pytest.approx(70.0)
    assert figures["position on a WebSocket, own server, p50"] == pytest.approx(70.0)
    assert figures["position on a WebSocket, other server, p99"] == pytest.approx(130.0)
    assert figures["positions per CPU second of all servers"] == 50.0
    assert figures["positions per CPU second of PostgreSQL"] == 100.0
    assert figures["take-over of a stream, worst"] == 4.0
    assert figures["next segment after its return, worst"] == 3.0


def test_a_kill_beside_another_fault_tells_nothing_of_take_overs(outcome: DrillOutcome) -> None:
    summary = Summary({})
    other = Fault("freeze", 1, 12, 85.0, 90.0)
    report_drill(summary, "servers", replace(outcome, faults=(other, KILLED)))
    assert not [figure for figure in summary.figures if "take-over" in figure.metric]


ALL = kinds(linked=True, replaced=True)


def test_episodes_of_a_seed_are_the_same_each_time() -> None:
    assert [drawn(seed, ALL) for seed in range(20)] == [drawn(seed, ALL) for seed in range(20)]
    # PostgreSQL crashes alike each time.
    assert len({drawn(seed, ALL) for seed in range(20)}) > 10


def test_all_faults_have_their_turn_where_servers_can_have_them() -> None:
    assert len(ALL) == 7
    assert {fault.name for (fault,) in usual(12, ALL)} == set(ALL)
    assert {fault.name for seed in range(60) for fault in drawn(seed, ALL)} == set(ALL)
    assert set(ALL) - set(kinds(linked=False, replaced=False)) == {KILL_NATS, CUT_LINK, REPLACE}
    kills = [fault for (fault,) in usual(12, ALL) if fault.name == KILL]
    assert {fault.on for fault in kills} == {0, 1}


def test_a_killed_process_of_a_machine_is_taken_over_at_once(outcome: DrillOutcome) -> None:
    summary = Summary({})
    report_drill(summary, "servers", replace(outcome, machines=(0,)))
    (missed,) = [each for each in summary.figures for goal in summary.goals_of(each) if not goal.is_met(each)]
    assert missed.metric == "take-over of a duty of a process of a machine, worst"
    assert missed.value == 9.0
