"""One-time codes of authenticator apps: six digits each thirty seconds (docs/authentication.md#login)."""

import binascii
import hmac
from datetime import datetime

import pyotp

__all__ = ["OneTimeCodes"]

STEP_SECONDS = 30
DIGITS = 6
TOLERANCE = 1
"""Steps by which the clocks of user and server may differ, either way."""


class OneTimeCodes:
    """Accepts each code once, so that a code seen by someone else is useless.

    Used codes are remembered until they expire, in memory only: after a restart a code may be used again
    within its ninety seconds.
    """

    def __init__(self) -> None:
        self._used: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return len(self._used)

    def accept(self, user_id: int, key: str, code: str, now: datetime) -> bool:
        """Return whether the code is right and newer than the last one that this user logged in with."""
        current_step = int(now.timestamp()) // STEP_SECONDS
        self._used = {used: step for used, step in self._used.items() if step >= current_step - TOLERANCE}
        # Clients that treat the code as a number lose its leading zeros.
        step = _step_of(key, code.strip().zfill(DIGITS), current_step)
        if step is None or step <= self._used.get((user_id, key), -1):
            return False
        self._used[user_id, key] = step
        return True


def _step_of(key: str, code: str, current_step: int) -> int | None:
    if not (code.isascii() and code.isdigit()):
        return None
    found = None
    try:
        totp = pyotp.TOTP(key)
        for step in range(current_step - TOLERANCE, current_step + TOLERANCE + 1):
            # No early exit: the time taken must not reveal the step.
            if hmac.compare_digest(totp.generate_otp(step), code):
                found = step
    except (binascii.Error, ValueError):
        return None
    return found
