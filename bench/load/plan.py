"""Messages of load programs: one JSON line to standard input (a load), a few from standard output."""

from datetime import datetime

import msgspec

from motorpool.bench.checks.media_integrity import Findings
from motorpool.bench.latencies import Latencies, Timed


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """What the clients of a load program do next: one line on its standard input, once they are connected."""

    seconds: float
    rate: float = 0.0
    """Messages a second of all clients of the program, each sent when it is due, in an open loop; 0: each
    client sends again as soon as it was answered, in a closed loop."""
    start: float = 0.0
    """When it begins, by `time.perf_counter`, which the processes of a machine share; 0: now."""


class TerminalLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.terminals`: one line on its standard input. Any further line is a Span."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each; every second one uses the 2019 version."""
    mode: str = ""
    """For a load without spans. "saturate": each terminal sends as soon as it was answered. "paced": `rate`
    messages a second in all. "echo", with spans, too: as saturate, with 100 arbitrary bytes."""
    protocol: str = "jt808"
    """Another than JT/T 808 is for `bench.load.trackers`; `phones` are its unique ids then."""
    udp: bool = False
    """Whether the trackers send datagrams."""
    seconds: float = 0.0
    """Measured time, after the warm-up; 0: spans follow."""
    warm_seconds: float = 1.0
    rate: float = 0.0
    first_epoch: float = 0.0
    """Device time of each terminal's message 0, in seconds since 1970."""
    origins: tuple[tuple[float, float], ...] = ()
    """Latitude and longitude, north and east, where each terminal begins; none: at the Brandenburger Tor."""


class Mark(msgspec.Struct, frozen=True, tag="mark"):
    """A point in time at which the parent may read counters."""

    name: str
    """"ready": all are connected and logged in. "begin", "end": of the measured span."""


class TerminalResult(Timed, frozen=True, kw_only=True, tag="terminals"):
    """Result of a TerminalLoad, or of a Span of one.

    In an open loop latencies count from when a message was due, those that were answered after the span
    included; one that could not be sent within the span has the time it had waited.
    """

    seconds: float
    answers: int
    """Within the measured span."""
    rejected: int
    """Answers with a result other than success."""
    late: int
    """Paced messages delayed because the previous one was not answered yet."""
    lag_ms: float
    """How much later than due the client sent paced messages that nothing else delayed (p99)."""
    unanswered: int
    """Sent and not answered long after the span."""
    cpu_share: float
    """Share of one core that the client used; of several the busiest."""
    cpu_seconds: float
    resident_bytes: int
    """Memory of the client."""
    start: float
    """When the span began, by `time.perf_counter`."""
    first_numbers: tuple[int, ...]
    """For each terminal, the number of its first message in the span."""
    answered: tuple[int, ...]
    """For each terminal, the number of messages answered, warm-up included."""
    message_bytes: int
    first_place: int
    """Of the terminal whose turn was first, in an open loop."""


class CrossingLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.crossings`: one line on its standard input."""

    terminals: TerminalLoad
    """Paced."""
    device_ids: tuple[int, ...]
    """Those of the terminals, in their order."""
    http_port: int
    cookie: str
    """Of the session of the user whose WebSocket is watched."""


class CrossingResult(Timed, frozen=True, kw_only=True, tag="crossings"):
    """Result of a CrossingLoad: times are from the bytes of a position to its event, in the measured span."""

    terminals: TerminalResult
    events: int
    missing: int
    """Events that did not come, warm-up included."""
    unexpected: int


class OrderedReadLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.ordered_read`: one line on its standard input."""

    database: dict[str, str]
    """Keyword arguments of `asyncpg.connect`."""
    device_ids: tuple[int, ...]
    start: datetime
    end: datetime


class OrderedReadResult(msgspec.Struct, frozen=True, kw_only=True, tag="ordered_read"):
    """Result of an OrderedReadLoad."""

    seconds: float
    cpu_seconds: float
    rows: int


class RegistrationLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.registrations`: one line on its standard input."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each; every second one uses the 2019 version."""
    at_once: int = 0
    """Terminals that register in the same moment, the next ones once these were answered; 0: all."""


class RegistrationResult(Timed, frozen=True, kw_only=True, tag="registrations"):
    """Result of a RegistrationLoad: times count from when the first terminal sent its registration."""

    seconds: float
    """Until the last answer."""
    accepted: int
    refused: int
    """Answered with a result other than success, or closed."""
    unanswered: int


class CommandedLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.commanded`: one line on its standard input."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each; every second one uses the 2019 version."""
    message_id: int
    """Message id of the command that each of them waits for."""


class CommandedResult(msgspec.Struct, frozen=True, kw_only=True, tag="commanded"):
    """Result of a CommandedLoad."""

    arrivals: tuple[float, ...]
    """For each terminal, when its first command arrived, in seconds since 1970; 0 if none did."""
    repeated: int
    """Commands received by terminals that had one already."""


class RoamerLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.roamers`: one line on its standard input."""

    host: str
    ports: tuple[int, ...]
    """One server each; the terminals begin at these in turn."""
    phones: tuple[str, ...]
    """One terminal each; every second one uses the 2019 version."""
    rate: float
    """Positions a second in all."""
    first_epoch: float
    """Device time of each terminal's position 0, in seconds since 1970; each later one is a second on."""
    answer_seconds: float = 5.0
    """A terminal considers its connection lost after this time without an answer."""
    moves: float = 0.0
    """Terminals a second that connect to the next server, with their earlier connection still open."""
    timed_seconds: float = 0.0
    """From when all have logged in, the span of whose positions it is noted when they were sent."""


class TerminalSession(msgspec.Struct):
    """A terminal's time at one server, in seconds since 1970; 0: not yet."""

    terminal: int
    server: int
    began: float
    """When the login was answered."""
    acknowledged: float = 0.0
    """Its first position."""
    ended: float = 0.0


class TextReceived(msgspec.Struct, frozen=True):
    """A text (0x8300) at a terminal."""

    terminal: int
    server: int
    text: str
    instant: float
    """Seconds since 1970."""


class RoamerPlaces(msgspec.Struct, frozen=True, kw_only=True, tag="roamer_places"):
    """The server that each terminal is logged in at now."""

    instant: float
    """Seconds since 1970."""
    servers: tuple[int, ...]
    """-1: nowhere."""
    since: tuple[float, ...]
    """When it logged in there, or left or lost its last server."""


class RoamerResult(msgspec.Struct, frozen=True, kw_only=True, tag="roamers"):
    """Result of a RoamerLoad, since the beginning."""

    sent: tuple[int, ...]
    """Positions of each terminal: numbers from 0."""
    unanswered: tuple[tuple[int, ...], ...]
    """The numbers among them that were not acknowledged."""
    sessions: tuple[TerminalSession, ...]
    times: tuple[tuple[float, ...], ...]
    """When each terminal sent its first positions, in seconds since 1970."""
    texts: tuple[TextReceived, ...]
    answers: int
    rejected: int
    """Answers with a result other than success."""
    p50_ms: float
    p99_ms: float


class SocketLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.sockets`: one line on its standard input."""

    host: str
    ports: tuple[int, ...]
    """One WebSocket at each server."""
    token: str
    """Of a user who sees the devices."""
    seconds: float
    """How long they are read."""


class Arrival(msgspec.Struct, frozen=True, array_like=True):
    """A position on a WebSocket; times in seconds since 1970."""

    device_id: int
    device_time: float
    instant: float


class SocketResult(msgspec.Struct, frozen=True, kw_only=True, tag="sockets"):
    """Result of a SocketLoad."""

    arrivals: tuple[tuple[Arrival, ...], ...]
    """On each WebSocket."""


class WatcherLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.watchers`: one line on its standard input. A further line is a WatchedSpan."""

    host: str
    port: int
    cookie: str
    """Of a session of a user who sees the devices."""
    sockets: int


class WatchedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A span of terminals in an open loop that is over, and whose positions are awaited on WebSockets."""

    start: float
    """As in Span; also `rate`."""
    rate: float
    device_ids: tuple[int, ...]
    """Those of the terminals, in the order in which they send."""
    first_numbers: tuple[int, ...]
    """For each terminal, the number of its first position in the span."""
    numbers: tuple[int, ...]
    """And that of the first one after it."""
    first_place: int
    """Of the terminal whose turn was first."""
    first_epoch: float
    """Device time of each terminal's position 0, in seconds since 1970."""


class WatcherResult(Timed, frozen=True, kw_only=True, tag="watchers"):
    """Result of a WatchedSpan, counted at each WebSocket.

    Latencies are from when a position was due until it came, or a later one of its device.
    """

    passed_over: int
    """Positions in whose place a later one came."""
    missing: int
    """Positions that did not come, and no later one."""
    lost: int
    """WebSockets that the server has ended."""
    cpu_share: float


class StormLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.storm`: one line on its standard input; at the next one all connections end."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each."""
    recorded: int
    """Positions that each has recorded meanwhile."""
    first_epoch: float
    """Device time of the first of them, in seconds since 1970; each later one is a second on."""
    seconds: float
    """How long all of it may take."""


class StormResult(Timed, frozen=True, kw_only=True, tag="storm"):
    """Result of a StormLoad; times count from when all began to connect, those of logins are `latencies`."""

    seconds: float
    backlogs: Latencies
    """Until the last recorded position of a terminal was acknowledged."""
    attempts: int
    """Connections that were tried."""
    rejected: int
    """Answers with a result other than success."""
    acknowledged: tuple[int, ...]
    """For each terminal, how many of its recorded positions were acknowledged."""
    cpu_share: float


class ReporterLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.reporters`: one line on its standard input."""

    terminals: TerminalLoad
    """The terminals and their rate; `mode` and `seconds` are ignored."""
    edge_epoch: float
    """The instant between the two spans, in seconds since 1970."""
    before_seconds: float
    during_seconds: float


class ReportSpan(Timed, frozen=True, kw_only=True):
    """The answers of one span."""

    answers: int


class ReporterResult(msgspec.Struct, frozen=True, kw_only=True, tag="reporters"):
    """Result of a ReporterLoad: latencies count from when each message was due."""

    before: ReportSpan
    during: ReportSpan
    """After the edge, the last answers included, however late they arrived."""
    sent: int
    """All messages, warm-up included."""
    rejected: int
    lost: int
    """Sent and never answered."""
    late: int
    """After the edge, messages delayed because the previous one was not answered yet."""


class CameraLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.cameras`: one line on its standard input."""

    host: str
    ports: tuple[int, ...]
    """One server each; the terminals begin at these in turn, and go to the next one when theirs is lost."""
    phones: tuple[str, ...]
    loop_file: str
    """File with the access units to be sent over and over (`bench.vehicles.media_loop`)."""


class ReaderLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.readers`: one line on its standard input."""

    url: str
    """Of the server."""
    email: str
    password: str
    streams: tuple[tuple[int, int], ...]
    """Device id and channel of each."""
    folder: str
    """Folder in which segments are stored until they are checked."""
    loop_file: str
    """File with the loop that the cameras of these streams send."""


class ViewerLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.viewers`: one line on its standard input."""

    host: str
    port: int
    email: str
    password: str
    streams: tuple[tuple[int, int], ...]
    """Device id and channel of each."""
    viewers: int
    """Number of viewers, spread evenly over the streams."""
    seconds: float
    warm_seconds: float
    """Time before the measurement, in which viewers join one after the other."""


class RequestLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.requests`: one line on its standard input."""

    host: str
    port: int
    messages: tuple[str, ...]
    """Whole HTTP/1.1 requests as text, sent in turn."""
    rate: float = 0.0
    """Requests a second, sent on schedule whether or not earlier ones were answered; 0: each connection asks
    again as soon as it was answered."""
    connections: int = 64
    """Kept open. A request that is due while all of them wait for an answer is sent late and counts from when
    it was due."""
    seconds: float
    warm_seconds: float = 1.0


class RequestResult(Timed, frozen=True, kw_only=True, tag="requests"):
    """Result of a RequestLoad; latencies count from when each request was due, or sent in a closed loop."""

    seconds: float
    answers: int
    failures: int
    """Answers with a status other than 200, and requests that were never answered."""
    body_bytes: int
    """Of the last answer."""
    cpu_share: float
    reasons: tuple[str, ...]
    """Request lines and status lines of the first failures."""


class WebhookLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.webhook_receiver`: one line on its standard input; any other line stops it."""

    host: str
    port: int
    """Where it listens."""


class WebhookResult(msgspec.Struct, frozen=True, kw_only=True, tag="webhooks"):
    """Messages that a receiver of ticket webhooks got."""

    messages: int
    """Messages with different ids."""
    repeated: int
    """Messages whose id had come before."""
    out_of_order: int
    """Messages that did not follow the previous one of their ticket."""
    cpu_share: float


class ChurnLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.churn`: one line on its standard input."""

    host: str
    http_port: int
    jt808_port: int
    osmand_port: int
    email: str
    password: str
    token: str
    """Of the same user; for WebSockets and edits."""
    phones: tuple[str, ...]
    """Terminals that connect, report once and disconnect, one after the other."""
    sockets: int
    """WebSockets open at a time."""
    seconds: float


class ChurnResult(msgspec.Struct, frozen=True, kw_only=True, tag="churn"):
    """Result of a ChurnLoad."""

    counts: dict[str, int]
    """Completed "terminals", "osmand", "edits", "sessions" and "sockets", and "messages" of WebSockets."""
    failures: int
    reasons: tuple[str, ...]
    """Texts of the first failures."""


class FuzzedTracker(msgspec.Struct, frozen=True):
    """A tracker whose messages are mutated."""

    protocol: str
    port: int
    unique_id: str
    model: str
    """Of the tracker and of its device; empty: none."""


class FuzzLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.fuzz`: one line on its standard input."""

    host: str
    http_port: int
    jt808_port: int
    osmand_port: int
    media_ports: tuple[int, ...]
    trackers: tuple[FuzzedTracker, ...]
    token: str
    """Of an administrator, for requests that are to reach their handlers."""
    phone: str
    """A terminal whose messages and media are mutated."""
    device_id: int
    """Its device."""
    seed: int
    seconds: float


class FuzzResult(msgspec.Struct, frozen=True, kw_only=True, tag="fuzz"):
    """Result of a FuzzLoad."""

    sent: dict[str, int]
    """Mutated messages by port: "jt808", "trackers" (all other protocols), "osmand", "media", "http"."""
    statuses: dict[int, int]
    """Answers of HTTP by status."""
    server_errors: tuple[str, ...]
    """The first requests answered with 500."""
    server_error_count: int
    silent: int
    """HTTP requests without an answer in time."""


class Streaming(msgspec.Struct, frozen=True, tag="streaming"):
    """Number of cameras that are streaming."""

    cameras: int


class CameraResult(msgspec.Struct, frozen=True, kw_only=True, tag="cameras"):
    """Result of a CameraLoad since the beginning, or since it was last requested."""

    frames: int
    """Pictures sent, all cameras together."""
    late_ms: float
    """Largest delay of a unit after its due time."""
    stalled: int
    """Units delayed because the socket was full."""
    cpu_share: float
    sessions: tuple[TerminalSession, ...] = ()
    """Since the beginning; of a load with several servers."""


class ReaderResult(msgspec.Struct, frozen=True, kw_only=True, tag="readers"):
    """Result of one reader for each stream."""

    segments: int
    findings: Findings
    missed: int
    """Segments that left the window before they were read."""
    never_read: int
    """Streams of which no segment was read."""
    p50_ms: float
    """Time to fetch a playlist, less the time for which the server held it."""
    p99_ms: float
    cpu_share: float


class ViewerResult(msgspec.Struct, frozen=True, kw_only=True, tag="viewers"):
    """Result of a ViewerLoad. Times are from a request to the last byte of its answer, less those for which
    the server held it until there was something to read.
    """

    segments: int
    playlists: int
    held: int
    """Playlists that were."""
    failures: int
    """Failed requests and broken connections."""
    missed: int
    """Segments that left the window before their viewer requested them."""
    stalls: int
    """Segments that arrived after the viewer had played everything before."""
    segment_p50_ms: float
    segment_p99_ms: float
    segment_worst_ms: float
    playlist_p99_ms: float
    cpu_share: float


class AttackLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Input of `bench.load.attackers`."""

    host: str
    source: str
    """Address that the attackers come from."""
    http_port: int
    jt808_port: int
    osmand_port: int
    media_port: int
    seconds: float
    scale: float = 1.0
    """Multiplies how many peers attack."""


class AttackResult(msgspec.Struct, frozen=True, kw_only=True, tag="attack"):
    """Result of an AttackLoad, by the name of the attack."""

    attempts: dict[str, int]
    ended: dict[str, int]
    """Attempts that the server answered or closed within the time."""


Message = (
    Mark
    | AttackResult
    | TerminalResult
    | CrossingResult
    | OrderedReadResult
    | RegistrationResult
    | CommandedResult
    | RoamerPlaces
    | RoamerResult
    | SocketResult
    | WatcherResult
    | StormResult
    | ReporterResult
    | RequestResult
    | Streaming
    | CameraResult
    | ReaderResult
    | ViewerResult
    | ChurnResult
    | FuzzResult
    | WebhookResult
)
Load = (
    TerminalLoad
    | CrossingLoad
    | OrderedReadLoad
    | AttackLoad
    | RegistrationLoad
    | CommandedLoad
    | RoamerLoad
    | SocketLoad
    | WatcherLoad
    | StormLoad
    | ReporterLoad
    | RequestLoad
    | CameraLoad
    | ReaderLoad
    | ViewerLoad
    | ChurnLoad
    | FuzzLoad
    | WebhookLoad
)
