"""Conditions of a WHERE clause that can be combined before their parameters are numbered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """A Boolean SQL expression whose parameters are written `{0}`, `{1}`, …; other braces are doubled."""

    sql: str
    args: tuple[object, ...] = ()

    def numbered(self, first: int = 1) -> str:
        """Return the SQL with `$first` and following for its parameters."""
        return self.sql.format(*(f"${first + index}" for index in range(len(self.args))))


ALWAYS = Condition("true")


def all_of(*conditions: Condition) -> Condition:
    """Return the conjunction of the conditions; without any, one that is always true."""
    return _join(" and ", conditions, ALWAYS)


def any_of(*conditions: Condition) -> Condition:
    """Return the disjunction of the conditions; without any, one that is always false."""
    return _join(" or ", conditions, Condition("false"))


def contains_keyword(keyword: str, columns: tuple[str, ...]) -> Condition:
    """Return the condition that a column contains the keyword literally, ignoring case."""
    escaped = keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return Condition(" or ".join(f'"{column}" ilike {{0}}' for column in columns), (f"%{escaped}%",))


def _join(word: str, conditions: tuple[Condition, ...], none: Condition) -> Condition:
    if not conditions:
        return none
    parts: list[str] = []
    args: list[object] = []
    for condition in conditions:
        # Parameters are renumbered after those before: {0} of the second becomes {2} if the first has two.
        names = (f"{{{len(args) + index}}}" for index in range(len(condition.args)))
        # Formatting undoes doubled braces, so they are doubled again for the final formatting.
        parts.append(f"({_double(condition.sql).format(*names)})")
        args += condition.args
    return Condition(word.join(parts), tuple(args))


def _double(sql: str) -> str:
    return sql.replace("{{", "{{{{").replace("}}", "}}}}")
