from datetime import UTC, datetime, timedelta

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.tokens import InvalidToken, issue, read

KEY = bytes(range(32))
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_token_tells_its_user_purpose_and_expiry():
    text, token = issue(KEY, 42, "session", NOW + timedelta(days=7))
    assert read(KEY, text, "session", now=NOW) == token
    assert token.user_id == 42
    assert token.expires == NOW + timedelta(days=7)
    assert text.count(".") == 2


def test_a_token_for_another_purpose_is_refused():
    text, _ = issue(KEY, 42, "share", NOW + timedelta(days=7))
    with pytest.raises(InvalidToken, match="another purpose"):
        read(KEY, text, "session", now=NOW)


def test_an_expired_token_is_refused_unless_it_is_to_be_revoked():
    text, token = issue(KEY, 42, "session", NOW)
    with pytest.raises(InvalidToken, match="expired"):
        read(KEY, text, "session", now=NOW)
    assert read(KEY, text, "session", now=NOW, expired_too=True) == token


def test_a_token_of_another_key_or_without_signature_is_refused():
    text, _ = issue(bytes(32), 42, "session", NOW + timedelta(days=1))
    claims = {"jti": "x", "sub": "42", "aud": "session", "exp": 4102444800}
    unsigned = jwt.encode(claims, None, algorithm="none")
    incomplete = jwt.encode({"sub": "42", "aud": "session", "exp": 4102444800}, KEY, algorithm="HS256")
    odd = jwt.encode({**claims, "sub": "x"}, KEY, algorithm="HS256")
    for wrong in (text, unsigned, incomplete, odd):
        with pytest.raises(InvalidToken):
            read(KEY, wrong, "session", now=NOW)


@given(st.text(max_size=80))
def test_any_text_is_refused_in_one_way(text):
    with pytest.raises(InvalidToken):
        read(KEY, text, "session", now=NOW)


@given(st.data())
def test_no_changed_letter_goes_unnoticed(data):
    text, token = issue(KEY, 1, "session", NOW + timedelta(days=1))
    # The last letter of the signature carries two bits that mean nothing.
    place = data.draw(st.integers(0, len(text) - 2))
    letter = data.draw(st.sampled_from("abcXYZ019-_"))
    changed = text[:place] + letter + text[place + 1 :]
    if changed != text:
        with pytest.raises(InvalidToken):
            read(KEY, changed, "session", now=NOW)
    else:
        assert read(KEY, changed, "session", now=NOW) == token
