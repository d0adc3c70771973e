"""Two servers, checkouts or earlier runs beside each other: the ratio of each metric, and how sure it is."""

import math
import statistics
from collections.abc import Sequence
from itertools import chain

import msgspec

from motorpool.bench.figures import Figure

_T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145),
    *(2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045),
)
"""Student's t for 95 % on both sides, by degrees of freedom from 1 on."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of two sides."""

    scenario: str
    metric: str
    unit: str
    before: float | None
    """Mean of the runs of the first side; None: it is not there."""
    after: float | None
    ratio: float | None
    """Geometric mean of the ratios of the second to the first; None where one of them is not above 0."""
    low: float | None
    """With `high` the interval that has the ratio in it with 95 %; None of single runs."""
    high: float | None

    @property
    def is_sure(self) -> bool:
        """Whether the interval says that they differ."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


def compare(
    before: Sequence[Sequence[Figure]], after: Sequence[Sequence[Figure]], *, in_turns: bool
) -> list[Change]:
    """Compare the metrics of the scenarios that both sides have, in the order of the last run.

    Where the runs were made by turns on this machine, values are compared, each with the one of its turn:
    what made the machine slower made both slower. Otherwise ratios to references are compared where there are
    some: they hold from machine to machine, absolutes do not. What not all runs of a side have is not there.
    """
    both = {each.scenario for each in before[-1]} & {each.scenario for each in after[-1]}
    units = {
        (each.scenario, each.metric): each for each in (*before[-1], *after[-1]) if each.scenario in both
    }
    order = dict.fromkeys((each.scenario, each.metric) for each in (*after[-1], *before[-1]))
    found = []
    for key in [key for key in order if key in units]:
        sides = [
            [each for run in runs for each in run if (each.scenario, each.metric) == key]
            for runs in (before, after)
        ]
        by_ratio = not in_turns and all(each.ratio is not None for each in chain(*sides))
        first, second = (
            _values(side, len(runs), by_ratio=by_ratio)
            for side, runs in zip(sides, (before, after), strict=True)
        )
        if not first and not second:
            continue
        figure = units[key]
        ratio, low, high = (
            _ratio(first, second, in_turns=in_turns) if first and second else (None, None, None)
        )
        found.append(
            Change(
                scenario=figure.scenario,
                metric=figure.metric,
                unit=f"x {figure.reference}" if by_ratio else figure.unit,
                before=statistics.fmean(first) if first else None,
                after=statistics.fmean(second) if second else None,
                ratio=ratio,
                low=low,
                high=high,
            )
        )
    return found


def _values(side: Sequence[Figure], runs: int, *, by_ratio: bool) -> list[float]:
    """Return the values, or ratios, of a metric in the runs of a side; none if it is not in all of them."""
    values = [each.ratio if by_ratio else each.value for each in side]
    known = [value for value in values if value is not None]
    return known if len(known) == runs else []


def _ratio(
    before: Sequence[float], after: Sequence[float], *, in_turns: bool
) -> tuple[float | None, float | None, float | None]:
    """Return the ratio and its interval: of logarithms, since ratios are not symmetric."""
    if min(*before, *after) <= 0:
        return None, None, None
    first, second = [math.log(value) for value in before], [math.log(value) for value in after]
    middle = statistics.fmean(second) - statistics.fmean(first)
    if in_turns:
        differences = [own - other for own, other in zip(second, first, strict=True)]
        if len(differences) < 2:
            return math.exp(middle), None, None
        error, degrees = statistics.stdev(differences) / math.sqrt(len(differences)), len(differences) - 1
    else:
        if min(len(first), len(second)) < 2:
            return math.exp(middle), None, None
        error, degrees = _welch(first, second)
    reach = (_T95[degrees - 1] if degrees <= len(_T95) else 1.96) * error
    return math.exp(middle), math.exp(middle - reach), math.exp(middle + reach)


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, int]:
    """Return the standard error of the difference of two means, and the degrees of freedom (Welch)."""
    parts = [statistics.variance(side) / len(side) for side in (first, second)]
    if not sum(parts):
        return 0.0, len(first) + len(second) - 2
    shares = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True))
    return math.sqrt(sum(parts)), max(1, int(sum(parts) ** 2 / shares))
