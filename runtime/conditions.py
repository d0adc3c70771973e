"""What is wrong with the program at present: a full disk, a database that is away.

Whoever notices a condition enters it, again and again while it lasts, and whoever sees that it is over leaves
it. The log has a line for the beginning, for each other reason that turns up, and for the end; all else that
shows conditions (health, metrics, refusals) reads them here.
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

CAUSE_SECONDS: Final = 10.0
"""Least time between two causes that are shown for one reason: each caller may have its own."""

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
    """What was noticed lately, for administrators."""
    text: str
    """One line that anybody may read; the kind's, unless more is known."""


class _Record:
    """What is known of a condition while it lasts. Times are monotonic, in seconds."""

    __slots__ = ("began", "changed", "condition", "logged", "noticed")

    def __init__(self, condition: Condition, now: float) -> None:
        self.condition = condition
        self.began = self.changed = now
        self.logged = {condition.text}
        """The texts whose causes the log has."""
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
        now, text = self._clock.monotonic(), text or kind.text
        record = self._records.get(kind.name)
        if record is None:
            record = self._records[kind.name] = _Record(Condition(kind, self._clock.now(), cause, text), now)
            _log.warning("%s: %s", kind.name, cause)
            self._tell()
            return
        record.noticed += 1
        shown = record.condition
        if text != shown.text or (cause != shown.cause and now - record.changed >= CAUSE_SECONDS):
            record.condition, record.changed = Condition(kind, shown.since, cause, text), now
            self._tell()
        if text not in record.logged:
            record.logged.add(text)
            _log.warning("%s: for %.0f s, and now: %s", kind.name, now - record.began, cause)

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
