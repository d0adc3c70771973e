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
    before: float
    """Mean of the runs of the first side."""
    after: float
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
    """Compare the metrics that all runs of both sides have, in the order of the last run.

    Where the runs were made by turns on this machine, values are compared, each with the one of its turn:
    what made the machine slower made both slower. Otherwise ratios to references are compared where there are
    some: they hold from machine to machine, absolutes do not.
    """
    found = []
    for figure in after[-1]:
        key = figure.scenario, figure.metric
        sides = [
            [each for run in runs for each in run if (each.scenario, each.metric) == key]
            for runs in (before, after)
        ]
        if len(sides[0]) != len(before) or len(sides[1]) != len(after):
            continue
        by_ratio = not in_turns and all(each.ratio is not None for each in chain(*sides))
        values = [[each.ratio if by_ratio else each.value for each in side] for side in sides]
        first, second = ([value for value in side if value is not None] for side in values)
        if len(first) != len(before) or len(second) != len(after):
            continue
        ratio, low, high = _ratio(first, second, in_turns=in_turns)
        found.append(
            Change(
                scenario=figure.scenario,
                metric=figure.metric,
                unit=f"x {figure.reference}" if by_ratio else figure.unit,
                before=statistics.fmean(first),
                after=statistics.fmean(second),
                ratio=ratio,
                low=low,
                high=high,
            )
        )
    return found


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
