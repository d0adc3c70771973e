"""Figures of a bench run, their JSON, and the comparison of two runs."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from motorpool.bench.latencies import Latencies

FULL_CLIENT = 0.9
"""Share of a core above which the client, not the server, limits what was measured."""
LATE_CLIENT = 0.5
"""Share of a latency above which it is the client's own delay rather than the server's."""
NOT_HERE = "the server is not on this machine, or did nothing"
NO_DATABASE = "--database-pid does not say which it is, or nothing was done"
"""Why CPU and memory are not known."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value, and its ratio to a reference measured in the same run."""

    scenario: str
    metric: str
    value: float | None
    """None: the server has nothing of the kind, or it cannot be known here."""
    unit: str
    reference: str | None = None
    """Name of the reference."""
    ratio: float | None = None
    """Value divided by the reference; None without one."""
    absent: str | None = None
    """Why there is no value."""
    must: str | None = None
    """Its goals, as the table shows them."""


class Goal(msgspec.Struct, frozen=True):
    """Limit of a figure: of its ratio if `of_ratio`, otherwise of its value."""

    limit: float
    at_least: bool = False
    of_ratio: bool = False

    def is_met(self, figure: Figure) -> bool:
        """Return whether the figure meets the goal."""
        number = figure.ratio if self.of_ratio else figure.value
        if number is None:
            return False
        return number >= self.limit if self.at_least else number <= self.limit

    def __str__(self) -> str:
        """Format it for the table: "≥ 0.5 x"."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{' x' if self.of_ratio else ''}"


class Line(msgspec.Struct, frozen=True):
    """A line of a plot."""

    name: str
    points: list[tuple[float, float]]


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Lines over a common axis."""

    title: str
    x: str
    """Names of the axes, with their units."""
    y: str
    log_x: bool = False
    lines: list[Line]


class Summary:
    """Collects the figures of a run."""

    def __init__(self, machine: Mapping[str, str | int | float]) -> None:
        self.machine = machine
        self.figures: list[Figure] = []
        self.goals: dict[tuple[str, str], Goal] = {}
        self.notes: list[str] = []
        self.samples: list[Mapping[str, float]] = []
        """Values over time, for the JSON."""
        self.plots: list[Plot] = []

    def add(
        self,
        scenario: str,
        metric: str,
        value: float,
        unit: str,
        *,
        reference: str | None = None,
        beside: float | None = None,
        goals: tuple[Goal, ...] = (),
    ) -> Figure:
        """Add a figure; `beside` is the value of the reference, in the same unit.

        A value of NaN could not be known, such as the CPU of a server on another machine.
        """
        if math.isnan(value):
            return self.add_absent(scenario, metric, unit, NO_DATABASE if "database" in metric else NOT_HERE)
        ratio = value / beside if beside else None
        figure = Figure(
            scenario=scenario,
            metric=metric,
            value=_rounded(value),
            unit=unit,
            reference=reference,
            ratio=None if ratio is None or math.isnan(ratio) else _rounded(ratio),
            must="  ".join(map(str, goals)) or None,
        )
        self.figures.append(figure)
        for goal in goals:
            self.goals[scenario, f"{metric}{' to reference' if goal.of_ratio else ''}"] = goal
        return figure

    def add_absent(self, scenario: str, metric: str, unit: str, reason: str) -> Figure:
        """Add a figure without a value: what the server lacks, or what cannot be known of it, and why."""
        figure = Figure(scenario=scenario, metric=metric, value=None, unit=unit, absent=reason)
        self.figures.append(figure)
        return figure

    def add_latencies(
        self, scenario: str, what: str, latencies: Latencies, *, goals: tuple[Goal, ...] = ()
    ) -> None:
        """Add percentiles of what took that long, and their curve; `goals` are those of p99."""
        if not len(latencies):
            self.add_absent(scenario, f"{what} p99", "ms", "nothing was measured")
            return
        for name, share, must in (("p50", 0.5, ()), ("p99", 0.99, goals), ("p99.9", 0.999, ())):
            self.add(scenario, f"{what} {name}", latencies.percentile_ms(share), "ms", goals=must)
        line = Line(what, latencies.tail())
        title = f"{scenario}: latencies"
        for plot in self.plots:
            if plot.title == title:
                plot.lines.append(line)
                return
        self.plots.append(Plot(title=title, x="one in so many is longer", y="ms", log_x=True, lines=[line]))

    def note_client(self, what: str, cpu_share: float, lag_ms: float = 0.0, p99_ms: float = 0.0) -> None:
        """Say so if the client was the bottleneck: it had no CPU left, or sent later than it was to.

        `lag_ms` is how late it sent what nothing else delayed, `p99_ms` the latency that includes this.
        """
        if cpu_share > FULL_CLIENT:
            self.note(f"{what}: the client was at {cpu_share:.0%} of a core; the server could do more")
        elif p99_ms and lag_ms > LATE_CLIENT * p99_ms:
            self.note(
                f"{what}: the client sent up to {lag_ms:.3g} ms late (p99), which is most of the latency"
                " that was measured"
            )

    def goals_of(self, figure: Figure) -> list[Goal]:
        """Return the goals of a figure."""
        keys = ((figure.scenario, figure.metric), (figure.scenario, f"{figure.metric} to reference"))
        return [self.goals[key] for key in keys if key in self.goals]

    def is_met(self, figure: Figure) -> bool:
        """Return whether a figure meets all its goals."""
        return all(goal.is_met(figure) for goal in self.goals_of(figure))

    def note(self, sentence: str) -> None:
        """Add a remark: a missing package, a client at its limit."""
        self.notes.append(sentence)

    def write(self, path: Path, changes: Sequence[msgspec.Struct] = ()) -> None:
        """Write the JSON described in docs/performance.md#json; `changes` are those of a comparison."""
        content: dict[str, object] = {
            "machine": dict(self.machine),
            "results": [msgspec.to_builtins(f) for f in self.figures],
            "notes": self.notes,
        }
        if changes:
            content["changes"] = [msgspec.to_builtins(change) for change in changes]
        if self.plots:
            content["plots"] = [msgspec.to_builtins(plot) for plot in self.plots]
        if self.samples:
            content["samples"] = self.samples
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _rounded(number: float) -> float:
    """Format with four significant digits."""
    return float(f"{number:.4g}")
