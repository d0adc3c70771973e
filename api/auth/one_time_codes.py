"""One-time codes of authenticator apps: six digits each thirty seconds (docs/authentication.md#login)."""

import binascii
import hmac
from datetime import datetime

import pyotp

__all__ = ["OneTimeCodes"]

STEP_SECONDS = 30
DIGITS = 6
TOLERANCE = 1
"""Steps that the clocks of user and server may differ, either way."""


class OneTimeCodes:
    """Accepts each code once: who looks over a shoulder, or reads the traffic, cannot use it again.

    What was used is remembered until it would be refused anyway. A restart forgets it, so that within those
    ninety seconds a code could serve twice.
    """

    def __init__(self) -> None:
        self._used: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return len(self._used)

    def accept(self, user_id: int, key: str, code: str, now: datetime) -> bool:
        """Whether the code is right and newer than the last one that this user logged in with."""
        present = int(now.timestamp()) // STEP_SECONDS
        self._used = {who: step for who, step in self._used.items() if step >= present - TOLERANCE}
        # Clients that take it for a number lose its zeros in front.
        step = _step_of(key, code.strip().zfill(DIGITS), present)
        if step is None or step <= self._used.get((user_id, key), -1):
            return False
        self._used[user_id, key] = step
        return True


def _step_of(key: str, code: str, present: int) -> int | None:
    if not (code.isascii() and code.isdigit()):
        return None
    found = None
    try:
        totp = pyotp.TOTP(key)
        for step in range(present - TOLERANCE, present + TOLERANCE + 1):
            # No early end: how long it takes does not tell which step it was.
            if hmac.compare_digest(totp.generate_otp(step), code):
                found = step
    except (binascii.Error, ValueError):
        return None
    return found
