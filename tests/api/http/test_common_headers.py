"""The headers that are added to answers."""

from typing import Any

import pytest

from motorpool.api.http.common_headers import CommonHeaders

ORIGINS = "https://app.example, https://two.example"
ALLOWED = b"access-control-allow-origin"


def added(
    headers: CommonHeaders, path: str = "/api/devices", method: str = "GET", origin: bytes | None = None
) -> list[tuple[bytes, bytes]]:
    sent = [(b"host", b"x")] if origin is None else [(b"host", b"x"), (b"origin", origin)]
    scope: Any = {"path": path, "method": method, "headers": sent}
    return headers.add(scope, [(b"etag", b"1")])


@pytest.mark.parametrize(
    ("allowed", "origin", "answer"),
    [
        (None, None, b"*"),
        (ORIGINS, None, b"*"),
        (None, b"https://app.example", None),
        (ORIGINS, b"https://app.example", b"https://app.example"),
        (ORIGINS, b"https://two.example", b"https://two.example"),
        (ORIGINS, b"https://evil.example", None),
        (ORIGINS, b"", None),
        ("", b"", None),
        ("*", b"https://evil.example", b"https://evil.example"),
    ],
)
def test_only_listed_origins_are_allowed(
    allowed: str | None, origin: bytes | None, answer: bytes | None
) -> None:
    found = added(CommonHeaders(cors_origin=allowed), origin=origin)
    assert [value for name, value in found if name == ALLOWED] == ([] if answer is None else [answer])
    assert (b"vary", b"Origin") in found


def test_what_an_answer_has_stays_and_nothing_is_added_twice() -> None:
    headers = CommonHeaders()
    scope: Any = {"path": "/api/stream/1/1/live.m3u8", "method": "GET", "headers": []}
    found = headers.add(scope, [(b"cache-control", b"private"), (b"vary", b"Accept-Encoding")])
    assert [value for name, value in found if name == b"cache-control"] == [b"private"]
    assert [value for name, value in found if name == b"vary"] == [b"Accept-Encoding", b"Origin"]
    assert [value for name, value in added(headers) if name == b"cache-control"] == [b"no-store"]
    assert added(headers) == added(headers)


def test_those_of_the_api_are_not_added_elsewhere() -> None:
    headers = CommonHeaders(is_tls=True)
    names = {name for name, _ in added(headers, "/console/")}
    assert names == {
        b"etag",
        b"x-content-type-options",
        b"x-frame-options",
        b"referrer-policy",
        b"strict-transport-security",
    }
    assert names < {name for name, _ in added(headers, "http://localhost/api/devices")}


STRICT = b"strict-transport-security"


@pytest.mark.parametrize(
    ("is_tls", "hsts", "forwarded", "value"),
    [
        (True, None, None, b"max-age=31536000; includeSubDomains"),
        (True, "host", None, b"max-age=31536000"),
        (True, "off", None, None),
        # Behind a proxy that speaks TLS, if it is asked for.
        (False, None, b"https", None),
        (False, "subdomains", b"https", b"max-age=31536000; includeSubDomains"),
        (False, "host", b"https", b"max-age=31536000"),
        (False, "off", b"https", None),
        # Never without TLS (RFC 6797, section 7.2).
        (False, "subdomains", b"http", None),
        (False, "subdomains", None, None),
    ],
)
def test_tls_is_demanded_for_a_year_where_it_is_used(
    is_tls: bool, hsts: str | None, forwarded: bytes | None, value: bytes | None
) -> None:
    headers = CommonHeaders(is_tls=is_tls, hsts=hsts)
    sent = [] if forwarded is None else [(b"x-forwarded-proto", forwarded)]
    for path in ("/", "/api/server"):
        scope: Any = {"path": path, "method": "GET", "headers": sent}
        assert [each for name, each in headers.add(scope, []) if name == STRICT] == ([value] if value else [])


def test_addresses_of_the_api_are_told_to_nobody() -> None:
    for path, value in (
        ("/api/session", b"no-referrer"),
        ("/", b"same-origin"),
        ("http://[", b"same-origin"),
    ):
        assert dict(added(CommonHeaders(), path))[b"referrer-policy"] == value


def test_a_preflight_answer_says_how_long_it_may_be_cached() -> None:
    headers = CommonHeaders()
    assert (b"access-control-max-age", b"7200") in added(headers, method="OPTIONS")
    assert b"access-control-max-age" not in dict(added(headers))
