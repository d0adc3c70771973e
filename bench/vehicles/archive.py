"""Messages of a simulated device from the time before the simulation."""

from datetime import datetime
from typing import NamedTuple


class Archive(NamedTuple):
    """A span that a device reports before all else, as if it had been out of reach."""

    since: datetime
    until: datetime | None = None
    """None: the start of the simulation, and the device goes on from there. Otherwise it is gone afterwards;
    with a span that is empty it never connects."""
