"""What a bench run is asked to do, and what a scenario is."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from motorpool.bench.figures import Report


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The command line of `motorpool bench`, as the scenarios see it."""

    seconds: float | None = None
    """Of each measured span; None: what the scenario finds right."""
    minutes: float = 10.0
    """Of a play (scenario `play`)."""
    terminals: int = 1000
    idle_terminals: int = 10_000
    streams: int = 400
    actors: int = 100_000
    schedules: int = 10_000

    def span(self, usual: float) -> float:
        """How long to measure what is usually measured for so many seconds."""
        return usual if self.seconds is None else self.seconds


Step = Callable[[str], None]
"""Says what comes next; advances the progress bar."""


class Scenario(Protocol):
    """A module of `bench.scenarios`."""

    TITLE: str
    """One line for `--list`."""
    STEPS: int
    """How often `run` calls `step`."""

    def run(self, options: Options, report: Report, step: Step) -> None:
        """Measure, and add figures to the report.

        Raises:
            BenchError: it cannot be measured here, in one sentence.
        """


class BenchError(Exception):
    """A scenario cannot be run here; the text is one sentence for the operator."""
