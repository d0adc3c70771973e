"""The conduct of families that people write as they like: texts are trimmed and bounded, some are needed."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.engine.linked import Linked
from motorpool.api.errors import BadRequest
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
        self._needed = needed
        self._verbatim = verbatim

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
            if item.name in self._needed and not trimmed:
                raise BadRequest(f"{item.encode_name}: needed")
            if item.name not in self._verbatim:
                longest = LONGEST_NAME if item.name in NAMES else LONGEST_TEXT
                if len(trimmed) > longest:
                    raise BadRequest(f"{item.encode_name}: longer than {longest} characters")
                changed[item.name] = trimmed
        return msgspec.structs.replace(sent, **changed)
