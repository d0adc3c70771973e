"""The expression language of computed attributes (docs/computed-attributes.md): the subset of JEXL 3 without
side effects.

There are no loops, assignments or constructors, so the length of the text bounds the number of steps, and
`EvaluationState` bounds the cost of a step. ExpressionError is the only exception, whatever the text and the
values, unless less work is allowed than all expressions of a position may take (TooMuchHere).
"""

from motorpool.actors.rules.expressions.compiler import TOO_DEEP, Expression, compile_expression
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import WORK_HERE, EvaluationState, TooMuchHere

__all__ = [
    "TOO_DEEP",
    "WORK_HERE",
    "EvaluationState",
    "Expression",
    "ExpressionError",
    "TooMuchHere",
    "compile_expression",
]
