"""Counts deliveries and failures of forwarded messages, and logs totals instead of a line for each."""

import logging
from collections.abc import Callable
from typing import Literal

from motorpool.actors.messages.counters import FORWARD_DROPPED, FORWARDED, begin_at_zero

LOG_SECONDS = 60.0
"""Least time between two lines about dropped messages."""
DropReason = Literal["full", "refused", "expired"]
REASONS: dict[DropReason, str] = {
    "full": "the queue is full",
    "refused": "they were refused",
    "expired": "they could not be delivered in time",
}


class DeliveryLog:
    """The log of one destination: a line when it fails, when it works again, and about dropped messages."""

    def __init__(
        self, name: str, log: logging.LoggerAdapter[logging.Logger], monotonic: Callable[[], float]
    ) -> None:
        """`name` must not contain a secret: of a URL only the host."""
        self._name = name
        self._log = log
        self._monotonic = monotonic
        self._failing = False
        self._dropped: dict[DropReason, int] = {}
        self._next_line: dict[DropReason, float] = {}
        for reason in REASONS:
            begin_at_zero(reason, FORWARD_DROPPED)

    def delivered(self) -> None:
        """Count a delivered message."""
        FORWARDED.value += 1
        if self._failing:
            self._failing = False
            self._log.info("forwarding to %s works again", self._name)

    def failed(self, error: object) -> None:
        """The destination is unavailable; attempts will be repeated."""
        if not self._failing:
            self._failing = True
            self._log.warning("forwarding to %s fails and is repeated: %s", self._name, error)

    def dropped(self, reason: DropReason, count: int = 1, error: object = None) -> None:
        """Count messages that will never be delivered."""
        FORWARD_DROPPED.labels(reason).inc(count)
        self._dropped[reason] = self._dropped.get(reason, 0) + count
        now = self._monotonic()
        if now >= self._next_line.get(reason, now):
            self._next_line[reason] = now + LOG_SECONDS
            self._log.warning(
                "forwarding to %s: %d messages dropped, because %s%s",
                self._name,
                self._dropped.pop(reason),
                REASONS[reason],
                f": {error}" if error is not None else "",
            )
