from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from motorpool.api.auth.one_time_codes import step_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STEP = timedelta(seconds=30)
NUMBER = int(NOW.timestamp()) // 30


def code(when, key=KEY):
    return pyotp.TOTP(key).at(when)


@pytest.mark.parametrize(("steps", "good"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_code_is_good_for_its_step_and_one_either_side(steps, good):
    assert step_of(KEY, code(NOW + steps * STEP), NOW) == (NUMBER + steps if good else None)


def test_a_code_that_lost_its_zeros_is_the_same_code():
    when = next(NOW + n * STEP for n in range(100_000) if code(NOW + n * STEP).startswith("00"))
    assert step_of(KEY, str(int(code(when))), when) == int(when.timestamp()) // 30


def test_what_is_no_code_or_no_key_is_refused():
    for text in ("", "abcdef", "١٢٣٤٥٦", "-12345", "0" * 5000, "1e5", " ", "\ud800"):
        assert step_of(KEY, text, NOW) is None
    for key in ("", "1", "not base32!", "é"):
        assert step_of(key, "123456", NOW) is None
