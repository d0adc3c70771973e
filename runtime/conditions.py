"""What is wrong with the program at present: a full disk, a database that is away.

Whoever notices a condition enters it, again and again while it lasts, and whoever sees that it is over leaves
it. The log tells of the beginning, once a minute while it lasts, and of the end; everything else that shows
conditions (health, metrics, refusals) reads them here.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from motorpool.runtime.clock import Clock

REMINDER_SECONDS: Final = 60.0
"""Time between two log lines about a condition that lasts."""
CHANGE_SECONDS: Final = 5.0
"""The least of such a time, where what anybody may read of it has changed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConditionKind:
    """A kind of condition; there is at most one of each kind at a time."""

    name: str
    """One word, for metrics and programs."""
    text: str
    """One line that anybody may read."""
    fails_health: bool = False
    """Whether the program counts as unhealthy meanwhile."""


@dataclass(frozen=True)
class Condition:
    """A condition that is present."""

    kind: ConditionKind
    since: datetime
    cause: str
    """What was noticed last, for administrators."""
    text: str
    """One line that anybody may read; the kind's, unless more is known."""


class _Record:
    """What is counted of a condition for the log. Times are monotonic, in seconds."""

    __slots__ = ("began", "condition", "logged", "logged_text", "noticed")

    def __init__(self, condition: Condition, now: float) -> None:
        self.condition = condition
        self.began = self.logged = now
        self.logged_text = condition.text
        self.noticed = 1


class Conditions:
    """The conditions that are present."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._records: dict[str, _Record] = {}
        self._listeners: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[Condition]:
        """Iterate over the present conditions, the oldest first."""
        return iter([record.condition for record in self._records.values()])

    def find(self, kind: ConditionKind) -> Condition | None:
        """Return the condition of a kind if it is present."""
        record = self._records.get(kind.name)
        return None if record is None else record.condition

    def enter(self, kind: ConditionKind, cause: str, text: str = "") -> None:
        """Note that a condition is present, or still is, and why; `text` replaces that of the kind."""
        now = self._clock.monotonic()
        record = self._records.get(kind.name)
        if record is None:
            condition = Condition(kind, self._clock.now(), cause, text or kind.text)
            self._records[kind.name] = _Record(condition, now)
            _log.warning("%s: %s", kind.name, cause)
            self._tell()
            return
        record.noticed += 1
        if cause != record.condition.cause:
            record.condition = Condition(kind, record.condition.since, cause, text or kind.text)
            self._tell()
        is_other = record.condition.text != record.logged_text
        if now - record.logged >= (CHANGE_SECONDS if is_other else REMINDER_SECONDS):
            record.logged, record.logged_text = now, record.condition.text
            seconds = now - record.began
            _log.warning("%s: for %.0f s, seen %d times: %s", kind.name, seconds, record.noticed, cause)

    def leave(self, kind: ConditionKind) -> None:
        """Note that a condition is over, if it was present."""
        record = self._records.pop(kind.name, None)
        if record is not None:
            seconds = self._clock.monotonic() - record.began
            _log.warning("%s: over after %.0f s, seen %d times", kind.name, seconds, record.noticed)
            self._tell()

    @contextmanager
    def followed_by(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` meanwhile whenever a condition begins, changes or ends; it must not raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()


class ConditionsCollector(Collector):
    """The conditions as Prometheus metrics."""

    def __init__(self, conditions: Conditions, kinds: tuple[ConditionKind, ...], name: str) -> None:
        """`kinds` are all that there may be."""
        self._conditions = conditions
        self._kinds = kinds
        self._name = name

    def collect(self) -> Iterator[Metric]:
        """Yield 1 for each kind that is present, 0 for the others."""
        family = GaugeMetricFamily(self._name, "1 while the condition is present.", labels=["condition"])
        for kind in self._kinds:
            family.add_metric([kind.name], self._conditions.find(kind) is not None)
        yield family
