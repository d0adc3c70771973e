"""The servers of a machine, as one of them knows them."""

from collections.abc import Callable
from dataclasses import dataclass

from motorpool.api.nodes.control import Siblings


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The place of a server among those of its machine."""

    index: int
    """Of this server, from 0."""
    siblings: Callable[[], Siblings]
    """Which are ready now, this one included."""
