from datetime import UTC, datetime, timedelta

import jwt
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.auth.tokens import LOGINS, RESET, SESSION, SHARE, InvalidToken, issue, read
from motorpool.storage.accounts.signing_keys import SigningKey

RAW = bytes(range(32))
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def keys(*values, accepted_until=None):
    """Keys of which the first signs."""
    made = [SigningKey(9 - number, value, NOW, None) for number, value in enumerate(values)]
    old = [msgspec.structs.replace(key, accepted_until=accepted_until) for key in made[1:]]
    return SigningKeys(None, [made[0], *old])


KEY = keys(RAW)


def test_a_token_tells_its_user_purpose_times_and_what_its_maker_added():
    now = NOW + timedelta(microseconds=123_457)
    text, token = issue(KEY, 42, SESSION, NOW + 7 * DAY, now=now, extra={"by": "7"})
    assert read(KEY, text, LOGINS, now=NOW) == token
    assert (token.user_id, token.purpose, token.issuer_id) == (42, "session", 7)
    assert token.issued == now
    assert token.expires == NOW + 7 * DAY
    assert text.count(".") == 2


def test_a_token_of_the_earlier_form_counts_as_issued_long_ago():
    claims = {"jti": "x", "sub": "42", "aud": "session", "exp": 4102444800}
    token = read(KEY, jwt.encode(claims, RAW, algorithm="HS256"), LOGINS, now=NOW)
    assert token.issued == datetime(1970, 1, 1, tzinfo=UTC)
    assert (token.user_id, token.issuer_id) == (42, 0)


@pytest.mark.parametrize("purpose", ["session", "share", "reset", "openid"])
def test_a_token_for_another_purpose_is_refused(purpose):
    text, token = issue(KEY, 42, purpose, NOW + DAY, now=NOW)
    for other in ("session", "share", "reset", "openid"):
        if other == purpose:
            assert read(KEY, text, {other}, now=NOW) == token
        else:
            with pytest.raises(InvalidToken, match="another purpose"):
                read(KEY, text, {other}, now=NOW)


def test_logins_are_sessions_and_shares_and_nothing_else():
    assert set(LOGINS) == {SESSION, SHARE}
    text, _ = issue(KEY, 42, RESET, NOW + DAY, now=NOW)
    with pytest.raises(InvalidToken, match="another purpose"):
        read(KEY, text, LOGINS, now=NOW)


def test_an_expired_token_is_refused_unless_it_is_to_be_revoked():
    text, token = issue(KEY, 42, SESSION, NOW, now=NOW - DAY)
    with pytest.raises(InvalidToken, match="expired"):
        read(KEY, text, LOGINS, now=NOW)
    assert read(KEY, text, LOGINS, now=NOW, allow_expired=True) == token


def test_a_token_of_another_key_or_without_signature_is_refused():
    text, _ = issue(keys(bytes(32)), 42, SESSION, NOW + DAY, now=NOW)
    claims = {"jti": "x", "sub": "42", "aud": "session", "exp": 4102444800}
    unsigned = jwt.encode(claims, None, algorithm="none")
    incomplete = jwt.encode({"sub": "42", "aud": "session", "exp": 4102444800}, RAW, algorithm="HS256")
    odd = [
        jwt.encode({**claims, **wrong}, RAW, algorithm="HS256")
        for wrong in (
            {"sub": "x"},
            {"exp": 10**30},
            {"iat": "soon"},
            {"iat": 1e300},
            {"ext": 5},
            {"ext": "ab"},
        )
    ]
    for wrong in (text, unsigned, incomplete, *odd):
        with pytest.raises(InvalidToken):
            read(KEY, wrong, LOGINS, now=NOW)


@given(st.text(max_size=80))
def test_any_text_is_refused_in_one_way(text):
    with pytest.raises(InvalidToken):
        read(KEY, text, LOGINS, now=NOW)


@given(st.timedeltas(timedelta(0), timedelta(days=365 * 60)))
def test_when_a_token_was_issued_is_read_again_to_the_microsecond(passed):
    now = NOW + passed
    text, token = issue(KEY, 1, SESSION, now + DAY, now=now)
    assert read(KEY, text, LOGINS, now=now).issued == token.issued == now


@given(st.data())
def test_no_changed_letter_goes_unnoticed(data):
    text, token = issue(KEY, 1, SESSION, NOW + DAY, now=NOW)
    # The last letter of the signature carries two bits that mean nothing.
    place = data.draw(st.integers(0, len(text) - 2))
    letter = data.draw(st.sampled_from("abcXYZ019-_"))
    changed = text[:place] + letter + text[place + 1 :]
    if changed != text:
        with pytest.raises(InvalidToken):
            read(KEY, changed, LOGINS, now=NOW)
    else:
        assert read(KEY, changed, LOGINS, now=NOW) == token


def test_an_older_key_verifies_until_it_is_no_longer_accepted():
    text, token = issue(keys(RAW), 42, SESSION, NOW + 7 * DAY, now=NOW)
    rotated = keys(bytes(32), RAW, accepted_until=NOW + DAY)
    assert read(rotated, text, LOGINS, now=NOW) == token
    with pytest.raises(InvalidToken, match="not one of ours"):
        read(rotated, text, LOGINS, now=NOW + DAY)
    newer, _ = issue(rotated, 42, SESSION, NOW + 7 * DAY, now=NOW)
    with pytest.raises(InvalidToken, match="not one of ours"):
        read(keys(RAW), newer, LOGINS, now=NOW)
