"""Ratios of two sides and their intervals."""

import pytest

from motorpool.bench.comparison import Change, compare
from motorpool.bench.figures import Figure


def run(value: float | None, metric: str = "throughput", ratio: float | None = None) -> list[Figure]:
    reference = "echo" if ratio else None
    return [
        Figure(scenario="ingest", metric=metric, value=value, unit="/s", reference=reference, ratio=ratio)
    ]


def only(changes: list[Change]) -> Change:
    (change,) = changes
    return change


def test_turns_are_compared_pair_by_pair() -> None:
    # The machine became twice as slow meanwhile; the second side is always a tenth quicker.
    before = [run(100), run(80), run(50)]
    after = [run(110), run(88), run(55)]
    change = only(compare(before, after, in_turns=True))
    assert change.ratio == pytest.approx(1.1)
    assert change.low == pytest.approx(1.1)
    assert change.high == pytest.approx(1.1)
    assert change.is_sure


def test_the_interval_of_turns_is_that_of_student() -> None:
    # Logarithms of the ratios: 0.1 and 0.3, so the mean is 0.2, its error 0.1 and t of one degree 12.706.
    before = [run(1.0), run(1.0)]
    after = [run(1.1051709), run(1.3498588)]
    change = only(compare(before, after, in_turns=True))
    assert change.ratio == pytest.approx(1.2214028)
    assert change.low == pytest.approx(2.718281828 ** (0.2 - 1.2706))
    assert change.high == pytest.approx(2.718281828 ** (0.2 + 1.2706))
    assert not change.is_sure


def test_single_runs_have_no_interval_and_are_compared_by_their_references() -> None:
    change = only(compare([run(100, ratio=0.5)], [run(400, ratio=0.6)], in_turns=False))
    assert (change.before, change.after, change.unit) == (0.5, 0.6, "x echo")
    assert change.ratio == pytest.approx(1.2)
    assert (change.low, change.high, change.is_sure) == (None, None, False)


def test_runs_apart_are_compared_by_means() -> None:
    before = [run(100), run(101), run(99)]
    after = [run(200), run(202)]
    change = only(compare(before, after, in_turns=False))
    assert change.ratio == pytest.approx(2.01, rel=0.001)
    assert change.low is not None
    assert change.high is not None
    assert 1.9 < change.low < change.ratio < change.high < 2.1


@pytest.mark.parametrize("values", [(0.0, 3.0), (3.0, 0.0)])
def test_of_nothing_there_is_no_ratio(values: tuple[float, float]) -> None:
    change = only(compare([run(values[0])], [run(values[1])], in_turns=True))
    assert (change.before, change.after, change.ratio) == (*values, None)


def test_what_one_side_does_not_have_is_not_there() -> None:
    change = only(compare([run(None)], [run(3)], in_turns=True))
    assert (change.before, change.after, change.ratio) == (None, 3, None)
    changes = compare([run(3, "p50")], [run(4, "p99")], in_turns=True)
    assert [(each.metric, each.before, each.after) for each in changes] == [
        ("p99", None, 4),
        ("p50", 3, None),
    ]
    # In one of its runs it was missing.
    change = only(compare([run(None), run(3)], [run(4), run(4)], in_turns=True))
    assert (change.before, change.after) == (None, 4)
    assert compare([run(None)], [run(None)], in_turns=True) == []


def test_a_scenario_of_one_side_only_is_left_out() -> None:
    other = [Figure(scenario="api", metric="throughput", value=1, unit="/s")]
    assert compare([run(3)], [other], in_turns=True) == []
    assert [each.scenario for each in compare([run(3)], [other + run(4)], in_turns=True)] == ["ingest"]
