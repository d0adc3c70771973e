"""The scenario `ingest`, for a moment, so that it cannot rot."""

from contextlib import nullcontext
from typing import Any

import pytest

from motorpool.bench.figures import Report
from motorpool.bench.options import BenchError, Options
from motorpool.bench.phases import rules, trackers
from motorpool.bench.scenarios import ingest, scenario
from motorpool.bench.server import run_server


@pytest.mark.long
def test_ingest_finds_every_acknowledged_position_in_the_database(
    monkeypatch: pytest.MonkeyPatch, forks: Any, measure: Any
) -> None:
    monkeypatch.setattr(rules, "GEOFENCES", 12)
    monkeypatch.setattr(ingest, "TURNS", 1)
    monkeypatch.setattr(trackers, "TURNS", 1)
    # Its PostgreSQL is its own, whose CPU is measured; one server does for both loads.
    with run_server(start=forks.start) as server:
        monkeypatch.setattr(ingest, "run_server", lambda: nullcontext(server))
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
        scenario("ingest").run(Options(protocol=protocol, udp=udp), Report({}), lambda _: None)
