"""Days of vehicles whose true motion is known, and what their trackers tell of them; pure.

`make_day(kind, seed)` makes one. What counts as a stop and as a trip stands in `bench.roads.truth`.
"""

from motorpool.bench.roads.conditions import CALM, Conditions
from motorpool.bench.roads.day import Day, make_day
from motorpool.bench.roads.kinds import KINDS
from motorpool.bench.roads.report import Report
from motorpool.bench.roads.truth import Stop, Trip

__all__ = ["CALM", "KINDS", "Conditions", "Day", "Report", "Stop", "Trip", "make_day"]
