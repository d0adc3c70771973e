"""Refusals, and the one table from exceptions to status and text (docs/decisions/0009).

A client shows the body as it is: one short line of plain text.
"""

from http import HTTPStatus
from typing import ClassVar

__all__ = [
    "BadRequest",
    "BodyTooLarge",
    "Forbidden",
    "HttpError",
    "ResourceNotFound",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
]


class HttpError(Exception):
    """What a request is answered with in place of a result; the text is one line for people."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR

    def __init__(self, text: str, **headers: str) -> None:
        super().__init__(text)
        self.text = text
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class BadRequest(HttpError):
    """Invalid input, or a write that the caller may not make."""

    status = HTTPStatus.BAD_REQUEST


class Unauthorized(HttpError):
    """No credentials, invalid ones, or the wrong role where the specification says 401."""

    status = HTTPStatus.UNAUTHORIZED


class Forbidden(HttpError):
    """Share links and files that are switched off or not the caller's."""

    status = HTTPStatus.FORBIDDEN


class ResourceNotFound(HttpError):
    """Unknown, or not to be seen by this caller."""

    status = HTTPStatus.NOT_FOUND


class BodyTooLarge(HttpError):
    """A body past the limit."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class TooManyRequests(HttpError):
    """Too many failed logins; the header says when to come back."""

    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text, Retry_After=str(max(1, round(seconds))))


class Unavailable(HttpError):
    """The database or an actor cannot answer now; asking again later may help."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, text: str, seconds: float = 2) -> None:
        super().__init__(text, Retry_After=str(max(1, round(seconds))))
