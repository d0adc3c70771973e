"""The kept figures, and the table that is written from them."""

from pathlib import Path

import pytest

from motorpool.bench import baseline
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError
from motorpool.bench.scenarios import names


def test_the_table_of_the_docs_is_that_of_the_kept_figures() -> None:
    page = baseline.PAGE.read_text(encoding="utf-8")
    assert page == baseline.with_table(page, baseline.read_run(baseline.FILE))


def test_kept_figures_are_of_scenarios_that_there_are() -> None:
    assert {figure.scenario for figure in baseline.read_run(baseline.FILE).results} <= set(names())


def test_keeping_writes_file_and_table(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"before\n\n{baseline.BEGIN}\nold\n{baseline.END}\n\nafter\n", encoding="utf-8")
    summary = Summary({"cores": 2, "commit": "abc"})
    summary.add("ingest", "paced p99", 12_345.6, "ms", goals=(Goal(25),))
    summary.add("ingest", "throughput", 20_000, "messages/s", reference="echo", beside=40_000)
    summary.add("ingest", "rejected", 0, "positions")
    file = tmp_path / "baseline.json"
    baseline.keep(summary, file, page)
    assert page.read_text(encoding="utf-8") == (
        f"before\n\n{baseline.BEGIN}\n\ncommit abc, cores 2:\n\n"
        "| scenario | metric | measured | must be |\n| --- | --- | --- | --- |\n"
        "| ingest | paced p99 | 12,350 ms | ≤ 25 |\n"
        "| ingest | throughput | 20,000 messages/s (0.5 x echo) |  |\n\n"
        f"{baseline.END}\n\nafter\n"
    )
    assert len(baseline.read_run(file).results) == 3
    # A run of other scenarios keeps these.
    later = Summary({"commit": "def"})
    later.add("api", "GET", 3, "µs")
    baseline.keep(later, file, page)
    assert [each.scenario for each in baseline.read_run(file).results] == ["api", *["ingest"] * 3]
    written = page.read_text(encoding="utf-8")
    assert "commit def, earlier runs of ingest:" in written
    assert "| ingest | paced p99 | 12,350 ms |" in written


def test_where_there_is_no_checkout_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="checkout"):
        baseline.keep(Summary({}), tmp_path / "a.json", tmp_path / "performance.md")
    assert not (tmp_path / "a.json").exists()
