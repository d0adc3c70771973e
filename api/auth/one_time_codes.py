"""One-time codes of authenticator apps: six digits each thirty seconds (docs/authentication.md#login).

Each code is accepted once, so that a code seen by someone else is useless: storage/accounts/used_codes.py
keeps the step of the last one for all servers.
"""

import binascii
import hmac
from datetime import datetime

import pyotp

STEP_SECONDS = 30
DIGITS = 6
TOLERANCE = 1
"""Steps by which the clocks of user and server may differ, either way."""


def step_of(key: str, code: str, now: datetime) -> int | None:
    """Return the step, counted from 1970, whose code this is; None if it is wrong or of another time."""
    # Clients that treat the code as a number lose its leading zeros.
    code = code.strip().zfill(DIGITS)
    if not (code.isascii() and code.isdigit()):
        return None
    current_step = int(now.timestamp()) // STEP_SECONDS
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
