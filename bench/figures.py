"""Figures of a bench run, their JSON, and the comparison of two runs."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value, and its ratio to a reference measured in the same run."""

    scenario: str
    metric: str
    value: float
    unit: str
    reference: str | None = None
    """Name of the reference."""
    ratio: float | None = None
    """Value divided by the reference; None without one."""


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


class Summary:
    """Collects the figures of a run."""

    def __init__(self, machine: Mapping[str, str | int | float]) -> None:
        self._machine = machine
        self.figures: list[Figure] = []
        self.goals: dict[tuple[str, str], Goal] = {}
        self.notes: list[str] = []
        self.samples: list[Mapping[str, float]] = []
        """Values over time, for the JSON."""

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
        """Add a figure; `beside` is the value of the reference, in the same unit."""
        ratio = value / beside if beside else None
        figure = Figure(
            scenario=scenario,
            metric=metric,
            value=_rounded(value),
            unit=unit,
            reference=reference,
            ratio=None if ratio is None else _rounded(ratio),
        )
        self.figures.append(figure)
        for goal in goals:
            self.goals[scenario, f"{metric}{' to reference' if goal.of_ratio else ''}"] = goal
        return figure

    def goals_of(self, figure: Figure) -> list[Goal]:
        """Return the goals of a figure."""
        keys = ((figure.scenario, figure.metric), (figure.scenario, f"{figure.metric} to reference"))
        return [self.goals[key] for key in keys if key in self.goals]

    def note(self, sentence: str) -> None:
        """Add a remark: a missing package, a client at its limit."""
        self.notes.append(sentence)

    def write(self, path: Path) -> None:
        """Write the JSON described in docs/performance.md#json."""
        content: dict[str, object] = {
            "machine": dict(self._machine),
            "results": [msgspec.to_builtins(f) for f in self.figures],
        }
        if self.samples:
            content["samples"] = self.samples
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_figures(path: Path) -> list[Figure]:
    """Read the figures of an earlier run.

    Raises:
        OSError, msgspec.MsgspecError: there is none.
    """

    class Written(msgspec.Struct):
        results: list[Figure]

    return msgspec.json.decode(path.read_bytes(), type=Written).results


class Difference(msgspec.Struct, frozen=True):
    """A metric in two runs."""

    scenario: str
    metric: str
    unit: str
    before: float
    after: float

    @property
    def change(self) -> float | None:
        """After to before, as a share: 0.1 is ten per cent more; None where before was 0."""
        return self.after / self.before - 1 if self.before else None


def differences(before: list[Figure], after: list[Figure]) -> list[Difference]:
    """Compare the metrics that both runs have, in the order of the later one.

    Where a figure has a ratio, ratios are compared: they hold from machine to machine, absolutes do not.
    """
    earlier = {(figure.scenario, figure.metric): figure for figure in before}
    found = []
    for figure in after:
        other = earlier.get((figure.scenario, figure.metric))
        if other is None:
            continue
        if figure.ratio is not None and other.ratio is not None:
            pair, unit = (other.ratio, figure.ratio), f"x {figure.reference}"
        else:
            pair, unit = (other.value, figure.value), figure.unit
        found.append(Difference(figure.scenario, figure.metric, unit, *pair))
    return found


def _rounded(number: float) -> float:
    """Format with four significant digits."""
    return float(f"{number:.4g}")
