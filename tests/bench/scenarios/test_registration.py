"""The scenarios `registration` and `idle`."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from tests.bench.scenarios.staging import Stage, missed, result

from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import RegistrationResult
from motorpool.bench.options import Options
from motorpool.bench.phases import registration as phase
from motorpool.bench.scenarios import idle, registration, scenario
from motorpool.bench.server import Server


@pytest.mark.long
def test_a_fleet_registers_and_is_known_the_second_time(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(registration, "run_server", start_server)
    summary = Summary({})
    scenario("registration").run(Options(idle_terminals=60), summary, lambda _: None)
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["unknown terminals"].reference == "known terminals"
    assert figures["not registered"].value == 0
    for name in ("unknown", "known"):
        assert figures[f"{name} terminals refused or not answered"].value == 0
        assert 0 < figures[f"{name} terminals p50"].value <= figures[f"{name} terminals p99"].value


@pytest.mark.long
def test_idle_reads_memory_while_all_terminals_are_connected(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(idle, "run_server", start_server)
    summary = Summary({})
    scenario("idle").run(Options(idle_terminals=200), summary, lambda _: None)
    figures = {figure.metric: figure.value for figure in summary.figures}
    assert figures["idle terminal"] > 0
    assert figures["not accepted"] == 0


def test_terminals_that_were_refused_or_are_not_known_afterwards(stage: Stage) -> None:
    unknown = result(RegistrationResult, seconds=3.0, accepted=2, unanswered=1, p50_ms=5.0, p99_ms=9.0)
    known = result(RegistrationResult, seconds=2.0, accepted=3)
    figures, summary, _ = stage.run(
        registration,
        Options(idle_terminals=3),
        lambda _: [{"id": number, "uniqueId": f"1330000000{number}"} for number in (1, 2, 4)],
        {"registrations": [unknown, known]},
        phase,
    )
    assert figures["unknown terminals"].ratio == 1.5
    assert figures["unknown terminals p99"].value == pytest.approx(9, rel=0.001)
    assert missed(summary) == {"not registered", "unknown terminals refused or not answered"}
    first, second = (load for _, load in stage.loads)
    assert first == second
    assert len(set(first.phones)) == 3


def test_idle_terminals_are_others_than_those_that_warm_the_server(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    monkeypatch.setattr(idle, "SETTLE_SECONDS", 0.0)
    accepted = [result(RegistrationResult, accepted=number) for number in (100, 199)]
    figures, summary, _ = stage.run(
        idle, Options(idle_terminals=200), lambda _: {}, {"registrations": accepted}, phase
    )
    assert figures["idle terminal"].value == 0
    assert missed(summary) == {"not accepted"}
    warm, measured = (set(load.phones) for _, load in stage.loads)
    assert len(measured) == 200
    assert not warm & measured
