"""Runs of scenarios: for a moment, and without processes."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import pytest
from tests.bench.scenarios.staging import Stage

from motorpool.bench.figures import Figure, Summary
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import scenario

LONGER = (1, 8, 40)
"""How much longer the spans of the next try are."""


class Measured(NamedTuple):
    """The last run of a scenario."""

    summary: Summary
    figures: dict[str, Figure]
    """By their metrics."""
    steps: list[str]


class Measure(Protocol):
    def __call__(
        self, name: str, options: Options, more_than: Mapping[str, float], too_late: str | None = None
    ) -> Measured: ...


@pytest.fixture
def measure() -> Measure:
    """`measure(name, options, {metric: count})`: a run of the scenario.

    A busy machine may stop a load for all of so short a span. Where a figure is not more than its count, or a
    BenchError matches `too_late`, the scenario runs again with longer spans; the last run is for the test to
    judge.
    """

    def run(
        name: str, options: Options, more_than: Mapping[str, float], too_late: str | None = None
    ) -> Measured:
        assert options.seconds is not None
        for factor in LONGER:
            summary, steps = Summary({}), list[str]()
            longer = msgspec.structs.replace(options, seconds=factor * options.seconds)
            try:
                scenario(name).run(longer, summary, steps.append)
            except BenchError as error:
                if factor == LONGER[-1] or too_late is None or not re.search(too_late, str(error)):
                    raise
                continue
            figures = {figure.metric: figure for figure in summary.figures}
            # A count of nothing may have no figure.
            if all(
                metric in figures and figures[metric].value > least for metric, least in more_than.items()
            ):
                break
        return Measured(summary, figures, steps)

    return run


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    """`stage.run(module, options, answer, results)`: a scenario without processes."""
    return Stage(monkeypatch, tmp_path)
