"""The scenario `ingest`, for a moment, so that it cannot rot."""

from motorpool.bench.figures import Report
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario


def test_ingest_finds_every_acknowledged_position_in_the_database() -> None:
    report = Report({})
    scenario("ingest").run(Options(seconds=0.5, terminals=20), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["throughput"].reference == "echo"
    assert figures["throughput"].ratio is not None
    assert figures["acknowledged"].value > 20
    assert figures["acknowledged but not stored"].value == 0
    assert figures["rejected"].value == 0
