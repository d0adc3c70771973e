"""Finds anomalies in the history of servers on one database: what was lost, done twice, or done out of turn.

A history is what clients saw and what the tables say; nothing here reads a clock, a socket or a database. The
epochs of a row give the order of its versions, so no order has to be inferred.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeVar

import msgspec

FRESH_SECONDS = 1.0
"""After an answered change every read must see it that begins so much later."""
HOME_SECONDS = 15.0
"""After a fault every device must be at home where it is connected."""

LIFE_SECONDS = 8.0
"""A server that the database has not heard from for this time may be declared dead."""

T = TypeVar("T")

Result = Literal["ok", "fail", "unknown"]
"""What the client was answered: done, refused, or nothing at all."""


class Anomaly(msgspec.Struct, frozen=True, order=True):
    """One violation."""

    rule: str
    text: str
    """Which row or device, for a person."""


class Reported(msgspec.Struct, frozen=True):
    """The positions of one terminal, by their numbers; each was sent once."""

    terminal: str
    acknowledged: frozenset[int]
    unanswered: frozenset[int]
    """Sent, and the connection was lost before an answer: stored or not."""
    stored: tuple[int, ...]
    """The rows."""


class Command(msgspec.Struct, frozen=True):
    """A request for a command, and how often it reached its device."""

    name: str
    result: Result
    arrivals: int
    is_due: bool = False
    """Whether it must have: its device stayed connected to a server that had all it needs."""


class Edge(msgspec.Struct, frozen=True):
    """An edge of a calendar window that was due for a scheduled command."""

    schedule: str
    instant: float
    runs: int
    """Run records of its first step for one device."""


class Listed(msgspec.Struct, frozen=True):
    """A segment as a viewer received it."""

    stream: str
    index: int
    digest: str
    """Of its content."""
    instant: float
    """When it was there."""
    server: str


class Playlist(msgspec.Struct, frozen=True):
    """The first and the last index that a playlist listed."""

    stream: str
    first: int
    last: int
    invoked: float
    answered: float
    server: str
    """The one that was asked; by one viewer at each."""
    is_settled: bool = True
    """Whether that server was not, and had not just been, frozen or cut off from the database."""


class Version(msgspec.Struct, frozen=True):
    """A version of a row that says who owns something."""

    key: str
    """What is owned: "duty outbox", "home 17"."""
    epoch: int
    owner: int
    """The number of a server; 0: none."""
    committed: float
    """Position of its commit; any number that grows from commit to commit."""


class Decision(msgspec.Struct, frozen=True):
    """Something that only the owner may decide."""

    key: str
    epoch: int
    """Under which it was decided."""
    committed: float
    """As in Version."""
    what: str


class Change(msgspec.Struct, frozen=True):
    """A change of a value that clients read, such as a right; the changes of a key do not overlap."""

    key: str
    value: str
    invoked: float
    answered: float
    result: Result


class Read(msgspec.Struct, frozen=True):
    """A read of that value, at any server."""

    key: str
    value: str
    invoked: float
    answered: float
    server: str


class Whereabouts(msgspec.Struct, frozen=True):
    """Where a device is connected, and where the database says that it is, at one instant."""

    device: str
    connected: int
    """The number of a server; 0: to none."""
    home: int
    since_fault: float
    """Seconds since the last fault ended, or the device connected or lost its server, whichever is less."""


class Shown(msgspec.Struct, frozen=True):
    """What a server shows of a device that is connected to some server."""

    device: str
    server: str
    status: str
    since_fault: float
    """As in Whereabouts."""


class Unanswered(msgspec.Struct, frozen=True):
    """A request to a server that had all it needs, whose connection was refused or ended."""

    request: str
    server: str
    error: str
    instant: float
    """Seconds since 1970."""


class Death(msgspec.Struct, frozen=True):
    """A server that was declared dead while its process ran."""

    server: int
    """Its number."""
    silent: float
    """Seconds since it renewed its row, without those in which the database answered nobody."""


class History(msgspec.Struct):
    """All that was noted, in any order."""

    positions: list[Reported] = []
    commands: list[Command] = []
    edges: list[Edge] = []
    segments: list[Listed] = []
    playlists: list[Playlist] = []
    versions: list[Version] = []
    decisions: list[Decision] = []
    changes: list[Change] = []
    reads: list[Read] = []
    whereabouts: list[Whereabouts] = []
    shown: list[Shown] = []
    unanswered: list[Unanswered] = []
    deaths: list[Death] = []


def find_anomalies(history: History) -> list[Anomaly]:
    """Return every violation, sorted."""
    return sorted(
        Anomaly(rule, text)
        for found in (
            _positions(history.positions),
            _commands(history.commands),
            _edges(history.edges),
            _segments(history.segments),
            _playlists(history.playlists),
            _epochs(history.versions),
            _decisions(history.versions, history.decisions),
            _reads(history.changes, history.reads),
            _homes(history.whereabouts),
            _shown(history.shown),
            _unanswered(history.unanswered),
            _deaths(history.deaths),
        )
        for rule, text in found
    )


Found = Iterator[tuple[str, str]]


def _positions(reported: Iterable[Reported]) -> Found:
    for each in reported:
        times = Counter(each.stored)
        for number in sorted(each.acknowledged - times.keys()):
            yield "acknowledged position missing", f"{each.terminal}: {number}"
        for number, count in sorted(times.items()):
            if number not in each.acknowledged and number not in each.unanswered:
                yield "position that was not sent", f"{each.terminal}: {number}"
            if count > 1:
                yield "position stored twice", f"{each.terminal}: {number}, {count} rows"


def _commands(commands: Iterable[Command]) -> Found:
    for each in commands:
        if each.arrivals > 1:
            yield "command carried out twice", f"{each.name}: {each.arrivals} times"
        if each.arrivals and each.result == "fail":
            yield "refused command carried out", each.name
        if each.is_due and each.result == "ok" and not each.arrivals:
            yield "accepted command missing", each.name


def _edges(edges: Iterable[Edge]) -> Found:
    for each in edges:
        if each.runs != 1:
            rule = "edge missed" if each.runs == 0 else "edge fired twice"
            yield rule, f"{each.schedule} at {each.instant:.3f}: {each.runs} runs"


def _segments(listed: Iterable[Listed]) -> Found:
    digests: dict[tuple[str, int], set[str]] = defaultdict(set)
    for each in listed:
        digests[each.stream, each.index].add(each.digest)
    for (stream, index), contents in sorted(digests.items()):
        if len(contents) > 1:
            yield "segment number issued twice", f"{stream}: {index}, {len(contents)} contents"


def _playlists(playlists: Iterable[Playlist]) -> Found:
    """Compare what each viewer saw, and what was seen at any server some time before."""
    for stream, seen in _grouped(playlists, lambda each: each.stream):
        for server, own in _grouped(seen, lambda each: each.server):
            yield from _backwards(f"{stream} at {server}", own, 0.0)
        yield from _backwards(stream, [each for each in seen if each.is_settled], FRESH_SECONDS)


def _backwards(name: str, playlists: Iterable[Playlist], seconds: float) -> Found:
    """Find playlists that list less than one answered at least `seconds` before they were requested."""
    waiting = deque(sorted(playlists, key=lambda each: each.answered))
    first = last = -1
    for later in sorted(waiting, key=lambda each: each.invoked):
        while waiting and waiting[0].answered + seconds <= later.invoked:
            earlier = waiting.popleft()
            first, last = max(first, earlier.first), max(last, earlier.last)
        if later.first < first or later.last < last:
            text = f"{name}: up to {first} and {last}, then {later.first} to {later.last} at {later.server}"
            yield "playlist went back", text


def _epochs(versions: Iterable[Version]) -> Found:
    for key, seen in _grouped(versions, lambda each: each.key):
        ordered = sorted(seen, key=lambda each: each.committed)
        for earlier, later in pairwise(ordered):
            if later.epoch != earlier.epoch + 1 and (
                later.epoch != earlier.epoch or later.owner not in (0, earlier.owner)
            ):
                text = f"{key}: {later.epoch} of {later.owner} after {earlier.epoch} of {earlier.owner}"
                yield "epoch out of order", text


def _decisions(versions: Iterable[Version], decisions: Iterable[Decision]) -> Found:
    succeeded: dict[tuple[str, int], float] = {}
    for each in versions:
        earlier = each.key, each.epoch - 1
        succeeded[earlier] = min(each.committed, succeeded.get(earlier, each.committed))
    for decision in decisions:
        end = succeeded.get((decision.key, decision.epoch))
        if end is not None and decision.committed > end:
            yield "decision under a succeeded epoch", f"{decision.key}, {decision.epoch}: {decision.what}"


def _reads(changes: Sequence[Change], reads: Iterable[Read]) -> Found:
    changed = dict(_grouped(changes, lambda each: each.key))
    for read in reads:
        possible: set[str] = set()
        # A request that was not answered may be carried out at any later time, by a server that was frozen.
        uncertain: set[str] = set()
        for change in sorted(changed.get(read.key, []), key=lambda each: each.invoked):
            if change.invoked > read.answered:
                break
            if change.result == "unknown":
                uncertain.add(change.value)
            elif change.result == "ok":
                if change.answered + FRESH_SECONDS <= read.invoked:
                    possible.clear()
                possible.add(change.value)
        if possible and read.value not in possible | uncertain:
            text = f"{read.key} at {read.server}: {read.value}, not {' or '.join(sorted(possible))}"
            yield "outdated read", text


def _homes(whereabouts: Iterable[Whereabouts]) -> Found:
    for each in whereabouts:
        if each.since_fault >= HOME_SECONDS and each.connected != each.home:
            where = f"connected to {each.connected}, home {each.home}"
            yield "device not at home", f"{each.device}: {where}, after {each.since_fault:.1f} s"


def _shown(shown: Iterable[Shown]) -> Found:
    for each in shown:
        if each.since_fault >= HOME_SECONDS and each.status != "online":
            text = f"{each.device} at {each.server}: {each.status}, after {each.since_fault:.1f} s"
            yield "connected device not online", text


def _unanswered(unanswered: Iterable[Unanswered]) -> Found:
    for each in unanswered:
        yield (
            "request without an answer",
            f"{each.request} at {each.server}: {each.error} ({each.instant:.1f})",
        )


def _deaths(deaths: Iterable[Death]) -> Found:
    for each in deaths:
        # Less a microsecond of the clock of the database.
        if each.silent < LIFE_SECONDS - 1e-5:
            yield "server declared dead too early", f"{each.server}: after {each.silent:.3f} s"


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> list[tuple[str, list[T]]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for each in items:
        groups[key(each)].append(each)
    return sorted(groups.items())
