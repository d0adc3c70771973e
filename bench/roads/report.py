"""What a tracker sends, beside where the vehicle truly was."""

from datetime import datetime

import msgspec


class Report(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A report; times are aware, in UTC."""

    instant: datetime
    """When it was made."""
    true_latitude: float
    """Where the vehicle was then."""
    true_longitude: float
    sent_time: datetime
    """When it reached the server."""
    fix_time: datetime
    """What it says of its time; `instant` unless the tracker's clock has jumped."""
    valid: bool
    """False: without a fix; the place is the last one or 0, 0."""
    latitude: float
    longitude: float
    altitude: float
    """Metres."""
    speed_knots: float
    course: float
    """Degrees from north, clockwise, 0 to 360."""
    ignition: bool | None
    odometer: float | None
    """Metres in its life."""
    archived: bool
    """Whether it was kept for want of a network."""
