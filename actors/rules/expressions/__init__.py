"""The language of computed attributes (docs/computed-attributes.md): the part of JEXL 3 that has no side
effects.

There are no loops, no assignments and no objects to be made, so an expression takes as many steps as its text
has parts; what one step may cost is bounded in `run`. Whatever the text or the values, only ExpressionError
comes out.
"""

from motorpool.actors.rules.expressions.compiler import Expression, compile_expression
from motorpool.actors.rules.expressions.errors import ExpressionError

__all__ = ["Expression", "ExpressionError", "compile_expression"]
