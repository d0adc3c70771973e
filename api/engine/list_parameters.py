"""The query parameters of lists, and which of them are common to all (docs/http-api.md#lists)."""

import typing
from collections.abc import Callable, Collection
from functools import cache
from typing import Annotated, Literal, TypeVar, cast

import msgspec

from motorpool.api.engine.spans import Instant
from motorpool.api.field_docstrings import field_docstrings
from motorpool.api.json import camel

S = TypeVar("S", bound=msgspec.Struct)

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
MAX_PAGE = 1000
PageSize = Annotated[int, msgspec.Meta(ge=0, le=MAX_PAGE)]
"""The `limit` of a list that is never answered whole; 0 is `MAX_PAGE`."""
Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ListParameters(msgspec.Struct, frozen=True, rename="camel"):
    """Every list parameter; those that a resource does not take stay at their defaults."""

    all: bool = False
    """Administrators and managers: all there are."""
    user_id: Id | None = None
    """Only records linked to this user."""
    device_id: Id | None = None
    """Only records linked to this device."""
    group_id: Id | None = None
    """Only records linked to this group."""
    keyword: str = ""
    """Text to find, ignoring case."""
    limit: Count = 0
    """Maximum number of records; 0 is no limit."""
    offset: Count = 0
    """Number of records to skip; only with `limit`."""
    exclude_attributes: bool = False
    """Leave `attributes` empty."""
    refresh: bool = False
    """Taken for old clients; no effect."""
    id: tuple[Id, ...] = ()
    """Only records with these ids."""
    unique_id: tuple[str, ...] = ()
    """Only records with these unique ids."""
    company_id: Id | None = None
    """Only records of this company."""
    branch_id: Id | None = None
    """Only records of this branch; 0: of none."""
    role: str = ""
    """Only records with this role, ignoring case."""
    kind: tuple[str, ...] = ()
    """Only records of these kinds."""
    driver_id: Id | None = None
    """Only records of this driver."""
    start: Instant | None = None
    """Only records of spans that end after it."""
    end: Instant | None = None
    """Only records of spans that do not begin after it."""


def parameter_of(field: str) -> str:
    """Return the name of a list parameter in queries."""
    return {"start": "from", "end": "to"}.get(field) or camel(field)


COMMON_PARAMETERS = frozenset(
    {"all", "user_id", "keyword", "limit", "offset", "exclude_attributes", "refresh"}
)
"""What nearly every list takes."""


def select_parameters(
    source: type[msgspec.Struct],
    names: Collection[str],
    *,
    name: str,
    base: type[S],
    required: Collection[str] = (),
    rename: Literal["camel"] | Callable[[str], str] = "camel",
) -> type[S]:
    """Return query parameters as a struct: those of `base`, and the fields of `source` that are named.

    Those that are `required` have no default.
    """
    meanings = field_docstrings(source)
    fields = [
        (
            item.name,
            Annotated[item.type, msgspec.Meta(description=meanings[item.name])],
            msgspec.NODEFAULT if item.name in required else item.default,
        )
        for item in msgspec.structs.fields(source)
        if item.name in names or item.name in required
    ]
    return cast("type[S]", msgspec.defstruct(name, fields, bases=(base,), kw_only=True, rename=rename))


def with_whole_limit(sent: S) -> S:
    """Return a query whose `limit` of 0 is as many records as the list allows, if there is a maximum."""
    if getattr(sent, "limit", None) != 0 or not _has_pages(type(sent)):
        return sent
    return msgspec.structs.replace(sent, limit=MAX_PAGE)


@cache
def _has_pages(shape: type[msgspec.Struct]) -> bool:
    return bool(typing.get_type_hints(shape, include_extras=True)["limit"] == PageSize)
