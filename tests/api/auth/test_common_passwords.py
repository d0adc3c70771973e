import gzip

import pytest

from motorpool.api.auth.common_passwords import LIST, is_common
from motorpool.api.login_settings import LoginSettings


@pytest.mark.parametrize("password", ["123456", "password", "Password1", "QWERTYUIOP", "iloveyou1"])
def test_common_passwords_are_known_whatever_their_case(password):
    assert is_common(password)


@pytest.mark.parametrize(
    "password", ["", "correct horse", "123456\npassword", "\n", "пароль-дня", "\udc80", "123456\n"]
)
def test_others_are_not_common(password):
    assert not is_common(password)


def test_the_list_has_the_common_passwords_that_the_rules_would_accept_otherwise():
    """ASVS 5.0, 6.2.4: at least the 3000 most common ones that are long enough."""
    words = gzip.decompress(LIST.read_bytes()).decode().strip("\n").split("\n")
    shortest = LoginSettings().password_min_length
    assert sum(len(word) >= shortest for word in words) > 20_000
    assert words == sorted({word.lower() for word in words})
