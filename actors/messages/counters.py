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


COUNTERS: list[Collector] = []
"""All, in the order of `/metrics`."""


def _counter(name: str, text: str, *labels: str) -> Counter:
    counter = Counter(f"motorpool_{name}", text, labels, registry=None)
    COUNTERS.append(counter)
    return counter


def _fast_counter(name: str, text: str) -> FastCounter:
    counter = FastCounter(f"motorpool_{name}", text)
    COUNTERS.append(counter)
    return counter


def _gauge(name: str, text: str, *labels: str) -> Gauge:
    gauge = Gauge(f"motorpool_{name}", text, labels, registry=None)
    COUNTERS.append(gauge)
    return gauge


def begin_at_zero(label: str, *counters: Counter) -> None:
    """Show counters from now on that count by this label.

    Prometheus sees no increase where a counter appears with its first event: an alarm would miss it.
    """
    for counter in counters:
        counter.labels(label)


POSITIONS_STORED = _counter("positions_stored", "Positions committed.")
POSITION_FLUSHES = _counter("position_flushes", "Commits they took.")
POSITIONS_DROPPED = _counter(
    "positions_dropped", "Positions the database could not hold; never acknowledged."
)
FRAMES_REJECTED = _counter("frames_rejected", "Pieces of device traffic dropped as broken.", "protocol")
CHECKSUM_ERRORS = _counter(
    "checksum_errors", "Frames of devices that were decoded although their check value is wrong.", "protocol"
)
DATAGRAMS_DROPPED = _counter(
    "datagrams_dropped",
    "Datagrams from devices, or answers, that found no room, and those of addresses whose device is unknown.",
    "protocol",
)
DEVICES_REFUSED = _counter(
    "devices_refused",
    "Logins of devices that are not known, disabled or expired, or that differ from what is known of them.",
    "protocol",
)
CONNECTIONS_REFUSED = _counter("connections_refused", "Connections past the limit of an address.", "port")
PROXY_HEADERS_REJECTED = _counter(
    "proxy_headers_rejected",
    "Connections of trusted proxies that were closed as their PROXY header was missing or malformed.",
    "port",
)
ACCEPT_FAILURES = _counter("accept_failures", "Connections that could not be accepted.", "port")
LOG_LINES_SUPPRESSED = _fast_counter(
    "log_lines_suppressed",
    "Log lines that were left out: about peers, as there were too many, or about an outage that was told.",
)
SEGMENTS_MADE = _counter("segments", "Segments of live video made.")
MEDIA_UNITS_DROPPED = _counter("media_units_dropped", "Pictures and sounds a busy stream did not take.")
TALKS = _counter("talks", "Talks with drivers for which terminals were told to connect.")
TALK_SAMPLES_DROPPED = _counter(
    "talk_samples_dropped", "Samples of sound of talks that came too fast or could not be sent in time."
)
MESSAGES_RECEIVED = _fast_counter("messages_received", "Messages that devices sent.")
MAIL_SENT = _fast_counter("mail_sent", "Mails that the mail server took.")
SMS_SENT = _fast_counter("sms_sent", "Text messages that the gateway took.")
GEOCODER_REQUESTS = _fast_counter("geocoder_requests", "Questions to the geocoder; none from its memory.")
ADDRESSES_SKIPPED = _fast_counter(
    "addresses_skipped", "Positions that got no address, as the geocoder was too slow or failed."
)
FORWARDED = _fast_counter("forwarded", "Positions and events that another server took.")
FORWARD_DROPPED = _counter(
    "forward_dropped",
    "Positions and events that were not forwarded, by reason: full, refused or expired.",
    "reason",
)
OUTBOX_GIVEN_UP = _counter("outbox_given_up", "Mails and text messages that never went out.", "lane")
NOTIFICATIONS_MADE = _counter(
    "notifications", "Messages that were made of events, one for each user and way."
)
NOTIFICATIONS_DISCARDED = _counter(
    "notifications_discarded", "Notifications past a limit, or that could not be made."
)
WORKERS_FAILED = _counter("media_workers_failed", "Processes for media that crashed or hung.", "work")
FILE_BYTES = _gauge("file_bytes", "Files of devices on disk, as of the last sweep.", "kind")
FILES_REMOVED = _counter("files_removed", "Files of devices removed for quota or age.", "kind")
STEPS_SETTLED = _counter("steps", "Steps of scheduled commands, by what came of them.", "status")
TICKETS_SETTLED = _counter("tickets_settled", "Tickets the ticket clock looked at when they were due.")
RULE_EVENTS_DISCARDED = _counter(
    "ticket_rule_events_discarded", "Events of which ticket rules could not make what they should."
)
TICKETS_RECALCULATED = _counter(
    "tickets_recalculated", "Tickets examined after a change of their priority, calendar or time zone."
)
TICKETS_FAILED = _counter("tickets_failed", "Tickets the ticket clock could not settle or compute.")
TICKETS_OVERDUE = _gauge(
    "tickets_overdue_seconds", "How long the ticket that is due longest has waited for the ticket clock."
)
