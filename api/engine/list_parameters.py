"""The query parameters of lists, and which of them are common to all (docs/http-api.md#lists)."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ListParameters(msgspec.Struct, frozen=True, rename="camel"):
    """Every list parameter; those that a resource does not take stay at their defaults."""

    all: Annotated[bool, msgspec.Meta(description="Administrators and managers: all there are.")] = False
    user_id: Annotated[Id, msgspec.Meta(description="Those linked to this user.")] | None = None
    device_id: Annotated[Id, msgspec.Meta(description="Those linked to this device.")] | None = None
    group_id: Annotated[Id, msgspec.Meta(description="Those linked to this group.")] | None = None
    keyword: Annotated[str, msgspec.Meta(description="Text to be found, whatever its case.")] = ""
    limit: Annotated[Count, msgspec.Meta(description="At most so many; 0 is no limit.")] = 0
    offset: Annotated[Count, msgspec.Meta(description="Skip so many; only with `limit`.")] = 0
    exclude_attributes: Annotated[bool, msgspec.Meta(description="Leave `attributes` empty.")] = False
    refresh: Annotated[bool, msgspec.Meta(description="Taken for old clients; no effect.")] = False
    id: Annotated[tuple[Id, ...], msgspec.Meta(description="Those with these ids.")] = ()
    unique_id: Annotated[tuple[str, ...], msgspec.Meta(description="Those with these unique ids.")] = ()
    company_id: Annotated[Id, msgspec.Meta(description="Those of this company.")] | None = None
    branch_id: Annotated[Id, msgspec.Meta(description="Those of this branch; 0: of none.")] | None = None
    role: Annotated[str, msgspec.Meta(description="Those with this role, whatever its case.")] = ""
    kind: Annotated[tuple[str, ...], msgspec.Meta(description="Those of these kinds.")] = ()


COMMON_PARAMETERS = frozenset(
    {"all", "user_id", "keyword", "limit", "offset", "exclude_attributes", "refresh"}
)
"""What nearly every list takes."""
