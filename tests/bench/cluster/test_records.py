"""Which edges were due, and how many records each has."""

from motorpool.bench.cluster.records import EdgeRun, edges
from motorpool.bench.cluster.shifts import Shifts


def test_each_edge_that_is_due_has_its_records() -> None:
    shifts = Shifts(((1, 7),), (100.0, 104.0, 108.0), (102.0, 106.0, 110.0))
    due = shifts.due(101.0, 106.0)
    assert due == {"start": (104.0,), "end": (102.0, 106.0)}
    runs = [
        EdgeRun(1, 7, "end", 102.0, 102.1),
        EdgeRun(1, 7, "end", 102.0, 102.2),
        EdgeRun(1, 7, "start", 104.0, 104.1),
        # Not due for long, but it has fired.
        EdgeRun(1, 7, "start", 108.0, 108.1),
    ]
    found = {each.instant: each.runs for each in edges(runs, shifts.targets, due)}
    assert found == {102.0: 2, 104.0: 1, 106.0: 0, 108.0: 1}
