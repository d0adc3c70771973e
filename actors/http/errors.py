"""Errors of outgoing connections. Their texts are one line each and never contain a secret."""

import os
import ssl
from typing import Literal

from motorpool.actors.words.printable import printable_line

MAX_LENGTH = 200


Cause = Literal["dns", "blocked", "connect", "tls", "timeout", "status", ""]
"""Where a request over HTTP failed: at the name, the address, the connection, TLS, the time or the answer."""


class OutgoingError(Exception):
    """A message or request was not delivered."""

    cause: Cause = ""
    """Cause of a failed HTTP request; else empty."""
    address: str = ""
    """The IP address that was connected to, or not; empty if there is none."""


class Unreachable(OutgoingError):
    """The server was not reached, or accepts nothing now: other messages to it would fail as well."""

    def __init__(
        self, text: str, *, retry_seconds: float = 0.0, cause: Cause = "", address: str = ""
    ) -> None:
        super().__init__(text)
        self.cause = cause
        self.address = address
        self.retry_seconds = retry_seconds
        """How long the server asks to wait before the next attempt; 0 if it does not say."""


class DeliveryRefused(OutgoingError):
    """This message or request was refused; others may be accepted."""

    def __init__(self, text: str, *, permanent: bool = False, cause: Cause = "") -> None:
        super().__init__(text)
        self.cause = cause
        self.permanent = permanent
        """Whether another attempt would fail as well."""


class ReceiverGone(DeliveryRefused):
    """The receiver wants no messages any more."""

    def __init__(self, text: str) -> None:
        super().__init__(text, permanent=True, cause="status")


class LimitExceeded(OutgoingError):
    """The user, or all users together, have sent as many messages as the settings allow within an hour."""

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text)
        self.seconds = seconds
        """Until another attempt may succeed; infinite if it never does."""


def root_cause(error: BaseException) -> str:
    """Return the text of the first error in a chain of causes, in one line."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif (inner := error.__cause__ or error.__context__) is not None:
            error = inner
        else:
            break
    text = getattr(error, "verify_message", None) or str(error)
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.errno:
        # The text of Trio's error contains the address.
        text = os.strerror(error.errno)
    return one_line(text or type(error).__name__)


def is_tls(error: BaseException) -> bool:
    """Return whether an error comes from TLS."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ssl.SSLError):
            return True
        found = found.__cause__ or found.__context__
    return False


def one_line(text: str) -> str:
    """Return foreign text for a log or a response: printable, in one line, at most MAX_LENGTH characters."""
    shown = printable_line(text)
    return shown if len(shown) <= MAX_LENGTH else shown[: MAX_LENGTH - 1] + "…"
