"""PostgreSQL's refusals in our words: one table from SQLSTATE to the errors of this folder."""

import re
from dataclasses import dataclass

from motorpool.storage.errors import (
    Conflict,
    LockNotAvailable,
    StatementRejected,
    StorageError,
    StorageUnavailable,
    TookTooLong,
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
_PASSING = (
    "08",  # the connection broke
    "25006",  # only reads are taken: the server is a standby just now
    "25P0",  # the transaction was ended for idling or with the server
    "28",  # our login is refused now
    "3D",  # our database is not there now
    "40",  # two transactions that do not go together
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
    if state == "57014":
        return TookTooLong(refusal.text)
    if state.startswith(_REJECTED):
        return StatementRejected(refusal.text, shown="a value cannot be stored")
    if state.startswith(_PASSING):
        return StorageUnavailable(refusal.text)
    return StorageError(refusal.text)


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
