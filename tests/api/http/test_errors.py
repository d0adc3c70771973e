import pytest

from motorpool.api.http.errors import (
    BadRequest,
    BodyTooLarge,
    Forbidden,
    ResourceNotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (BadRequest("x"), 400),
        (Unauthorized("x"), 401),
        (Forbidden("x"), 403),
        (ResourceNotFound("x"), 404),
        (BodyTooLarge("x"), 413),
        (TooManyRequests("x", 9), 429),
        (Unavailable("x"), 503),
    ],
)
def test_each_refusal_has_its_status(refusal, status):
    assert (refusal.status, refusal.text) == (status, "x")


def test_who_is_to_come_back_is_told_when():
    assert TooManyRequests("x", 0.2).headers == {"Retry-After": "1"}
    assert Unavailable("x", 5.4).headers == {"Retry-After": "5"}
    assert Unauthorized("x", WWW_Authenticate="TOTP").headers == {"WWW-Authenticate": "TOTP"}
