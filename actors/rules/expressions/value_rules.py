"""Turns the grammar's rules for literals into nodes: numbers, texts, lists, sets, maps.

A method gets the results of the parts of its rule, which lark leaves untyped.
"""

from collections.abc import Sequence
from math import nan
from typing import Any

import lark

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.grammar import Parser
from motorpool.actors.rules.expressions.literals import (
    read_integer,
    read_real,
    read_regex,
    read_string,
    split_template,
    unescape,
)
from motorpool.actors.rules.expressions.nodes import Node, constant, new_node
from motorpool.actors.rules.expressions.values import text

Nodes = Sequence[Node]
Mixed = Sequence[Any]
"""Nodes and tokens of a rule."""


class ValueRules(lark.Transformer[lark.Token, object]):
    """Builds the nodes of literals; `parse` parses the expressions in templates."""

    parse: Parser

    def integer(self, parts: Mixed) -> Node:
        """`12`."""
        return constant(read_integer(parts[0], parts[0].start_pos))

    def real(self, parts: Mixed) -> Node:
        """`1.2`."""
        return constant(read_real(parts[0]))

    def string(self, parts: Mixed) -> Node:
        """`'a'`."""
        return constant(read_string(parts[0], parts[0].start_pos))

    def regex(self, parts: Mixed) -> Node:
        """`~/a/`."""
        return constant(read_regex(parts[0]))

    def true(self, parts: Nodes) -> Node:
        """`true`."""
        del parts
        return constant(True)

    def false(self, parts: Nodes) -> Node:
        """`false`."""
        del parts
        return constant(False)

    def nan(self, parts: Nodes) -> Node:
        """`NaN`."""
        del parts
        return constant(nan)

    def template(self, parts: Mixed) -> Node:
        """A template such as `a ${b}` in backquotes; null becomes an empty text."""
        token = parts[0]
        pieces = [
            self._embedded(inner, position) if computed else constant(unescape(inner, position))
            for computed, inner, position in split_template(token[1:-1], token.start_pos + 1)
        ]
        steps = [piece.step for piece in pieces]

        def step(state: EvaluationState) -> object:
            written: list[str] = []
            length = 0
            for piece in steps:
                value = piece(state)
                if value is not None:
                    written.append(text(value))
                    length += len(written[-1])
                    state.will_write(length)
            return "".join(written)

        return new_node(step, *pieces)

    def _embedded(self, inner: str, position: int) -> Node:
        try:
            node = self.parse(inner)
        except ExpressionError as error:
            where = None if error.position is None else error.position + position
            raise ExpressionError(error.text, where) from None
        assert isinstance(node, Node)
        return node

    def items(self, parts: Nodes) -> Node:
        """`[a, b]`: a list."""
        steps = [part.step for part in parts]
        return new_node(lambda state: [step(state) for step in steps], *parts)

    def members(self, parts: Nodes) -> Node:
        """`{a, b}`: a set, which is a list without duplicates."""
        steps = [part.step for part in parts]

        def step(state: EvaluationState) -> object:
            entries: dict[object, object] = {}
            for part in steps:
                value = part(state)
                if isinstance(value, list | dict):
                    raise ExpressionError("a set holds no lists and no maps")
                entries.setdefault((type(value), value), value)
            return [*entries.values()]

        return new_node(step, *parts)

    def entries(self, parts: Sequence[tuple[Node, Node]]) -> Node:
        """`{a: b}`: a map."""
        steps = [(key.step, value.step) for key, value in parts]

        def step(state: EvaluationState) -> object:
            entries: dict[object, object] = {}
            for key, value in steps:
                name = key(state)
                if isinstance(name, list | dict) or name is None:
                    raise ExpressionError("the key of a map is a text or a number")
                entries[name] = value(state)
            return entries

        return new_node(step, *(node for pair in parts for node in pair))

    def entry(self, parts: Nodes) -> tuple[Node, Node]:
        """`a: b`: a key and its value."""
        return parts[0], parts[1]
