"""What the windows of a calendar cost at most: a number of steps that is known when the calendar is stored.

It holds for any time zone and any instant, so that what was accepted is evaluated within `MAX_COST`
(docs/calendars.md#cost).
"""

from collections.abc import Iterable
from datetime import UTC, timedelta

from motorpool.codecs.calendars.events import Event
from motorpool.codecs.calendars.recurrence import most_steps
from motorpool.codecs.calendars.recurrence_sets import building_steps, group_by_uid
from motorpool.codecs.calendars.time_zones import local_time

MAX_COST = 500_000
"""Steps of the dearest question: two to three seconds on a slow machine. Shifts of a week take some hundreds,
100,000 instances in two years 300,000."""
BLOCK_DAYS = 30
"""Windows are kept for blocks of this many days since 1970."""
MAX_BLOCKS = 32
"""The longest span that is evaluated at once, in blocks."""
PIECES = (1, 2, 4, 8, 16, MAX_BLOCKS)
"""The spans, in blocks, in which the next edge is looked for: 1,830 days, wherever in a block they begin."""


def evaluation_cost(events: Iterable[Event]) -> int:
    """Return the most steps of finding the next edge among the windows of 1,830 days.

    No other question takes more: whether a calendar is open is answered from the first of these spans, and
    windows are listed in spans as long as the last.
    """
    cost = 0
    for mains, changes in group_by_uid(events):
        later = [change for change in changes if change.this_and_future]
        longest = max((change.length for change in later), default=timedelta(0))
        shifts = [timedelta(0), *map(_shift, later)]
        # As in `RecurrenceSet`, with a day for clock changes before and behind. Here times are in UTC: an
        # offset may differ by two days at the ends of a span, and by as much for each shift.
        moved = max(shifts) - min(shifts) + timedelta(days=8 if later else 4)
        for main in mains:
            cost += building_steps(main, changes) + len(PIECES) * (1 + len(changes))
            if main is not None and (main.rules or main.dates or main.exclusion_rules):
                lengths = [longest, main.length, *(length for _, length in main.dates)]
                cost += _recurrence_steps(main, max(lengths) + moved)
    return cost


def _recurrence_steps(main: Event, reach: timedelta) -> int:
    """Return the most steps of finding the instances of all pieces, which may lie outside by `reach`."""
    steps = len(PIECES) * (1 + len(main.dates))
    for rule, until in (*main.rules, *main.exclusion_rules):
        active = None
        if until is not None:
            active = (local_time(until, UTC) - local_time(main.start, UTC)).days + 4
        for blocks in PIECES:
            days = blocks * BLOCK_DAYS + reach.days + 2
            steps += most_steps(rule, days if active is None else min(days, active))
    return steps


def _shift(change: Event) -> timedelta:
    assert change.recurrence_id is not None
    return local_time(change.start, UTC) - local_time(change.recurrence_id, UTC)
