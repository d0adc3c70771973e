"""A span of time as queries name it: `from` and `to`, both ends included."""

from datetime import datetime
from typing import Annotated

import msgspec

Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class Span(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """A span of time, both ends included."""

    start: Instant
    end: Instant
