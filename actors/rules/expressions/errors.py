"""The errors of expressions."""

_MAX_LENGTH = 200
"""Characters of a message."""


class ExpressionError(Exception):
    """An expression is invalid, or its evaluation failed; the message is one line for its author.

    `position` is the index of the character at which the text is invalid; None if the evaluation failed.
    """

    def __init__(self, text: str, position: int | None = None) -> None:
        # The text may quote names and patterns of any length, with line breaks.
        if not text.isprintable() or len(text) > _MAX_LENGTH:
            text = " ".join(text.split())[:_MAX_LENGTH]
        super().__init__(text)
        self.text = text
        self.position = position


class Absent(ExpressionError):
    """An undefined variable or a member of null; `??`, `?:` and conditions treat it as null."""
