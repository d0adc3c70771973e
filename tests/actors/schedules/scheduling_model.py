"""Scheduled commands as a plain model: what the specification and our rules say, without SQL and actors.

The model is told what people and devices did and how late it is, and says which run records there must be
and what each device must have received. Where several things fall on one instant and nobody says which comes
first (a late step and the opposite edge, after a restart), it looks at what was seen and accepts either; so
it does with the moment, within a minute, at which the server finds what a jump of the wall clock put behind.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

LATE = timedelta(minutes=5)
UNSEEN_EDGES = 50
LOOSE = timedelta(seconds=62)
"""What the wall clock's jump or a restart put out of its time is found within this."""
DAY = timedelta(days=1)
OPPOSITE = {"start": "end", "end": "start"}


@dataclass(frozen=True)
class Event:
    """An event of a calendar; a daily one goes on for ever."""

    start: datetime
    length: timedelta
    daily: bool = False

    def between(self, after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Its instances that touch [after, until], each with its end."""
        number = max(0, (after - self.length - self.start) // DAY) if self.daily else 0
        begin = self.start + number * DAY
        while begin <= until:
            if begin + self.length >= after:
                yield begin, begin + self.length
            if not self.daily:
                return
            begin += DAY


def edges(events: Iterable[Event], after: datetime, until: datetime) -> list[tuple[datetime, str]]:
    """Where windows begin or end within (after, until]; events that touch or overlap are one window."""
    merged: list[list[datetime]] = []
    for begin, end in sorted(each for event in events for each in event.between(after - DAY, until + DAY)):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    found = [(at, phase) for window in merged for at, phase in zip(window, ("start", "end"), strict=True)]
    return [edge for edge in found if after < edge[0] <= until]


@dataclass
class Command:
    """A saved command."""

    label: str
    never_queued: bool = False
    by_text: bool = False
    """There is no gateway: always declined."""


@dataclass
class Device:
    group: int = 0
    online: bool = False
    declines: bool = False
    received: list[tuple[tuple[object, ...], "Run"]] = field(default_factory=list)
    """Since the last look: the moment it was meant for, and the step."""
    perhaps: list["Run"] = field(default_factory=list)
    """What a server that was cut off may have sent."""


@dataclass
class Owner:
    administrator: bool
    valid: bool = True
    devices: set[int] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)
    commands: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Step:
    command: int
    delay: int = 0


@dataclass
class Schedule:
    calendar: int
    owner: int
    lists: dict[str, tuple[Step, ...]]
    minutes: int
    active: bool
    watched: datetime
    devices: set[int] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)
    exists: bool = True
    fired: int = 0
    """How often it made records."""
    last_run: datetime | None = None
    perhaps_run: datetime | None = None
    """When it fired and found no device, which may count as a run or not."""


Key = tuple[int, int, int, int]
"""Schedule, the number of its firing, device, step."""


@dataclass(eq=False)
class Run:
    """A record."""

    key: Key
    phase: str
    command: int
    delay: timedelta
    following: "Run | None"
    due: datetime | None = None
    """None while another step is to come first."""
    status: str = "pending"
    reason: str | None = None
    time: datetime | None = None
    expires: datetime | None = None
    found_by: datetime | None = None
    """Its moment was put out of time: until then at the latest it is found."""

    @property
    def schedule(self) -> int:
        return self.key[0]

    @property
    def device(self) -> int:
        return self.key[2]

    @property
    def moment(self) -> datetime | None:
        """When something happens to it next."""
        return {"pending": self.due, "queued": self.expires}.get(self.status)


class Seen(msgspec.Struct, frozen=True):
    """A record of the server under test, in its own words."""

    phase: str
    command: int
    status: str
    reason: str | None
    time: datetime | None


class Model:
    """All that there is. `now` is the wall's instant."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.calendars: dict[int, tuple[Event, ...]] = {}
        self.groups: dict[int, int] = {0: 0}
        self.devices: dict[int, Device] = {}
        self.commands: dict[int, Command] = {}
        self.labels: dict[int, str] = {}
        """Of all commands that there ever were."""
        self.owners: dict[int, Owner] = {}
        self.schedules: dict[int, Schedule] = {}
        self.runs: dict[Key, Run] = {}
        self.open: list[Run] = []
        """What is pending or queued, in the order it came to be so."""
        self.seen: dict[Key, Seen] = {}
        self.cut_off = False
        """The server ended somewhere in the midst of it: whatever was not done may be left as it was."""

    # Time

    def next_moment(self, until: datetime) -> datetime:
        """The next instant at which anything must happen; `until` where that is sooner."""
        moments = [until]
        for schedule in self.watching():
            moments += [at for at, _ in edges(self.calendars[schedule.calendar], self.now, until)[:1]]
        for run in self.open:
            if run.moment is not None:
                moments.append(run.moment)
                if run.found_by is not None:
                    moments.append(run.found_by)
        return min(each for each in moments if each > self.now)

    def watching(self) -> list[Schedule]:
        return [each for each in self.schedules.values() if each.exists and each.active]

    def jump(self, instant: datetime) -> None:
        """The wall clock alone was put forward; spans that are being waited for end when they are noticed."""
        self.now = instant
        self._loosen()

    def settle(self) -> None:
        """Let happen what is due by now."""
        due = [
            (at, number, phase)
            for number, schedule in self.schedules.items()
            if schedule.exists and schedule.active
            for at, phase in edges(self.calendars[schedule.calendar], schedule.watched, self.now)[
                -UNSEEN_EDGES:
            ]
        ]
        lost: set[int] = set()
        for at, number, phase in sorted(due):
            if number not in lost and not self._fire_edge(number, at, phase):
                lost.add(number)
        self._take_turns(self.open)

    def _take_turns(self, runs: Iterable[Run], *, but: str = "", follow: bool = True) -> None:
        """Those whose time has come, and what follows them; without those that were seen to end as `but`."""
        for run in list(runs):
            each: Run | None = run
            while each is not None and each.moment is not None and each.moment <= self.now:
                was, seen = each.status, self.seen.get(each.key)
                if but and (seen is None or (seen.reason == but and seen.status != "sending")):
                    break
                if self._is_left(each, seen):
                    break
                if was == "queued":
                    self._end(each, "skipped", "queue_expired", self._moment_of(each, seen))
                    break
                self._turn(each, self._moment_of(each, seen))
                each = each.following if follow else None

    def _is_left(self, run: Run, seen: Seen | None) -> bool:
        """Whether nothing has happened to it yet, and may wait."""
        if seen is None or seen.status != run.status:
            return False
        return self.cut_off or (run.found_by is not None and self.now < run.found_by)

    def _moment_of(self, run: Run, seen: Seen | None) -> datetime:
        assert run.moment is not None
        if run.found_by and seen is not None and seen.time and run.moment <= seen.time <= self.now:
            return seen.time
        return self.now

    # EdgeOccurrence

    def _fire_edge(self, number: int, at: datetime, phase: str) -> bool:
        """Whether it fired."""
        schedule = self.schedules[number]
        # An edge without steps or devices leaves no trace, and nothing comes of it when it is reported again.
        if self.cut_off and not self._has_seen_firing(number):
            return False
        schedule.watched = at
        self._fire(number, phase, schedule.lists[phase], at)
        return True

    def run_now(self, number: int, which: str) -> None:
        if not self.cut_off or self._has_seen_firing(number):
            self._fire(number, "manual", self.schedules[number].lists[which], self.now)

    def _has_seen_firing(self, number: int) -> bool:
        following = self.schedules[number].fired + 1
        return any(key[:2] == (number, following) for key in self.seen)

    def _fire(self, number: int, phase: str, steps: tuple[Step, ...], at: datetime) -> None:
        schedule = self.schedules[number]
        targets = self.targets(schedule)
        if not steps:
            return
        if not targets:
            schedule.perhaps_run = self.now
            return
        if phase != "manual":
            self._supersede(number, OPPOSITE[phase], targets)
        schedule.fired += 1
        firsts = []
        for device in sorted(targets):
            run: Run | None = None
            for place, step in reversed(list(enumerate(steps))):
                key = number, schedule.fired, device, place
                run = Run(key, phase, step.command, timedelta(seconds=step.delay if place else 0), run)
                self.runs[key] = run
            assert run is not None
            run.due = at
            self.open.append(run)
            firsts.append(run)
        if at >= self.now - LATE:
            schedule.last_run = self.now
        # A step that the opposite edge overtakes while it is being sent, in vain, may have that for a reason.
        self._take_turns(firsts, but="superseded", follow=False)

    def targets(self, schedule: Schedule) -> set[int]:
        """The devices linked directly or by a group or a group above theirs."""
        return {
            number
            for number, device in self.devices.items()
            if number in schedule.devices or self._above(device.group) & schedule.groups
        }

    def _above(self, group: int) -> set[int]:
        """A group and all above it."""
        found = set()
        while group:
            found.add(group)
            group = self.groups[group]
        return found

    def _supersede(self, number: int, phase: str, targets: set[int]) -> None:
        def of(run: Run) -> bool:
            return run.schedule == number and run.phase == phase and run.device in targets

        # What fell due at the same time may have had its turn before.
        self._take_turns(filter(of, self.open), but="superseded")
        self._end_all(filter(of, self.open), "superseded")

    # Steps

    def _turn(self, run: Run, now: datetime) -> None:
        """Send it, queue it or skip it."""
        assert run.due is not None
        seen = self.seen.get(run.key)
        if run.due < now - LATE:
            self._end(run, "skipped", "missed", now)
        elif reason := self._obstacle(run):
            self._end(run, "skipped", reason, now)
        elif self.cut_off and seen is not None and seen.status == "sending":
            self._end(run, "sending", None, now)
            self.devices[run.device].perhaps.append(run)
        else:
            self._send(run, now)

    def _obstacle(self, run: Run) -> str:
        if run.device not in self.devices:
            return "device_not_found"
        if run.command not in self.commands:
            return "command_not_found"
        owner = self._owner(run)
        may_send = owner is not None and (owner.administrator or run.command in owner.commands)
        return "" if may_send and self._reaches_device(run) else "no_permission"

    def _reaches_device(self, run: Run) -> bool:
        """Whether its owner may send commands to the device at all."""
        owner = self._owner(run)
        if owner is None or not owner.valid:
            return False
        above = self._above(self.devices[run.device].group)
        return owner.administrator or run.device in owner.devices or bool(above & owner.groups)

    def _owner(self, run: Run) -> Owner | None:
        return self.owners.get(self.schedules[run.schedule].owner)

    def _send(self, run: Run, now: datetime) -> None:
        device, command = self.devices[run.device], self.commands[run.command]
        minutes = self.schedules[run.schedule].minutes
        if command.by_text or (device.online and device.declines):
            self._end(run, "skipped", "not_sent", now)
        elif device.online:
            device.received.append(((now,), run))
            self._end(run, "sent", None, now)
        elif command.never_queued or not minutes:
            self._end(run, "skipped", "offline", now)
        else:
            self._end(run, "queued", None, now)
            run.expires, run.found_by = now + timedelta(minutes=minutes), None
            self.open.append(run)

    def _end(self, run: Run, status: str, reason: str | None, now: datetime) -> None:
        was = run.status
        run.status, run.reason, run.time, run.expires = status, reason, now, None
        self.open.remove(run)
        following = run.following
        if status == "sending":
            self.open.append(run)
        elif following is not None and following.status == "pending" and was in {"pending", "sending"}:
            start = run.due if reason == "missed" else now
            assert start is not None
            following.due = start + following.delay
            self.open.append(following)

    def _end_all(self, runs: Iterable[Run], reason: str) -> None:
        """With all that would have followed."""
        for run in list(runs):
            each: Run | None = run
            if run.status == "sending":
                each = run.following
            else:
                self.open.remove(run)
            while each is not None and each.status in {"pending", "queued"}:
                each.status, each.reason, each.time, each.expires = "skipped", reason, self.now, None
                each = each.following

    # What people do

    def watch(self, number: int) -> None:
        self.schedules[number].watched = self.now

    def change_calendar(self, number: int, events: tuple[Event, ...]) -> None:
        self.calendars[number] = events
        for schedule in self.schedules.values():
            if schedule.calendar == number:
                schedule.watched = self.now

    def cancel(self, number: int) -> None:
        """It was made inactive, or deleted."""
        self._end_all([run for run in self.open if run.schedule == number], "schedule_inactive")

    def delete_device(self, number: int) -> None:
        for run in [run for run in self.open if run.device == number and run.status == "queued"]:
            self._end(run, "skipped", "device_not_found", self.now)
        del self.devices[number]
        for each in (*self.schedules.values(), *self.owners.values()):
            each.devices.discard(number)

    def delete_command(self, number: int) -> None:
        del self.commands[number]
        for owner in self.owners.values():
            owner.commands.discard(number)

    # What devices and the server do

    def connect(self, number: int) -> None:
        """It takes what waits for it, first come, first sent."""
        device = self.devices[number]
        device.online = True
        for run in [run for run in self.open if run.device == number and run.status == "queued"]:
            seen = self.seen.get(run.key)
            if self.cut_off and seen is not None and seen.status in {"queued", "delivering"}:
                if seen.status == "delivering":
                    run.status = "delivering"
                    device.perhaps.append(run)
            elif seen is not None and seen.reason == "superseded":
                # After a restart, an edge that passed meanwhile may have its turn first; `settle` follows it.
                continue
            elif run.expires is not None and run.expires <= self.now:
                self._end(run, "skipped", "queue_expired", self.now)
            elif not self._reaches_device(run):
                self._end(run, "skipped", "no_permission", self.now)
            elif device.declines:
                self._end(run, "skipped", "not_sent", self.now)
            else:
                device.received.append(((self.now, run.time), run))
                self._end(run, "delivered", None, self.now)

    def start(self, instant: datetime, online: Iterable[int]) -> None:
        """The server starts again, and finds these devices connected before anything else."""
        self.now = instant
        self.cut_off = False
        for number, device in self.devices.items():
            device.online = number in online
        for run in [run for run in self.open if run.status in {"sending", "delivering"}]:
            self._end(run, "failed", "unknown", self.now)
        self._loosen(queued_only=True)

    def _loosen(self, *, queued_only: bool = False) -> None:
        for run in self.open:
            if run.moment is not None and (run.status == "queued" or not queued_only):
                run.found_by = max(run.moment, self.now) + LOOSE

    # What is compared

    def records(self) -> dict[Key, Seen]:
        """The run records as there must be; of those that are pending the due time, where it is known."""
        return {
            key: Seen(run.phase, run.command, run.status, run.reason, run.time or run.due)
            for key, run in self.runs.items()
        }

    def queued_at(self, key: Key) -> datetime:
        """When a step that waits for its device came to do so."""
        time = self.runs[key].time
        assert time is not None
        return time

    def waiting(self) -> dict[int, list[Key]]:
        """What is queued for each device."""
        found: dict[int, list[Key]] = defaultdict(list)
        for run in self.open:
            if run.status == "queued":
                found[run.device].append(run.key)
        return dict(found)
