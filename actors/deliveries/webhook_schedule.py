"""The retry schedule of webhooks (docs/events.md#webhooks)."""

import random
from collections.abc import Callable
from datetime import timedelta

DELAYS_SECONDS = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)
"""Delays after the failed attempts at a message; the last one repeats. Each is multiplied by 0.8 to 1.2."""
OVERTAKEN_ATTEMPTS = 3
"""Failed attempts after which a message no longer holds back later ones."""
CLOSED_FAILURES = 5
"""Consecutive failures of a receiver after which only one message is tried at a time."""
MAX_ATTEMPTS = 10
"""Failed attempts after which a message is given up."""
GONE_AFTER = timedelta(hours=72)
GONE_FAILURES = 10
"""Consecutive failures, over `GONE_AFTER` at least, after which a receiver gets no more messages."""

Spread = Callable[[float, float], float]
"""Returns a random number between two bounds."""
_UNIFORM = random.SystemRandom().uniform


def delay_seconds(failed: int, uniform: Spread = _UNIFORM) -> float:
    """Return the delay after a failed attempt at a message that had failed `failed` times before."""
    return DELAYS_SECONDS[min(failed, len(DELAYS_SECONDS) - 1)] * uniform(0.8, 1.2)
