"""Turns the rules of the grammar into nodes: one method for each rule, called by lark while it parses.

A method gets the results of the parts of its rule, which lark leaves untyped.
"""

from motorpool.actors.rules.expressions.arithmetic import BINARY, negate, signed
from motorpool.actors.rules.expressions.constant_operands import with_constant
from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.functions import FUNCTIONS, STATIC, Function, call
from motorpool.actors.rules.expressions.literals import read_string
from motorpool.actors.rules.expressions.methods import call_method, indexed, is_empty, property_of, size
from motorpool.actors.rules.expressions.nodes import (
    Node,
    Returned,
    condition,
    constant,
    made,
    or_null,
    sequence,
)
from motorpool.actors.rules.expressions.patterns import compile_pattern
from motorpool.actors.rules.expressions.run import Run
from motorpool.actors.rules.expressions.value_rules import Mixed, Nodes, ValueRules
from motorpool.actors.rules.expressions.values import to_integer, to_number, truth

__all__ = ["Builder"]


class Builder(ValueRules):
    """Builds the nodes of statements, operators and calls."""

    def start(self, parts: Nodes) -> Node:
        """The whole script."""
        return sequence(parts) if parts else constant(None)

    def block(self, parts: Nodes) -> Node:
        """A block: statements in braces."""
        return sequence(parts) if parts else constant(None)

    def nothing(self, parts: Nodes) -> Node:
        """`null`, or an empty statement."""
        del parts
        return constant(None)

    def give(self, parts: Nodes) -> Node:
        """`return a`."""
        (value,) = parts

        def step(run: Run) -> object:
            raise Returned(value.step(run))

        return made(step, value)

    def choice(self, parts: Nodes) -> Node:
        """`if`, with or without `else`; its value is that of the branch taken."""
        test, chosen = condition(parts[0]), parts[1].step
        otherwise = parts[2].step if len(parts) > 2 else None

        def step(run: Run) -> object:
            if test(run):
                return chosen(run)
            return None if otherwise is None else otherwise(run)

        return made(step, *parts)

    def ternary(self, parts: Nodes) -> Node:
        """`a ? b : c`."""
        test, chosen, otherwise = condition(parts[0]), parts[1].step, parts[2].step
        if parts[1].is_constant and parts[2].is_constant:
            first, second = chosen(Run({})), otherwise(Run({}))
            return made(lambda run: first if test(run) else second, *parts)
        return made(lambda run: chosen(run) if test(run) else otherwise(run), *parts)

    def elvis(self, parts: Nodes) -> Node:
        """`a ?: b`: a if it is true, else b."""
        given, otherwise = or_null(parts[0]), parts[1].step

        def step(run: Run) -> object:
            value = given(run)
            return value if truth(value) else otherwise(run)

        return made(step, *parts)

    def coalesce(self, parts: Nodes) -> Node:
        """`a ?? b`: a if it is defined and not null, else b."""
        given, otherwise = or_null(parts[0]), parts[1].step

        def step(run: Run) -> object:
            value = given(run)
            return otherwise(run) if value is None else value

        return made(step, *parts)

    def either(self, parts: Nodes) -> Node:
        """`a || b`, short-circuiting."""
        steps = [part.step for part in parts]

        def step(run: Run) -> object:
            for each in steps:
                value = each(run)
                if value is True or (value is not False and truth(value)):
                    return True
            return False

        return made(step, *parts)

    def both(self, parts: Nodes) -> Node:
        """`a && b`, short-circuiting."""
        steps = [part.step for part in parts]

        def step(run: Run) -> object:
            for each in steps:
                value = each(run)
                if value is False or (value is not True and not truth(value)):
                    return False
            return True

        return made(step, *parts)

    def chain(self, parts: Mixed) -> Node:
        """Binary operators of one precedence, from left to right."""
        first, signs, others = parts[0].step, parts[1::2], parts[2::2]
        links = [(BINARY[sign], other.step) for sign, other in zip(signs, others, strict=True)]
        for sign, other in zip(signs, others, strict=True):
            if sign in {"=~", "!~"} and other.literal is not None:
                compile_pattern(other.literal)
        if len(links) == 1:
            ((operate, second),) = links
            if parts[2].is_constant:
                return made(with_constant(signs[0], parts[0], second(Run({}))), *parts[::2])
            return made(lambda run: operate(run, first(run), second(run)), *parts[::2])

        def step(run: Run) -> object:
            value = first(run)
            for operate, other in links:
                value = operate(run, value, other(run))
            return value

        return made(step, *parts[::2])

    def same(self, parts: Mixed) -> str:
        """Return the symbol of an operator."""
        return str(parts[0])

    related = times = same

    def sign(self, parts: Mixed) -> Node:
        """`+a` or `-a`."""
        sign, operand = parts
        step = operand.step
        if sign == "-":
            return made(lambda run: negate(step(run)), operand)
        return made(lambda run: to_number(step(run)), operand)

    def complement(self, parts: Nodes) -> Node:
        """`~a`: bitwise complement."""
        step = parts[0].step
        return made(lambda run: signed(~to_integer(step(run))), *parts)

    def negation(self, parts: Nodes) -> Node:
        """`!a`."""
        step = parts[0].step
        return made(lambda run: not truth(step(run)), *parts)

    def emptiness(self, parts: Nodes) -> Node:
        """`empty a`."""
        step = or_null(parts[0])
        return made(lambda run: is_empty(step(run)), *parts)

    def length(self, parts: Nodes) -> Node:
        """`size a`."""
        step = or_null(parts[0])
        return made(lambda run: size(step(run)), *parts)

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
        return Node(lambda run: run.variable(name), name=name, is_variable=True)

    def member(self, parts: Mixed) -> Node:
        """`a.b`, which may also be a variable with a dot in its name. `a?.b` is null if a is null."""
        owner, sign, name = parts
        step, path = owner.step, f"{owner.name}.{name}" if owner.name else ""
        safe = sign == "?."

        def read(run: Run) -> object:
            try:
                value = step(run)
                return None if safe and value is None else property_of(run, value, name)
            except ExpressionError:
                if path in run.variables:
                    return run.variables[path]
                raise

        return made(read, owner, name=path)

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
            compile_pattern(arguments[0].literal)

        def invoke(run: Run) -> object:
            value = step(run)
            if safe and value is None:
                return None
            return call_method(run, value, name, [argument(run) for argument in steps])

        return made(invoke, owner, *arguments)

    def at(self, parts: Nodes) -> Node:
        """`a[b]`."""
        owner, index = parts[0].step, parts[1].step
        return made(lambda run: indexed(owner(run), index(run)), *parts)

    def function(self, parts: Mixed) -> Node:
        """`math:abs(a)`."""
        written, arguments = parts
        name = "".join(written.split())
        if name not in FUNCTIONS:
            raise ExpressionError(f"there is no function {name}", written.start_pos)
        return _called(FUNCTIONS[name], name, arguments)


_PATTERN_METHODS = frozenset({"matches", "replaceAll", "replaceFirst", "split"})


def _called(function: Function, name: str, arguments: Nodes) -> Node:
    if not function.fewest <= len(arguments) <= function.most:
        raise ExpressionError(f"{name} does not take so many arguments")
    steps = [argument.step for argument in arguments]
    return made(lambda run: call(function, name, run, [step(run) for step in steps]), *arguments)
