from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from motorpool.api.auth.one_time_codes import OneTimeCodes

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STEP = timedelta(seconds=30)


def code(when, key=KEY):
    return pyotp.TOTP(key).at(when)


@pytest.mark.parametrize(("steps", "good"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_code_is_good_for_its_step_and_one_either_side(steps, good):
    assert OneTimeCodes().accept(1, KEY, code(NOW + steps * STEP), NOW) is good


def test_a_code_and_the_ones_before_it_are_good_once():
    codes = OneTimeCodes()
    assert codes.accept(1, KEY, code(NOW), NOW)
    assert not codes.accept(1, KEY, code(NOW), NOW)
    assert not codes.accept(1, KEY, code(NOW - STEP), NOW)
    later = NOW + STEP
    assert not codes.accept(1, KEY, code(NOW), later)
    assert codes.accept(1, KEY, code(later), later)
    # The clock of the server was set back: what was used stays used.
    assert not codes.accept(1, KEY, code(later), NOW)


def test_users_and_keys_have_codes_of_their_own():
    codes = OneTimeCodes()
    other = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
    assert codes.accept(1, KEY, code(NOW), NOW)
    assert codes.accept(2, KEY, code(NOW), NOW)
    assert codes.accept(1, other, code(NOW, other), NOW)


def test_a_code_that_lost_its_zeros_is_the_same_code():
    when = next(NOW + n * STEP for n in range(100_000) if code(NOW + n * STEP).startswith("00"))
    assert OneTimeCodes().accept(1, KEY, str(int(code(when))), when)


def test_what_is_no_code_or_no_key_is_refused():
    for text in ("", "abcdef", "١٢٣٤٥٦", "-12345", "0" * 5000, "1e5", " ", "\ud800"):
        assert not OneTimeCodes().accept(1, KEY, text, NOW)
    for key in ("", "1", "not base32!", "é"):
        assert not OneTimeCodes().accept(1, key, "123456", NOW)


def test_what_would_be_refused_anyway_is_forgotten():
    codes = OneTimeCodes()
    for number in range(50):
        assert codes.accept(number, KEY, code(NOW), NOW)
    assert len(codes) == 50
    codes.accept(99, KEY, "0", NOW + 3 * STEP)
    assert len(codes) == 0
