"""The scenario `attack`."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import chain, count, repeat
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.bench.scenarios.staging import Stage, StagedServer, missed, result, terminals

from motorpool.bench.load.attackers import ATTACKS
from motorpool.bench.load.plan import AttackResult, RequestResult
from motorpool.bench.options import Options
from motorpool.bench.phases import worst_user
from motorpool.bench.scenarios import attack
from motorpool.bench.server import Server


def store_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the worst user store a little of everything."""
    little = {"CORRIDORS": 2, "POINTS": 100, "CIRCLES": 5, "MAINTENANCES": 2, "NOTIFICATIONS": 2}
    little |= {"COMPANIES": 1, "RULES": 2, "CALENDARS": 1, "EVENTS": 1, "STEPS": 2}
    for name, number in little.items():
        monkeypatch.setattr(worst_user, name, number)


@pytest.mark.long
def test_terminals_report_and_the_server_answers_through_all_attacks(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(attack, "run_server", start_server)
    monkeypatch.setattr(attack, "SCALE", 0.02)
    store_little(monkeypatch)
    report, figures, _ = measure(
        "attack", Options(seconds=0.5, terminals=20), {"terminals alone": 0, "terminals under attack": 0}
    )
    assert figures["positions of the worst user"].value > 0
    assert figures["requests beside the worst user, p99"].value > 0
    assert figures["terminals under attack"].value > 0
    assert figures["GET /devices afterwards"].value > 0
    refused = [note for note in report.notes if "rejected" in note]
    assert all(": 0 messages rejected" in note for note in refused)
    for name in ATTACKS:
        assert any(note.startswith(f"{name}: ") for note in report.notes)


def test_memory_may_be_returned_for_as_long_however_short_the_attack_was(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    seconds = count()
    clock = SimpleNamespace(
        monotonic=lambda: next(seconds), perf_counter=lambda: next(seconds), sleep=lambda _: None
    )
    monkeypatch.setattr(attack, "time", clock)
    store_little(monkeypatch)
    sizes = chain([100_000_000, 300_000_000], repeat(250_000_000, 20), repeat(149_000_000))
    monkeypatch.setattr(StagedServer, "resident_bytes", lambda _: next(sizes))

    figures, report, _ = stage.run(
        attack,
        Options(seconds=1.0, terminals=2),
        lambda _: {"registration": False, "id": 7},
        {
            "terminals": [terminals(20), terminals(5), terminals(9)],
            "attackers": [result(AttackResult, attempts={}, ended={})],
            "requests": [result(RequestResult)] * 3,
        },
        worst_user,
    )
    assert figures["memory afterwards, grown by"].value == 49
    assert not missed(report)


def test_what_an_attack_does_to_terminals_and_to_the_server(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    seconds = count()
    clock = SimpleNamespace(
        monotonic=lambda: next(seconds), perf_counter=lambda: next(seconds), sleep=lambda _: None
    )
    monkeypatch.setattr(attack, "time", clock)

    def answer(request: httpx.Request) -> object:
        stalls = "motorpool_loop_stalls_total 2.0\nmotorpool_loop_longest_stall_seconds 0.25\n"
        return stalls if request.url.path == "/metrics" else {"registration": False, "id": 7}

    store_little(monkeypatch)
    slow = result(RequestResult, answers=4, p99_ms=251.0, failures=1, reasons=("GET /: 503",))

    figures, report, server = stage.run(
        attack,
        Options(seconds=1.0, terminals=2),
        answer,
        {
            "terminals": [terminals(20, 2.0), terminals(5, 1.0, p99_ms=251.0, rejected=1), terminals(9)],
            "attackers": [result(AttackResult, attempts={"flood": 9}, ended={"flood": 4})],
            "requests": [result(RequestResult), result(RequestResult), slow],
        },
        worst_user,
    )
    assert json.loads(server.asked[1].content)["registration"] is True
    assert (figures["terminals alone"].value, figures["terminals under attack"].value) == (10, 5)
    assert missed(report) == {"acknowledgement under attack, p99", "requests beside the worst user, p99"}
    assert figures["event loop stalls of more than 0.2 s"].value == 2
    assert figures["longest event loop stall"].value == 250
    assert report.notes == [
        "under attack: 1 messages rejected, 0 late",
        "flood: 9 attempts, 4 ended by the server",
        "1 requests of others failed: GET /: 503",
    ]
    sent = [load for name, load in stage.loads if name == "requests"]
    assert [load.port for load in sent] == [server.osmand_port, 8082, 8082]
    assert len(sent[0].messages) == 2 * worst_user.DEVICES
    assert [load.source for name, load in stage.loads if name == "attackers"] == [attack.SOURCE]
