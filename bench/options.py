"""Options of a bench run, and the protocol of a scenario."""

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from motorpool.bench.figures import Summary


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The command line of `motorpool bench`, as the scenarios see it."""

    seconds: float | None = None
    """Length of each measured span; None: the default of the scenario."""
    minutes: float = 10.0
    """Length of the scenarios `play`, `soak`, `fuzz` and `servers`."""
    terminals: int = 1000
    idle_terminals: int = 10_000
    streams: int = 400
    actors: int = 100_000
    schedules: int = 10_000
    tickets: int = 200
    """Tickets a second that the scenario `tickets` creates."""
    overdue: int = 10_000
    """Tickets that are overdue when the server of the scenario `tickets` starts again."""
    breaches: int = 0
    """Tickets that breach within a minute in the scenario `tickets`."""
    soak_streams: int = 40
    """Live streams of the scenario `soak`; each has two viewers."""
    soak_requests: float = 50.0
    """API requests a second of the scenario `soak`."""
    soak_sockets: int = 20
    """WebSockets of the scenario `soak`."""
    rules: bool = False
    """Whether `ingest` also measures devices with geofences, computed attributes and all other rules."""
    protocol: str | None = None
    """Another one that `ingest` measures beside JT/T 808, or the one by which `trips` sends."""
    nodes: int = 1
    """Processes of each server that `ingest` starts."""
    udp: bool = False
    """Whether that one's devices send datagrams."""
    seed: int = 1
    """Of the mutations of `fuzz`, the first drill of `servers` and the days of `trips`."""
    drills: int = 0
    """Episodes of random faults that `servers` makes, in place of those that take turns; 0: none."""
    servers: int = 2
    """Servers of `servers`: of three and more, the last two are processes of one machine."""
    nats: bool = False
    """Whether NATS links the servers of `servers`."""
    cameras: int = 6
    """Cameras of `servers` that stream to whichever server they are connected to."""
    days: int = 200
    """Days of the scenario `trips`."""
    kinds: tuple[str, ...] = ()
    """Kinds of vehicles of `trips`; none: all."""
    jobs: tuple[int, ...] = ()
    """Numbers of the jobs that `console` does, and it measures nothing else; none: it measures all."""
    server: str | None = None
    """Address of the server to be measured; None: one that the scenario starts."""
    email: str = ""
    """The account there."""
    password: str = ""
    ports: dict[str, int] = {}
    """Ports of its devices by protocol, where they are not the usual ones."""
    database_pid: int | None = None
    """Process of its PostgreSQL, if that runs on this machine and its CPU and memory are of interest."""
    clients: int = 1
    """Processes that the clients of `ingest`, `api` and `websocket` are spread over."""
    ramp: bool = False
    """Whether `ingest` also looks for the highest rate within `bound_ms`."""
    bound_ms: float = 100.0
    """Latency that 99 of 100 messages keep at the highest rate."""
    sockets: int = 200
    """WebSockets of the scenario `websocket`."""
    vehicles: int = 2000
    """Fleet of the scenarios `mixed` and `storm`."""
    devices: int = 1_000_000
    """Rows of the scenario `size`."""
    stored: int = 10_000_000
    """Positions of the scenario `stored`."""

    def span(self, usual: float) -> float:
        """Return the length of a span whose default is `usual` seconds."""
        return usual if self.seconds is None else self.seconds


Step = Callable[[str], None]
"""Shows the next step and advances the progress bar."""


class Scenario(Protocol):
    """A module of `bench.scenarios`."""

    TITLE: str
    """One line for `--list`."""
    SERVER: Literal["none", "own", "any"]
    """Whether it measures this process, a server that it starts, or any server that `--server` names."""
    STEPS: int
    """Number of calls of `step` in `run`."""

    def run(self, options: Options, summary: Summary, step: Step) -> None:
        """Measure, and add figures to the summary.

        Raises:
            BenchError: it cannot be measured here, in one sentence.
        """


class BenchError(Exception):
    """A scenario cannot be run here; the text is one sentence for the operator."""


class NotThereError(BenchError):
    """The server has nothing of what a scenario measures."""
