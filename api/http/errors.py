"""HTTP errors: status, headers and one line of text, which clients show as it is (docs/decisions/0009)."""

from http import HTTPStatus
from typing import ClassVar


class HttpError(Exception):
    """An error answer; `text` is its body, one line for people."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    is_refusal = False
    """Whether the caller lacks a right, or access to what exists: the audit log tells it."""

    def __init__(self, text: str, *, is_refusal: bool | None = None, **headers: str) -> None:
        super().__init__(text)
        self.text = text
        if is_refusal is not None:
            self.is_refusal = is_refusal
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class BadRequest(HttpError):
    """400: invalid input, or a write without the right to it."""

    status = HTTPStatus.BAD_REQUEST


class Unauthorized(HttpError):
    """401: no credentials, invalid ones, or the wrong role where the specification says so."""

    status = HTTPStatus.UNAUTHORIZED


class Forbidden(HttpError):
    """403: share links and files that are switched off or not accessible to the caller."""

    status = HTTPStatus.FORBIDDEN
    is_refusal = True


class ResourceNotFound(HttpError):
    """404: unknown, or not visible to the caller."""

    status = HTTPStatus.NOT_FOUND


class AlreadyInUse(HttpError):
    """409: somebody else uses what one may use at a time."""

    status = HTTPStatus.CONFLICT


class BodyTooLarge(HttpError):
    """413: the body exceeds the limit."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class TooManyRequests(HttpError):
    """429: too many failed logins or requests; Retry-After says when to try again."""

    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text, Retry_After=str(max(1, round(seconds))))


class Unavailable(HttpError):
    """503: the database or an actor cannot answer now; Retry-After says when to try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, text: str, seconds: float = 2) -> None:
        super().__init__(text, Retry_After=str(max(1, round(seconds))))
