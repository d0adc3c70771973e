"""Turns the rules of the grammar into nodes: one method for each rule, called by lark while it parses.

A method gets the results of the parts of its rule, which lark leaves untyped.
"""

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

import lark

from motorpool.actors.rules.expressions.arithmetic import BINARY, COMPARISONS, SYMBOLS, negate, signed
from motorpool.actors.rules.expressions.constant_operands import with_constant
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.functions import FUNCTIONS, STATIC, Function, call
from motorpool.actors.rules.expressions.grammar import Parser
from motorpool.actors.rules.expressions.literals import (
    read_integer,
    read_string,
    split_template,
    unescape,
)
from motorpool.actors.rules.expressions.methods import call_method, indexed, is_empty, property_of, size
from motorpool.actors.rules.expressions.nodes import (
    Node,
    Returned,
    condition,
    constant,
    new_node,
    or_null,
    sequence,
)
from motorpool.actors.rules.expressions.patterns import LiteralPattern
from motorpool.actors.rules.expressions.values import text, to_integer, to_number, truth

Nodes = Sequence[Node]
Mixed = Sequence[Any]
"""Nodes and tokens of a rule."""


Rule = Callable[[object, Nodes], Node]


def _literal(value: object) -> Rule:
    """Return the rule of a word that stands for a value."""

    def rule(self: object, parts: Nodes) -> Node:
        del self, parts
        return constant(value)

    return rule


def _unary(operate: Callable[[object], object], *, takes_absent: bool = False) -> Rule:
    """Return the rule of an operator on one value; with `takes_absent`, what is undefined counts as null."""

    def rule(self: object, parts: Nodes) -> Node:
        del self
        step = or_null(parts[0]) if takes_absent else parts[0].step
        return new_node(lambda state: operate(step(state)), *parts)

    return rule


def _short_circuit(*, decisive: bool) -> Rule:
    """Return the rule of `||` or `&&`: the first value that is `decisive` as a boolean is the result."""
    other = not decisive

    def rule(self: object, parts: Nodes) -> Node:
        del self
        steps = [part.step for part in parts]

        def step(state: EvaluationState) -> object:
            for each in steps:
                value = each(state)
                if value is decisive or (value is not other and truth(value) is decisive):
                    return decisive
            return other

        return new_node(step, *parts, is_boolean=True)

    return rule


class Builder(lark.Transformer[lark.Token, object]):
    """Builds the nodes of scripts; `parse` parses the expressions in templates."""

    parse: Parser

    def start(self, parts: Nodes) -> Node:
        """The whole script, or a block: statements in braces."""
        return sequence(parts) if parts else constant(None)

    block = start
    nothing = _literal(None)
    """`null`, or an empty statement."""

    def give(self, parts: Nodes) -> Node:
        """`return a`."""
        (value,) = parts

        def step(state: EvaluationState) -> object:
            raise Returned(value.step(state))

        return new_node(step, value)

    def choice(self, parts: Nodes) -> Node:
        """`if`, with or without `else`; its value is that of the branch taken."""
        test, chosen = condition(parts[0]), parts[1].step
        otherwise = parts[2].step if len(parts) > 2 else None

        def step(state: EvaluationState) -> object:
            if test(state):
                return chosen(state)
            return None if otherwise is None else otherwise(state)

        return new_node(step, *parts)

    def ternary(self, parts: Nodes) -> Node:
        """`a ? b : c`."""
        test, chosen, otherwise = condition(parts[0]), parts[1].step, parts[2].step
        if parts[1].is_constant and parts[2].is_constant:
            first, second = chosen(EvaluationState({})), otherwise(EvaluationState({}))
            return new_node(lambda state: first if test(state) else second, *parts)
        return new_node(lambda state: chosen(state) if test(state) else otherwise(state), *parts)

    def elvis(self, parts: Nodes) -> Node:
        """`a ?: b`: a if it is true, else b."""
        given, otherwise = or_null(parts[0]), parts[1].step

        def step(state: EvaluationState) -> object:
            value = given(state)
            return value if truth(value) else otherwise(state)

        return new_node(step, *parts)

    def coalesce(self, parts: Nodes) -> Node:
        """`a ?? b`: a if it is defined and not null, else b."""
        given, otherwise = or_null(parts[0]), parts[1].step

        def step(state: EvaluationState) -> object:
            value = given(state)
            return otherwise(state) if value is None else value

        return new_node(step, *parts)

    either = _short_circuit(decisive=True)
    """`a || b`."""
    both = _short_circuit(decisive=False)
    """`a && b`."""

    def chain(self, parts: Mixed) -> Node:
        """Binary operators of one precedence, from left to right."""
        first, signs, others = parts[0].step, parts[1::2], parts[2::2]
        others = [
            constant(LiteralPattern(other.literal))
            if sign in {"=~", "!~"} and other.literal is not None
            else other
            for sign, other in zip(signs, others, strict=True)
        ]
        links = [(BINARY[sign], other.step) for sign, other in zip(signs, others, strict=True)]
        if len(links) == 1:
            ((operate, second),) = links
            if others[0].is_constant:
                step_of_one = with_constant(signs[0], parts[0], second(EvaluationState({})))
            else:

                def step_of_one(state: EvaluationState) -> object:
                    return operate(state, first(state), second(state))

            return new_node(step_of_one, *parts[::2], is_boolean=signs[0] in COMPARISONS)

        def step(state: EvaluationState) -> object:
            value = first(state)
            for operate, other in links:
                value = operate(state, value, other(state))
            return value

        return new_node(step, *parts[::2])

    def same(self, parts: Mixed) -> str:
        """Return the symbol of an operator."""
        return SYMBOLS.get(parts[0], str(parts[0]))

    related = times = same

    def sign(self, parts: Mixed) -> Node:
        """`+a` or `-a`."""
        sign, operand = parts
        step = operand.step
        if sign == "-":
            return new_node(lambda state: negate(step(state)), operand)
        return new_node(lambda state: to_number(step(state)), operand)

    complement = _unary(lambda value: signed(~to_integer(value)))
    """`~a`: bitwise complement."""
    negation = _unary(lambda value: not truth(value))
    """`!a`."""
    emptiness = _unary(is_empty, takes_absent=True)
    """`empty a`."""
    length = _unary(size, takes_absent=True)
    """`size a`."""

    def name(self, parts: Mixed) -> str:
        """Return the name after a dot, which may be quoted."""
        (token,) = parts
        return read_string(token, token.start_pos) if token.type == "STRING" else str(token)

    def arguments(self, parts: Nodes) -> Nodes:
        """The arguments of a function or method."""
        return parts

    def variable(self, parts: Mixed) -> Node:
        """A variable."""
        name = str(parts[0])
        return Node(lambda state: state.variable(name), name=name, is_variable=True, names=frozenset({name}))

    def member(self, parts: Mixed) -> Node:
        """`a.b`, which may also be a variable with a dot in its name. `a?.b` is null if a is null."""
        owner, sign, name = parts
        step, path = owner.step, f"{owner.name}.{name}" if owner.name else ""
        safe = sign == "?."

        def read(state: EvaluationState) -> object:
            try:
                value = step(state)
                return None if safe and value is None else property_of(state, value, name)
            except ExpressionError:
                if path in state.variables:
                    return state.variables[path]
                raise

        return new_node(read, owner, name=path)

    def method(self, parts: Mixed) -> Node:
        """`a.b(c)`: a method, or a static function such as `Math.abs(c)`."""
        owner, sign, name, arguments = parts
        if owner.name in STATIC:
            functions = STATIC[owner.name]
            if name not in functions:
                raise ExpressionError(f"there is no {owner.name}.{name}")
            return _called(functions[name], f"{owner.name}.{name}", arguments)
        step, steps = owner.step, [argument.step for argument in arguments]
        safe = sign == "?."
        if name in _PATTERN_METHODS and arguments and arguments[0].literal is not None:
            steps[0] = constant(LiteralPattern(arguments[0].literal)).step

        def invoke(state: EvaluationState) -> object:
            value = step(state)
            if safe and value is None:
                return None
            return call_method(state, value, name, [argument(state) for argument in steps])

        return new_node(invoke, owner, *arguments)

    def at(self, parts: Nodes) -> Node:
        """`a[b]`."""
        owner, index = parts[0].step, parts[1].step
        return new_node(lambda state: indexed(owner(state), index(state)), *parts)

    def function(self, parts: Mixed) -> Node:
        """`math:abs(a)`."""
        written, arguments = parts
        name = "".join(written.split())
        if name not in FUNCTIONS:
            raise ExpressionError(f"there is no function {name}", written.start_pos)
        return _called(FUNCTIONS[name], name, arguments)

    # Literals

    def integer(self, parts: Mixed) -> Node:
        """`12`."""
        return constant(read_integer(parts[0], parts[0].start_pos))

    def real(self, parts: Mixed) -> Node:
        """`1.2` or `1e3`, with or without a type suffix such as `f`."""
        return constant(float(parts[0].rstrip("fFdDbB")))

    def string(self, parts: Mixed) -> Node:
        """`'a'`."""
        return constant(read_string(parts[0], parts[0].start_pos))

    def regex(self, parts: Mixed) -> Node:
        """`~/a/`, in which only the slash is escaped."""
        return constant(parts[0][2:-1].replace("\\/", "/"))

    true, false, nan = _literal(True), _literal(False), _literal(nan)

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
            node: Node = self.parse(inner)
        except ExpressionError as error:
            where = None if error.position is None else error.position + position
            raise ExpressionError(error.text, where) from None
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


_PATTERN_METHODS = frozenset({"matches", "replaceAll", "replaceFirst", "split"})


def _called(function: Function, name: str, arguments: Nodes) -> Node:
    if not function.fewest <= len(arguments) <= function.most:
        raise ExpressionError(f"{name} does not take so many arguments")
    steps = [argument.step for argument in arguments]
    return new_node(lambda state: call(function, name, state, [step(state) for step in steps]), *arguments)
