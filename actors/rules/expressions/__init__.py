"""The expression language of computed attributes (docs/computed-attributes.md): the subset of JEXL 3 without
side effects.

There are no loops, assignments or constructors, so the length of the text bounds the number of steps, and
`EvaluationState` bounds the cost of a step. ExpressionError is the only exception, whatever the text and the
values.
"""

from motorpool.actors.rules.expressions.compiler import Expression, compile_expression
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState

__all__ = ["EvaluationState", "Expression", "ExpressionError", "compile_expression"]
