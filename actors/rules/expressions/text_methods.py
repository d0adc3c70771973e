"""The methods of texts. They are those of Java, but indexes count code points, not UTF-16 units."""

from collections.abc import Callable, Mapping, Sequence

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.functions import Function, compare_to, method
from motorpool.actors.rules.expressions.patterns import matches_whole, replace_pattern, split_pattern
from motorpool.actors.rules.expressions.values import text, to_integer


def _texts(state: EvaluationState, arguments: Sequence[object]) -> list[str]:
    """Return the value and its arguments as texts, counting the work of searching them."""
    written = [text(argument) for argument in arguments]
    state.read(*written)
    return written


def _on_texts(operate: Callable[..., object], arguments: int = 0) -> Function:
    return method(lambda state, given: operate(*_texts(state, given)), arguments)


def _new_text(make: Callable[[str], str]) -> Function:
    def called(state: EvaluationState, given: Sequence[object]) -> object:
        (subject,) = _texts(state, given)
        # Changing the case of a character gives at most three characters.
        state.spend(len(subject))
        return state.written(make(subject))

    return method(called)


def _index_of(state: EvaluationState, given: Sequence[object]) -> object:
    subject, part = _texts(state, given[:2])
    start = max(0, to_integer(given[2])) if len(given) > 2 else 0
    return subject.find(part, start)


def _substring(state: EvaluationState, given: Sequence[object]) -> object:
    (subject,) = _texts(state, given[:1])
    start = to_integer(given[1])
    end = to_integer(given[2]) if len(given) > 2 else len(subject)
    if not 0 <= start <= end <= len(subject):
        raise ExpressionError(f"a text of {len(subject)} characters has no part {start} to {end}")
    return state.written(subject[start:end])


def _char_at(state: EvaluationState, given: Sequence[object]) -> object:
    (subject,) = _texts(state, given[:1])
    index = to_integer(given[1])
    if not 0 <= index < len(subject):
        raise ExpressionError(f"a text of {len(subject)} characters has no character {index}")
    return subject[index]


def _code_point_at(state: EvaluationState, given: Sequence[object]) -> object:
    return ord(text(_char_at(state, given)))


def _concat(state: EvaluationState, given: Sequence[object]) -> object:
    first, second = _texts(state, given)
    state.will_write(len(first) + len(second))
    return first + second


def _replace(state: EvaluationState, given: Sequence[object]) -> object:
    subject, old, new = _texts(state, given)
    state.will_write(len(subject) + subject.count(old) * (len(new) - len(old)))
    return subject.replace(old, new)


def _replace_pattern(*, once: bool) -> Function:
    def called(state: EvaluationState, given: Sequence[object]) -> object:
        subject, pattern, replacement = _texts(state, given)
        return replace_pattern(state, subject, pattern, replacement, once=once)

    return method(called, 2)


def _split(state: EvaluationState, given: Sequence[object]) -> object:
    subject, pattern = _texts(state, given[:2])
    return split_pattern(state, subject, pattern, to_integer(given[2]) if len(given) > 2 else 0)


def _matches(state: EvaluationState, given: Sequence[object]) -> object:
    subject, pattern = _texts(state, given)
    return matches_whole(state, subject, pattern)


def _repeat(state: EvaluationState, given: Sequence[object]) -> object:
    (subject,) = _texts(state, given[:1])
    times = to_integer(given[1])
    if times < 0:
        raise ExpressionError("a text cannot be repeated less than 0 times")
    state.will_write(len(subject) * times)
    return subject * times


def _starts_with(state: EvaluationState, given: Sequence[object]) -> object:
    subject, part = _texts(state, given[:2])
    start = to_integer(given[2]) if len(given) > 2 else 0
    return 0 <= start <= len(subject) and subject.startswith(part, start)


def _order_ignoring_case(first: str, second: str) -> int:
    return (first.casefold() > second.casefold()) - (first.casefold() < second.casefold())


TEXT_METHODS: Mapping[str, Function] = {
    "length": _on_texts(len),
    "isEmpty": _on_texts(lambda subject: not subject),
    "isBlank": _on_texts(lambda subject: not subject.strip()),
    "charAt": method(_char_at, 1),
    "codePointAt": method(_code_point_at, 1),
    "substring": method(_substring, 1, 2),
    "indexOf": method(_index_of, 1, 2),
    "lastIndexOf": _on_texts(str.rfind, 1),
    "contains": _on_texts(lambda subject, part: part in subject, 1),
    "startsWith": method(_starts_with, 1, 2),
    "endsWith": _on_texts(str.endswith, 1),
    "equalsIgnoreCase": _on_texts(lambda first, second: first.casefold() == second.casefold(), 1),
    "compareTo": method(compare_to, 1),
    "compareToIgnoreCase": _on_texts(_order_ignoring_case, 1),
    "matches": method(_matches, 1),
    "toUpperCase": _new_text(str.upper),
    "toLowerCase": _new_text(str.lower),
    "trim": _new_text(str.strip),
    "strip": _new_text(str.strip),
    "concat": method(_concat, 1),
    "repeat": method(_repeat, 1),
    "replace": method(_replace, 2),
    "replaceAll": _replace_pattern(once=False),
    "replaceFirst": _replace_pattern(once=True),
    "split": method(_split, 1, 2),
}
