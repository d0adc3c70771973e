"""Areas and expressions that were changed on their way: their own error, or a value."""

import random
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.rules.area import read_area
from motorpool.actors.rules.area_shapes import AreaError
from motorpool.actors.rules.expressions.compiler import compile_expression
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.bench.load.fuzz_samples import AREAS, EXPRESSIONS
from motorpool.bench.load.mutations import mutated_text

seeds = st.integers(0, 2**32)


@settings(max_examples=300)
@given(seeds)
def test_a_mutated_area_contains_points_or_is_refused(seed: int):
    source = random.Random(seed)
    with suppress(AreaError):
        area = read_area(mutated_text(source, source.choice(AREAS)))
        assert area.contains(52.5, 13.4) in (True, False)


@settings(max_examples=150)
@given(seeds)
def test_a_mutated_expression_has_a_value_or_an_error(seed: int):
    source = random.Random(seed)
    variables = {"speed": 12.5, "ignition": True, "motion": False, "rpm": "900", "driverUniqueId": "ab12"}
    with suppress(ExpressionError):
        compile_expression(mutated_text(source, source.choice(EXPRESSIONS))).evaluate(
            {**variables, "attributes": {"odometer": 1200}}
        )
