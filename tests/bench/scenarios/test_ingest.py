"""The scenario `ingest`."""

from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.bench.scenarios.staging import Stage, missed, terminals

from motorpool.bench import machine
from motorpool.bench.figures import Summary
from motorpool.bench.load import clients
from motorpool.bench.load.clients import Measured
from motorpool.bench.options import BenchError, Options
from motorpool.bench.phases import rules, trackers
from motorpool.bench.scenarios import ingest, scenario
from motorpool.bench.server import run_server
from motorpool.bench.usage import Usage


@pytest.mark.long
def test_ingest_finds_every_acknowledged_position_in_the_database(
    monkeypatch: pytest.MonkeyPatch, forks: Any, measure: Any
) -> None:
    monkeypatch.setattr(rules, "GEOFENCES", 12)
    monkeypatch.setattr(ingest, "TURNS", 1)
    monkeypatch.setattr(trackers, "TURNS", 1)
    # Its PostgreSQL is its own, whose CPU is measured; one server does for both loads.
    with run_server(start=forks.start) as server:
        monkeypatch.setattr(ingest, "run_server", lambda *_: nullcontext(server))
        options = Options(seconds=0.5, terminals=20, rules=True, protocol="teltonika")
        loads = ("acknowledged", "acknowledged of teltonika", "acknowledged with rules")
        _, figures, _ = measure("ingest", options, dict.fromkeys(loads, 20))
    assert figures["throughput"].reference == "echo"
    assert figures["throughput"].ratio is not None
    assert figures["acknowledged"].value > 20
    assert figures["acknowledged but not stored"].value == 0
    assert figures["rejected"].value == 0
    assert figures["throughput of teltonika"].reference == "jt808"
    assert figures["acknowledged of teltonika"].value > 20
    assert figures["acknowledged of teltonika but not stored"].value == 0
    assert figures["throughput with rules"].reference == "without"
    assert figures["acknowledged with rules"].value > 20
    assert figures["acknowledged with rules but not stored"].value == 0


@pytest.mark.parametrize(
    ("protocol", "udp", "problem"),
    [("gps103", False, "not acknowledged"), ("nmea", False, "teltonika"), ("ruptela", True, "no datagrams")],
)
def test_protocols_that_cannot_be_measured(protocol: str, udp: bool, problem: str) -> None:
    with pytest.raises(BenchError, match=problem):
        scenario("ingest").run(Options(protocol=protocol, udp=udp), Summary({}), lambda _: None)


def test_positions_that_were_acknowledged_are_looked_up_one_by_one(
    monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    monkeypatch.setattr(ingest, "run_echo", lambda: nullcontext((9, 99)))
    monkeypatch.setattr(machine, "cpu_seconds", lambda _: 0.0)
    phones = [f"131{number:08d}" for number in (1, 2)]

    def answer(request: httpx.Request) -> object:
        if request.url.path == "/api/devices":
            return [{"id": n, "uniqueId": phone} for n, phone in enumerate(phones)]
        begin, end = (datetime.fromisoformat(request.url.params[name]) for name in ("from", "to"))
        times = [begin + timedelta(seconds=n) for n in range(1, int((end - begin).total_seconds()))]
        # The second device has lost its last one.
        kept = times[:-1] if request.url.params["deviceId"] == "1" else times
        return [{"fixTime": each.isoformat()} for each in kept]

    echo = terminals(1000, 2.0)
    saturated = terminals(200, 1.0, answered=(120, 80), cpu_share=0.95, p99_ms=7.0)
    paced = terminals(50, 1.0, answered=(145, 105), rejected=2, p99_ms=26.0)
    figures, summary, _ = stage.run(
        ingest,
        Options(seconds=1.0, terminals=2),
        answer,
        {"terminals": [[echo, echo], [saturated, saturated, paced, paced]]},
        clients,
    )
    assert figures["throughput"].value == 200
    assert figures["throughput"].ratio == 0.4
    assert figures["throughput p99"].value == pytest.approx(7, rel=0.001)
    assert figures["throughput server CPU"].value > 0
    assert figures["acknowledged"].value == 250
    assert figures["acknowledged but not stored"].value == 1
    assert figures["rejected"].value == 2
    assert {"acknowledged but not stored", "rejected", "paced p99", "throughput"} <= missed(summary)
    assert summary.notes == [
        "database: fsync on, full_page_writes as PostgreSQL has it, synchronous_commit as PostgreSQL has it",
        "throughput: the client was at 95% of a core; the server could do more",
    ]
    assert [(load.port, load.mode) for _, load in stage.loads] == [(9, "echo"), (5015, "")]


def test_the_turn_with_the_middle_ratio_is_reported() -> None:
    def turn(answers: int) -> Measured:
        return Measured(terminals(answers), Usage(1.0, 0.5, 0.0, 0.0))

    summary = Summary({})
    turns, others = [turn(90), turn(50), turn(70)], [turn(100), turn(100), turn(100)]
    trackers.report_turns("ingest", summary, "teltonika", turns, others)
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["throughput of teltonika"].value == 70
    assert figures["throughput of teltonika"].ratio == 0.7
    assert missed(summary) == {"throughput of teltonika"}
