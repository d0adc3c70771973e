"""PostgreSQL's refusals in our words: one table from SQLSTATE to the errors of this folder."""

import re
from dataclasses import dataclass

from motorpool.storage.errors import (
    Conflict,
    DatabaseReadOnly,
    DiskFull,
    Interrupted,
    LockNotAvailable,
    StatementRejected,
    StorageError,
    StorageUnavailable,
    TookTooLong,
    TooManyConnections,
    VersionFound,
)

_CONFLICTS = ("23505", "23P01")
_LOCKS = (
    "40P01",  # a deadlock
    "55P03",  # a lock was not free in time
)
_REJECTED = (
    "22",  # data exceptions: out of range, bad encoding
    "23",  # integrity: references, checks, not null
    "54",  # too long or too large for the server
)
_PASSING: dict[str, type[StorageUnavailable]] = {
    "25006": DatabaseReadOnly,
    "25P0": Interrupted,  # the transaction was ended for idling
    "40": Interrupted,  # two transactions that do not go together
    "53100": DiskFull,
    "53300": TooManyConnections,
    "57014": TookTooLong,
}
"""SQLSTATEs, or how they begin, of what passes, where more is known than that."""
_AWAY = (
    "08",  # the connection broke
    "28",  # our login is refused now
    "3D",  # our database is not there now
    "42501",  # we lack a right now
    "53",  # disk, memory or connections are used up
    "57",  # the server stops, starts or crashed
    "58",  # the system under the server failed
    "XX",  # the server itself failed
)

# Of `Key (unique_id)=(7) already exists.`, whatever the language of the server.
_KEY = re.compile(r"\((.*?)\)=\((.*)\)")
_NAME = re.compile(r"\b([a-z_]+)\b(?!\()")
_COMPANY = "company_id, "
_DETAIL_LETTERS = 100


@dataclass(frozen=True)
class DriverError:
    """A failed statement, as the driver describes it."""

    sqlstate: str
    text: str
    detail: str = ""
    constraint: str = ""
    column: str = ""


def translate(refusal: DriverError) -> StorageError:
    """Return the error to raise; an error in none of the classes above is a bug of ours."""
    state = refusal.sqlstate
    if state == VersionFound.SQLSTATE:
        return VersionFound(refusal.text)
    if state in _CONFLICTS:
        return Conflict(_field(refusal), refusal.constraint)
    if state == "23503":
        found = _KEY.search(refusal.detail)
        value = f" {_value(found)[:_DETAIL_LETTERS]}" if found else ""
        return StatementRejected(f"{_field(refusal)}{value} refers to nothing that exists")
    if state == "23502":
        return StatementRejected(f"{_camel(refusal.column)} is missing")
    if state == "23514":
        text = f"a value is not allowed ({refusal.constraint})"
        return StatementRejected(text, shown="a value is not allowed")
    if state in _LOCKS:
        return LockNotAvailable(refusal.text)
    if state.startswith(_REJECTED):
        return StatementRejected(refusal.text, shown="a value cannot be stored")
    return passing_error(state, refusal.text) or StorageError(refusal.text)


def passing_error(state: str, text: str) -> StorageUnavailable | None:
    """Return the error for what may pass; None for a state that says something else."""
    if DiskFull.SIGN in text:
        return DiskFull(text)
    for beginning, kind in _PASSING.items():
        if state.startswith(beginning):
            return kind(text)
    return StorageUnavailable(text) if state.startswith(_AWAY) else None


def _field(refusal: DriverError) -> str:
    """The API's name of the first column of the key: of `lower(email)` that is "email".

    For a key within a company, such as (company_id, unique_id), the second column counts.
    """
    found = _KEY.search(refusal.detail)
    name = _NAME.search(found[1].removeprefix(_COMPANY)) if found else None
    return _camel(name[1]) if name else "a value"


def _value(key: re.Match[str]) -> str:
    return key[2].partition(", ")[2] if key[1].startswith(_COMPANY) else key[2]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
