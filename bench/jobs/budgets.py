"""The jobs and what each may take (docs/performance.md#jobs-of-the-console)."""

from collections.abc import Callable

import msgspec

from motorpool.bench.jobs import acting, answering, past, setting_up, watching
from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene

Way = Callable[[Hand, Scene], float]
"""Does a job, and returns the seconds that its budget is about."""


class Job(msgspec.Struct, frozen=True):
    """A job with its budget."""

    number: int
    name: str
    clicks: int
    """Or taps."""
    keys: int | None
    """None: it has no way by keys alone that is budgeted."""
    seconds: float
    by_hand: Way
    by_keys: Way | None


class Done(msgspec.Struct, frozen=True):
    """A job as it was done."""

    number: int
    way: str
    """`mouse`, `keys` or `touch`."""
    acts: int
    seconds: float
    problem: str = ""
    """Why it was not done to its end, in one line."""


JOBS = (
    Job(1, "where it is", 1, 2, 1, watching.find_by_hand, watching.find_by_keys),
    Job(2, "its cameras", 2, 3, 0.5, watching.watch_by_hand, watching.watch_by_keys),
    Job(3, "what happened, and the film", 5, 5, 1.5, past.review_by_hand, past.review_by_keys),
    Job(4, "follow it", 2, 2, 1, watching.follow_by_hand, watching.follow_by_keys),
    Job(5, "answer an alarm", 2, 2, 1, acting.answer_by_hand, acting.answer_by_keys),
    Job(6, "yesterday as a file", 4, 3, 1.5, past.export_by_hand, past.export_by_keys),
    Job(7, "stop an engine", 4, 3, 1, acting.stop_by_hand, acting.stop_by_keys),
    Job(8, "a zone with a notice", 7, None, 1, setting_up.draw_zone, None),
    Job(9, "answer a ticket", 4, 6, 1, answering.answer_by_hand, answering.answer_by_keys),
    Job(10, "connect a tracker", 5, None, 3, setting_up.connect_tracker, None),
)
NUMBERS = tuple(job.number for job in JOBS)
