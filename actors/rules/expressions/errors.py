"""What is wrong with an expression or with the values it met."""

__all__ = ["Absent", "ExpressionError"]


_LONGEST = 200


class ExpressionError(Exception):
    """One line for whoever wrote the expression.

    `position` counts characters from 0 where the text itself is wrong; None where it read well and failed on
    its values.
    """

    def __init__(self, text: str, position: int | None = None) -> None:
        # Names and patterns of others stand in it, with line breaks and at any length.
        text = " ".join(text.split())[:_LONGEST]
        super().__init__(text)
        self.text = text
        self.position = position


class Absent(ExpressionError):
    """A variable that is not there, or a part of null; `??`, `?:` and conditions take it for null."""
