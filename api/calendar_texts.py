"""The JSON of positions, written once for all who ask: a stored position never changes."""

from collections.abc import Iterable

import msgspec

from motorpool.api.json import encode
from motorpool.storage.records import Position

__all__ = ["Texts"]

MOST = 20_000
"""Some 500 bytes each."""


class Texts:
    """Remembers the newest."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known: dict[int, msgspec.Raw] = {}

    def of(self, positions: Iterable[Position]) -> list[msgspec.Raw]:
        """Return the JSON of each."""
        known = self._known
        found = []
        for position in positions:
            text = known.get(position.id)
            if text is None:
                text = known[position.id] = msgspec.Raw(encode(position))
            found.append(text)
        if len(known) > self._most:
            # The oldest half: dictionaries keep the order in which they were filled.
            for position_id in list(known)[: len(known) - self._most // 2]:
                del known[position_id]
        return found
