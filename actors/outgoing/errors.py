"""Why something did not leave the house; the texts are one line each, and never hold a secret."""

import os
import ssl

__all__ = ["DeliveryRefused", "OutgoingError", "Unreachable", "innermost", "one_line"]

LONGEST = 200


class OutgoingError(Exception):
    """It did not go out."""


class Unreachable(OutgoingError):
    """Nobody was there to take it, or he takes nothing now: the next message will fare no better."""


class DeliveryRefused(OutgoingError):
    """This one was not taken; others may be."""

    def __init__(self, text: str, *, permanent: bool = False) -> None:
        super().__init__(text)
        self.permanent = permanent
        """Trying again would change nothing."""


def innermost(error: BaseException) -> str:
    """The reason behind an error in one line: what is in front of it says only that something is broken."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif (inner := error.__cause__ or error.__context__) is not None:
            error = inner
        else:
            break
    text = getattr(error, "verify_message", None) or str(error)
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.errno:
        # Trio's own text has the address.
        text = os.strerror(error.errno)
    return one_line(text or type(error).__name__)


def one_line(text: str) -> str:
    """What somebody else said, fit for a log or an answer: printable, on one line, and not too long."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    shown = " ".join(shown.split())
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
