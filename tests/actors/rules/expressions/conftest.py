"""How the tests of expressions compute one."""

from collections.abc import Callable

import pytest

from motorpool.actors.rules.expressions import ExpressionError, compile_expression


@pytest.fixture
def value() -> Callable[..., object]:
    """The value of an expression, the variables by name."""
    return lambda text, **variables: compile_expression(text).evaluate(variables)


@pytest.fixture
def refusal() -> Callable[..., str]:
    """What an expression is refused with, as it is read or computed."""

    def refused(text: str, **variables: object) -> str:
        with pytest.raises(ExpressionError) as caught:
            compile_expression(text).evaluate(variables)
        return str(caught.value)

    return refused
