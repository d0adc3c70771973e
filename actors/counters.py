"""What the fleet counts for `/metrics`; the process's own, whatever tree runs in it.

Counted a batch at a time, or where something rare happens: never once for each message.
"""

from prometheus_client import Counter

__all__ = [
    "CONNECTIONS_REFUSED",
    "COUNTERS",
    "DEVICES_REFUSED",
    "FRAMES_REJECTED",
    "MEDIA_UNITS_DROPPED",
    "POSITIONS_DROPPED",
    "POSITIONS_STORED",
    "POSITION_FLUSHES",
    "SEGMENTS_MADE",
]

POSITIONS_STORED = Counter("motorpool_positions_stored", "Positions committed.", registry=None)
POSITION_FLUSHES = Counter("motorpool_position_flushes", "Commits they took.", registry=None)
POSITIONS_DROPPED = Counter(
    "motorpool_positions_dropped", "Positions the database could not hold; never acknowledged.", registry=None
)
FRAMES_REJECTED = Counter(
    "motorpool_frames_rejected", "Pieces of device traffic dropped as broken.", ("protocol",), registry=None
)
DEVICES_REFUSED = Counter(
    "motorpool_devices_refused",
    "Logins of devices that are not known, disabled or expired.",
    ("protocol",),
    registry=None,
)
CONNECTIONS_REFUSED = Counter(
    "motorpool_connections_refused", "Connections past the limit of an address.", ("port",), registry=None
)
SEGMENTS_MADE = Counter("motorpool_segments", "Segments of live video made.", registry=None)
MEDIA_UNITS_DROPPED = Counter(
    "motorpool_media_units_dropped", "Pictures and sounds a busy stream did not take.", registry=None
)

COUNTERS = (
    POSITIONS_STORED,
    POSITION_FLUSHES,
    POSITIONS_DROPPED,
    FRAMES_REJECTED,
    DEVICES_REFUSED,
    CONNECTIONS_REFUSED,
    SEGMENTS_MADE,
    MEDIA_UNITS_DROPPED,
)
