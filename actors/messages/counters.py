"""The counters of `/metrics`, one set for the process.

They are raised once a batch or on rare events, never once for each message.
"""

from collections.abc import Iterator

from prometheus_client import Counter, Gauge
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector


class FastCounter(Collector):
    """A counter raised by `value += 1`, at a tenth of the cost of `Counter.inc`."""

    def __init__(self, name: str, text: str) -> None:
        self.value = 0
        self._name = name
        self._text = text

    def collect(self) -> Iterator[Metric]:
        """Yield the value."""
        yield CounterMetricFamily(self._name, self._text, value=self.value)


POSITIONS_STORED = Counter("motorpool_positions_stored", "Positions committed.", registry=None)
POSITION_FLUSHES = Counter("motorpool_position_flushes", "Commits they took.", registry=None)
POSITIONS_DROPPED = Counter(
    "motorpool_positions_dropped", "Positions the database could not hold; never acknowledged.", registry=None
)
FRAMES_REJECTED = Counter(
    "motorpool_frames_rejected", "Pieces of device traffic dropped as broken.", ("protocol",), registry=None
)
CHECKSUM_ERRORS = Counter(
    "motorpool_checksum_errors",
    "Frames of devices that were decoded although their check value is wrong.",
    ("protocol",),
    registry=None,
)
DATAGRAMS_DROPPED = Counter(
    "motorpool_datagrams_dropped",
    "Datagrams from devices, or answers, that found no room, and those of addresses whose device is unknown.",
    ("protocol",),
    registry=None,
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
ACCEPT_FAILURES = Counter(
    "motorpool_accept_failures", "Connections that could not be accepted.", ("port",), registry=None
)
PROXY_HEADERS_REJECTED = Counter(
    "motorpool_proxy_headers_rejected",
    "Connections of trusted proxies that were closed as their PROXY header was missing or malformed.",
    ("port",),
    registry=None,
)
LOG_LINES_SUPPRESSED = FastCounter(
    "motorpool_log_lines_suppressed", "Log lines about peers that were left out, as there were too many."
)
SEGMENTS_MADE = Counter("motorpool_segments", "Segments of live video made.", registry=None)
MEDIA_UNITS_DROPPED = Counter(
    "motorpool_media_units_dropped", "Pictures and sounds a busy stream did not take.", registry=None
)
MESSAGES_RECEIVED = FastCounter("motorpool_messages_received", "Messages that devices sent.")
MAIL_SENT = FastCounter("motorpool_mail_sent", "Mails that the mail server took.")
SMS_SENT = FastCounter("motorpool_sms_sent", "Text messages that the gateway took.")
GEOCODER_REQUESTS = FastCounter(
    "motorpool_geocoder_requests", "Questions to the geocoder; none from its memory."
)
FORWARDED = FastCounter("motorpool_forwarded", "Positions and events that another server took.")
FORWARD_DROPPED = Counter(
    "motorpool_forward_dropped",
    "Positions and events that were not forwarded, by reason: full, refused or expired.",
    ("reason",),
    registry=None,
)
ADDRESSES_SKIPPED = FastCounter(
    "motorpool_addresses_skipped", "Positions that got no address, as the geocoder was too slow or failed."
)
OUTBOX_GIVEN_UP = Counter(
    "motorpool_outbox_given_up", "Mails and text messages that never went out.", ("lane",), registry=None
)

NOTIFICATIONS_MADE = Counter(
    "motorpool_notifications", "Messages that were made of events, one for each user and way.", registry=None
)
NOTIFICATIONS_DISCARDED = Counter(
    "motorpool_notifications_discarded",
    "Notifications past a limit, or that could not be made.",
    registry=None,
)
WORKERS_FAILED = Counter(
    "motorpool_media_workers_failed", "Processes for media that crashed or hung.", ("work",), registry=None
)
FILE_BYTES = Gauge(
    "motorpool_file_bytes", "Files of devices on disk, as of the last sweep.", ("kind",), registry=None
)
FILES_REMOVED = Counter(
    "motorpool_files_removed", "Files of devices removed for quota or age.", ("kind",), registry=None
)
STEPS_SETTLED = Counter(
    "motorpool_steps", "Steps of scheduled commands, by what came of them.", ("status",), registry=None
)

TICKETS_SETTLED = Counter(
    "motorpool_tickets_settled", "Tickets the ticket clock looked at when they were due.", registry=None
)
RULE_EVENTS_DISCARDED = Counter(
    "motorpool_ticket_rule_events_discarded",
    "Events of which ticket rules could not make what they should.",
    registry=None,
)
TICKETS_RECALCULATED = Counter(
    "motorpool_tickets_recalculated",
    "Tickets examined after a change of their priority, calendar or time zone.",
    registry=None,
)
TICKETS_FAILED = Counter(
    "motorpool_tickets_failed", "Tickets the ticket clock could not settle or compute.", registry=None
)
TICKETS_OVERDUE = Gauge(
    "motorpool_tickets_overdue_seconds",
    "How long the ticket that is due longest has waited for the ticket clock.",
    registry=None,
)

COUNTERS = (
    POSITIONS_STORED,
    POSITION_FLUSHES,
    POSITIONS_DROPPED,
    FRAMES_REJECTED,
    CHECKSUM_ERRORS,
    DATAGRAMS_DROPPED,
    DEVICES_REFUSED,
    CONNECTIONS_REFUSED,
    PROXY_HEADERS_REJECTED,
    ACCEPT_FAILURES,
    LOG_LINES_SUPPRESSED,
    SEGMENTS_MADE,
    MEDIA_UNITS_DROPPED,
    MESSAGES_RECEIVED,
    MAIL_SENT,
    SMS_SENT,
    GEOCODER_REQUESTS,
    ADDRESSES_SKIPPED,
    FORWARDED,
    FORWARD_DROPPED,
    OUTBOX_GIVEN_UP,
    NOTIFICATIONS_MADE,
    NOTIFICATIONS_DISCARDED,
    WORKERS_FAILED,
    FILE_BYTES,
    FILES_REMOVED,
    STEPS_SETTLED,
    TICKETS_SETTLED,
    RULE_EVENTS_DISCARDED,
    TICKETS_RECALCULATED,
    TICKETS_FAILED,
    TICKETS_OVERDUE,
)
