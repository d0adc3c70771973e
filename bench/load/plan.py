"""What a load program is told, and what it tells: one JSON line in, a few out."""

import msgspec

from motorpool.bench.checks.media_integrity import Findings


class TerminalLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.terminals` shall do; the line on its standard input."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each. Every second one speaks the 2019 form."""
    mode: str
    """"saturate": each terminal sends as soon as it was answered. "paced": `rate` messages a second in all.
    "idle": they log in and stay silent. "echo": as saturate, 100 bytes without meaning."""
    seconds: float
    """To be measured, behind the warm-up."""
    warm_seconds: float = 1.0
    rate: float = 0.0
    first_epoch: float = 0.0
    """Device time of each terminal's message 0, in seconds since 1970."""


class Mark(msgspec.Struct, frozen=True, tag="mark"):
    """A moment that the parent may want to read counters at."""

    name: str
    """"ready": all are connected and logged in. "begin", "end": of the measured span."""


class TerminalResult(msgspec.Struct, frozen=True, kw_only=True, tag="terminals"):
    """What came of a TerminalLoad."""

    seconds: float
    answers: int
    """Within the measured span."""
    rejected: int
    """Of all answers, those that did not say "stored"."""
    late: int
    """Paced messages that had to wait because the one before was not answered yet."""
    p50_ms: float
    p99_ms: float
    worst_ms: float
    cpu_share: float
    """Of one core, that the client itself used."""
    answered: tuple[int, ...]
    """For each terminal: how many of its messages, from 0 on, were answered; warm-up included."""
    message_bytes: int


class CommandedLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.commanded` shall do; the line on its standard input."""

    host: str
    port: int
    phones: tuple[str, ...]
    """One terminal each. Every second one speaks the 2019 form."""
    message_id: int
    """Of the command that each of them waits for."""


class CommandedResult(msgspec.Struct, frozen=True, kw_only=True, tag="commanded"):
    """What came of a CommandedLoad."""

    arrivals: tuple[float, ...]
    """For each terminal: when its first command was whole, in seconds since 1970; 0 where none came."""
    repeated: int
    """Commands that came to a terminal which had one already."""


class ReporterLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.reporters` shall do; the line on its standard input."""

    terminals: TerminalLoad
    """Who reports, and how often; mode and seconds are of no meaning here."""
    edge_epoch: float
    """The instant that parts the two spans, in seconds since 1970."""
    before_seconds: float
    during_seconds: float


class ReportSpan(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of one span."""

    answers: int
    p50_ms: float
    p99_ms: float
    worst_ms: float


class ReporterResult(msgspec.Struct, frozen=True, kw_only=True, tag="reporters"):
    """What came of a ReporterLoad: latencies count from when each message was due."""

    before: ReportSpan
    during: ReportSpan
    """From the edge on, the last answers included, however late they came."""
    sent: int
    """All messages, warm-up included."""
    rejected: int
    lost: int
    """Sent and never answered."""
    late: int
    """From the edge on: messages that had to wait because the one before was not answered yet."""


class CameraLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.cameras` shall do; the line on its standard input."""

    host: str
    port: int
    phones: tuple[str, ...]
    film: str
    """File with the access units to be sent over and over (`bench.footage`)."""


class ReaderLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.readers` shall do; the line on its standard input."""

    url: str
    """Of the server."""
    email: str
    password: str
    streams: tuple[tuple[int, int], ...]
    """Device id and channel of each."""
    folder: str
    """Where the segments are kept until they are checked."""
    film: str
    """What the cameras of these streams send."""


class ViewerLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.viewers` shall do; the line on its standard input."""

    host: str
    port: int
    email: str
    password: str
    streams: tuple[tuple[int, int], ...]
    """Device id and channel of each."""
    viewers: int
    """All together, spread evenly over the streams."""
    seconds: float
    warm_seconds: float
    """Before that, in which they come one after the other."""


class RequestLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.load.requests` shall do; the line on its standard input."""

    host: str
    port: int
    messages: tuple[str, ...]
    """Whole HTTP/1.1 requests as text, sent in turn; each is answered with a Content-Length."""
    rate: float
    """Requests a second, sent when they are due whether or not others were answered."""
    seconds: float
    warm_seconds: float = 1.0


class RequestResult(msgspec.Struct, frozen=True, kw_only=True, tag="requests"):
    """What came of a RequestLoad, counted from when each request was due."""

    seconds: float
    answers: int
    failures: int
    """Answers with a status other than 200, and requests that were never answered."""
    body_bytes: int
    """Of the last answer."""
    p50_ms: float
    p99_ms: float
    worst_ms: float
    cpu_share: float


class Streaming(msgspec.Struct, frozen=True, tag="streaming"):
    """How many cameras are filming now."""

    cameras: int


class CameraResult(msgspec.Struct, frozen=True, kw_only=True, tag="cameras"):
    """What came of a CameraLoad since the beginning, or since this was last asked for."""

    frames: int
    """Pictures sent, all cameras together."""
    late_ms: float
    """The longest that a unit was sent after its time."""
    stalled: int
    """Units that found the socket full and had to wait."""
    cpu_share: float


class ReaderResult(msgspec.Struct, frozen=True, kw_only=True, tag="readers"):
    """What one reader on every stream saw."""

    segments: int
    findings: Findings
    missed: int
    """Segments that left the window before they were read."""
    unread: int
    """Streams of which not one segment was read."""
    p50_ms: float
    """Of a look at a playlist."""
    p99_ms: float
    cpu_share: float


class ViewerResult(msgspec.Struct, frozen=True, kw_only=True, tag="viewers"):
    """What came of a ViewerLoad; times from a request to the last byte of its answer."""

    segments: int
    playlists: int
    failures: int
    """Answers that were no segment and no playlist, and connections that broke."""
    missed: int
    """Segments that left the window before their viewer came to them."""
    stalls: int
    """Segments that came after all that their viewer had was shown."""
    segment_p50_ms: float
    segment_p99_ms: float
    segment_worst_ms: float
    playlist_p99_ms: float
    cpu_share: float


Told = (
    Mark
    | TerminalResult
    | CommandedResult
    | ReporterResult
    | RequestResult
    | Streaming
    | CameraResult
    | ReaderResult
    | ViewerResult
)
Load = TerminalLoad | CommandedLoad | ReporterLoad | RequestLoad | CameraLoad | ReaderLoad | ViewerLoad
