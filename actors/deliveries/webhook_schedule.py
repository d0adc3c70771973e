"""When a message to a webhook that was not delivered is tried again (docs/events.md#webhooks)."""

import random
from collections.abc import Callable
from datetime import timedelta

DELAYS_SECONDS = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)
"""Delay after each failed attempt at a message, the last one for all others too; each times 0.8 to 1.2."""
OVERTAKEN_ATTEMPTS = 3
"""A message that failed so often no longer holds back later ones."""
CLOSED_FAILURES = 5
"""After so many failures in a row only one message is tried at a time, whatever it is that fails."""
MAX_ATTEMPTS = 10
"""A message that failed so often is given up."""
GONE_AFTER = timedelta(hours=72)
GONE_FAILURES = 10
"""A receiver gets no more messages when it has failed so often, for so long, without a success."""

Spread = Callable[[float, float], float]
"""Returns a random number between two."""
_UNIFORM = random.SystemRandom().uniform


def delay_seconds(failed: int, uniform: Spread = _UNIFORM) -> float:
    """Return how long to wait after an attempt at a message that had `failed` so often before."""
    return DELAYS_SECONDS[min(failed, len(DELAYS_SECONDS) - 1)] * uniform(0.8, 1.2)
