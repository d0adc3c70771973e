"""The policy of families that people write as they like: texts are trimmed and bounded, some are needed."""

import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.engine.linked_policy import Linked
from motorpool.api.http.errors import BadRequest
from motorpool.storage.links import Pair
from motorpool.storage.tables import Table

__all__ = ["Plain"]

R = TypeVar("R", bound=msgspec.Struct)

NAMES = frozenset({"name", "unique_id", "type"})
LONGEST_NAME = 128
LONGEST_TEXT = 4000


class Plain(Linked[R]):
    """Linked users read and write. What can be seen to be wrong is refused before a transaction is begun."""

    def __init__(
        self,
        table: Table[Any],
        link: Pair,
        *,
        device_link: Pair | None = None,
        group_link: Pair | None = None,
        references: Mapping[str, Table[Any]] | None = None,
        user_id_expands: bool = False,
        needed: tuple[str, ...] = (),
        verbatim: tuple[str, ...] = (),
    ) -> None:
        """`needed` texts must not be empty; `verbatim` ones stay as they are and have bounds of their own."""
        super().__init__(
            table,
            link,
            device_link=device_link,
            group_link=group_link,
            references=references,
            user_id_expands=user_id_expands,
        )
        self.needed = needed
        self._verbatim = verbatim
        hints = typing.get_type_hints(table.record)
        self._texts = {name for name, kind in hints.items() if kind in {str, str | None}}

    def longest(self, name: str) -> int | None:
        """What is trimmed is bounded, as it was sent."""
        if name not in self._texts or name in self._verbatim:
            return None
        return LONGEST_NAME if name in NAMES else LONGEST_TEXT

    async def read(self, call: Call, shape: type[R]) -> R:
        """Read a body, trim its texts and check it."""
        return await self.check(self._trimmed(await call.body(shape)))

    async def check(self, sent: R) -> R:
        """Refuse with 400 what is wrong in itself; return what is to be stored."""
        return sent

    def _trimmed(self, sent: R) -> R:
        changed = {}
        for item in msgspec.structs.fields(sent):
            text = getattr(sent, item.name)
            if not isinstance(text, str):
                continue
            trimmed = text.strip()
            if item.name in self.needed and not trimmed:
                raise BadRequest(f"{item.encode_name}: needed")
            longest = self.longest(item.name)
            if longest is not None:
                if len(text) > longest:
                    raise BadRequest(f"{item.encode_name}: longer than {longest} characters")
                changed[item.name] = trimmed
        return msgspec.structs.replace(sent, **changed)
