"""The JSON of positions, encoded once for all clients: a stored position only ever gets an address."""

from collections.abc import Iterable

import msgspec

from motorpool.actors.words.record_json import encode
from motorpool.storage.records import Position

MAX_POSITIONS = 20_000
"""About 500 bytes each."""


class PositionJsonCache:
    """Keeps the JSON of the positions encoded last."""

    def __init__(self, *, max_positions: int = MAX_POSITIONS) -> None:
        self._max_positions = max_positions
        self._encoded: dict[int, msgspec.Raw] = {}
        """By the id of the position; by the negative id if it has an address."""

    def encode_all(self, positions: Iterable[Position]) -> list[msgspec.Raw]:
        """Return the JSON of each."""
        encoded = self._encoded
        found = []
        for position in positions:
            key = position.id if position.address is None else -position.id
            text = encoded.get(key)
            if text is None:
                text = encoded[key] = msgspec.Raw(encode(position))
            found.append(text)
        if len(encoded) > self._max_positions:
            # Keep the newest half: dictionaries keep the order in which they were filled.
            for position_id in list(encoded)[: len(encoded) - self._max_positions // 2]:
                del encoded[position_id]
        return found
