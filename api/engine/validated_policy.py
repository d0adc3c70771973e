"""Validation of what users enter: texts are trimmed and limited in length, some are required."""

import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.engine.linked_policy import LinkedPolicy
from motorpool.api.http.errors import BadRequest
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.tables import Table

R = TypeVar("R", bound=msgspec.Struct)

NAMES = frozenset({"name", "unique_id", "type"})
MAX_NAME_LENGTH = 128
MAX_TEXT_LENGTH = 4000


class ValidatedPolicy(LinkedPolicy[R]):
    """Linked users read and write. Bodies are validated before a transaction is begun."""

    def __init__(
        self,
        table: Table[Any],
        link: LinkType,
        *,
        device_link: LinkType | None = None,
        group_link: LinkType | None = None,
        references: Mapping[str, Table[Any]] | None = None,
        user_id_expands: bool = False,
        required: tuple[str, ...] = (),
        verbatim: tuple[str, ...] = (),
    ) -> None:
        """`required` texts must not be empty; `verbatim` ones are neither trimmed nor bounded."""
        super().__init__(
            table,
            link,
            device_link=device_link,
            group_link=group_link,
            references=references,
            user_id_expands=user_id_expands,
        )
        self.required = required
        self._verbatim = verbatim
        hints = typing.get_type_hints(table.record)
        self._texts = {name for name, kind in hints.items() if kind in {str, str | None}}

    def max_length(self, name: str) -> int | None:
        """Limit every trimmed text, in the length it was sent."""
        if name not in self._texts or name in self._verbatim:
            return None
        return MAX_NAME_LENGTH if name in NAMES else MAX_TEXT_LENGTH

    async def read(self, call: Call, shape: type[R]) -> R:
        """Read a body, trim its texts and check it."""
        return await self.validate(self._trimmed(await call.body(shape)))

    async def validate(self, sent: R) -> R:
        """Return what is to be stored; BadRequest for invalid values."""
        return sent

    def _trimmed(self, sent: R) -> R:
        changed = {}
        for item in msgspec.structs.fields(sent):
            text = getattr(sent, item.name)
            if not isinstance(text, str):
                continue
            trimmed = text.strip()
            if item.name in self.required and not trimmed:
                raise BadRequest(f"{item.encode_name}: needed")
            longest = self.max_length(item.name)
            if longest is not None:
                if len(text) > longest:
                    raise BadRequest(f"{item.encode_name}: longer than {longest} characters")
                changed[item.name] = trimmed
        return msgspec.structs.replace(sent, **changed)
