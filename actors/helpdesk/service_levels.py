"""Service levels: when a ticket has to be answered and resolved, and whether it was (docs/service-levels.md).

Pure: no clock, no SQL. A due time is a function of stored facts: when the ticket was created, the target and
the business hours of its priority, the pauses, and a credit, which is what a change of these once added.
Nothing counts down; whenever one of the facts changes, the function for that change returns the new level. A
target that was met or breached stays as it was.

Before each change `settle` records what fell due until then: the other functions take a due time that has
passed for one that was breached.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from motorpool.actors.helpdesk.business_time import BusinessTime, Pause, merge_pauses
from motorpool.storage.helpdesk.helpdesk_records import Target, TicketPause, TicketPriority

FIRST_RESPONSE: Target = "firstResponse"
RESOLUTION: Target = "resolution"

ZERO = timedelta(0)
MILLISECOND, SECOND = timedelta(milliseconds=1), timedelta(seconds=1)
MIN_REMAINDER = timedelta(seconds=60)
"""What a change of priority or calendar leaves at least."""
RETRY = timedelta(days=1)
"""When a due time is looked for again that was not within the horizon."""
DEFAULT_WARN_PERCENT = 80

STOPS = frozenset({"resolved", "closed", "cancelled"})
"""Reasons of spans in which both clocks stand."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One target of a ticket, as it is stored."""

    target_minutes: int = 0
    """Business minutes; 0: no target."""
    credit: timedelta = ZERO
    """What changes of priority or calendar added to the target; whole seconds."""
    due: datetime | None = None
    """None without a target, while the clock stands, and where no business hours are in reach."""
    breached: bool = False
    """Stays, once it is true; `due` is then the instant of the breach and stays as well."""
    verdict: Literal["met", "breached"] | None = None
    """The first one, which statistics count."""
    decided_at: datetime | None = None
    """When that was: at `due` for a breach."""
    elapsed: timedelta | None = None
    """Business time until it was done, or until the clock stopped; None while the clock runs."""
    warned: bool = False
    done_at: datetime | None = None
    """When the ticket was answered or resolved; None since it was reopened."""

    @property
    def is_open(self) -> bool:
        """Whether the due time may still move: neither done nor breached."""
        return self.done_at is None and not self.breached


class TargetClock(msgspec.Struct, frozen=True, kw_only=True):
    """What the due time of one target is computed from, beside its level."""

    start: datetime
    minutes: int
    """Business minutes; 0: no target."""
    hours: BusinessTime
    pauses: tuple[Pause, ...] = ()
    """Merged; the last one may last."""
    warn_percent: int = DEFAULT_WARN_PERCENT
    """Percentage of the budget at which to warn; 0: no warning."""

    @property
    def stands(self) -> bool:
        """Whether a pause lasts."""
        return bool(self.pauses) and self.pauses[-1][1] is None

    def elapsed(self, until: datetime) -> timedelta:
        """Return the business time from the start until an instant, without pauses."""
        return self.hours.seconds_between(self.start, until, self.pauses)

    def budget(self, credit: timedelta) -> timedelta:
        """Return the target and the credit."""
        return timedelta(minutes=self.minutes) + credit

    def due(self, credit: timedelta, now: datetime) -> datetime | None:
        """Return when the budget is used up; None as for `Level.due`."""
        if not self.minutes:
            return None
        return self.hours.due(self.start, self.budget(credit), self.pauses, now=now)

    def before(self, at: datetime) -> "TargetClock":
        """Return the clock with the pauses that began before an instant, cut there."""
        cut = tuple((begin, at if end is None else min(end, at)) for begin, end in self.pauses if begin < at)
        return replace(self, pauses=cut)


class Occurrence(NamedTuple):
    """A warning or breach that fell due."""

    at: datetime
    target: Target
    is_breach: bool


def clocks_of(
    created_at: datetime,
    priority: TicketPriority | None,
    pauses: Iterable[TicketPause],
    hours: BusinessTime,
) -> tuple[TargetClock, TargetClock]:
    """Return the clocks of the first response and of the resolution.

    Without a priority there are no targets. Both clocks stop while the ticket is resolved, closed or
    cancelled. The resolution clock also stops during the other pauses, for at most `maxPauseMinutes` in
    total. The first response clock also stops in a pending status if the priority has `pauseFirstResponse`
    (docs/service-levels.md#pauses).
    """
    priority = priority or TicketPriority()
    attributes, all_pauses = priority.attributes, tuple(pauses)
    stops = merge_pauses((each.begins, each.ends) for each in all_pauses if each.reason in STOPS)
    pending = [(each.begins, each.ends) for each in all_pauses if each.reason == "pending"]
    others = [(each.begins, each.ends) for each in all_pauses if each.reason not in STOPS]
    most = timedelta(minutes=_number(attributes, "maxPauseMinutes", 0))
    percent = _number(attributes, "warnPercent", DEFAULT_WARN_PERCENT)
    responding = pending if attributes.get("pauseFirstResponse") is True else []
    clock = partial(TargetClock, start=created_at, hours=hours, warn_percent=percent)
    return (
        clock(
            minutes=priority.first_response_minutes,
            pauses=_limited(hours, created_at, stops, responding, most),
        ),
        clock(minutes=priority.resolution_minutes, pauses=_limited(hours, created_at, stops, others, most)),
    )


def _number(attributes: Mapping[str, Any], key: str, default: int) -> int:
    """Return a whole number that is not negative; attributes may hold anything."""
    value = attributes.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _limited(
    hours: BusinessTime, start: datetime, stops: Sequence[Pause], pauses: Sequence[Pause], most: timedelta
) -> tuple[Pause, ...]:
    """Return stops and pauses, merged; of the pauses `most` business time counts, all if it is zero."""
    if not most or not pauses:
        return tuple(merge_pauses((*stops, *pauses)))
    counted: list[Pause] = []
    for begin, end in merge_pauses(pauses):
        last = hours.due(max(begin, start), most, stops)
        if last is None or (end is not None and end <= last):
            counted.append((begin, end))
            if end is None:
                break
            most -= hours.seconds_between(max(begin, start), end, stops)
        else:
            counted.append((begin, last))
            break
        if not most:
            break
    return tuple(merge_pauses((*stops, *counted)))


def start(clock: TargetClock, now: datetime) -> Level:
    """Return the level of a new ticket."""
    return _computed(Level(target_minutes=clock.minutes), clock, now)


def move(level: Level, clock: TargetClock, now: datetime) -> Level:
    """Return the level after a pause began or ended, a status that is cancelled included.

    A clock that goes on does not breach by that alone: where nothing is left, because it stopped at the last
    instant or the terms were changed meanwhile, it is handled as `change_terms` does.
    """
    if not level.is_open:
        return level
    moved = _computed(level, clock, now)
    if clock.stands or (level.target_minutes == clock.minutes and (moved.due is None or moved.due >= now)):
        return moved
    return change_terms(level, clock, now)


def _computed(level: Level, clock: TargetClock, now: datetime) -> Level:
    """Return the level with the due time that its credit gives, none while the clock stands."""
    if clock.stands:
        return replace(level, due=None, elapsed=clock.elapsed(now))
    return replace(level, due=clock.due(level.credit, now), elapsed=None)


def complete(level: Level, clock: TargetClock, at: datetime) -> Level:
    """Return the level after the ticket was answered or resolved.

    It is met until its due time, the due time included. The first verdict stays; a breach is never withdrawn.
    """
    if level.done_at is not None:
        return level
    until = clock.before(at)
    if level.due is None:
        level = move(level, until, at)
    level = replace(level, done_at=at, elapsed=until.elapsed(at))
    if not level.target_minutes:
        return level
    if level.breached or (level.due is not None and at > level.due):
        return _breach(level)
    if level.verdict is not None:
        return level
    return replace(level, verdict="met", decided_at=at)


def reopen(level: Level, clock: TargetClock, now: datetime) -> Level:
    """Return the level of the resolution after the ticket was reopened: its clock goes on from what was used.

    The time since it was resolved is a pause of the clock. Reopening does not breach by itself, as in `move`.
    """
    if level.done_at is None:
        return move(level, clock, now)
    if level.breached:
        return replace(level, done_at=None, elapsed=None)
    return move(replace(level, done_at=None), clock, now)


def change_terms(level: Level, clock: TargetClock, now: datetime) -> Level:
    """Return the level after the priority, its target, its calendar or its holidays changed.

    The target is computed anew from the creation over all pauses. Where it is used up already, what is left
    becomes the lesser of the new target and of what was left before, but at least a minute; the credit makes
    the same function return that due time ever after (docs/service-levels.md#changes).
    """
    if not level.is_open:
        return level
    new = replace(level, target_minutes=clock.minutes, credit=ZERO)
    target, used = clock.budget(ZERO), clock.elapsed(now)
    if used < target or not clock.minutes:
        return _computed(new, clock, now)
    left = target
    if level.target_minutes and level.elapsed is not None:  # the clock stood until now
        left = timedelta(minutes=level.target_minutes) + level.credit - level.elapsed
    elif level.due is not None:
        left = clock.hours.seconds_between(now, level.due, clock.pauses)
    # The credit is stored in seconds: cut, unless that leaves too little.
    credit = (used + min(target, left) - target) // SECOND * SECOND
    least = -((target - used - MIN_REMAINDER) // SECOND) * SECOND
    return _computed(replace(new, credit=max(credit, least)), clock, now)


def settle(
    levels: tuple[Level, Level], clocks: tuple[TargetClock, TargetClock], now: datetime
) -> tuple[tuple[Level, Level], tuple[Occurrence, ...]]:
    """Return the updated levels, and the warnings and breaches that fell due, in order.

    Each is dated to when it was due, however late it is found. Of two at one instant the one of the first
    response comes first. A level that is not breached is computed anew if its terms were edited.
    """
    found: list[Occurrence] = []
    settled: list[Level] = []
    for target, each, clock in zip((FIRST_RESPONSE, RESOLUTION), levels, clocks, strict=True):
        overdue = each.is_open and each.due is not None and each.due < now
        # Edited terms reach a ticket with what happens to it next, if it was not computed again before: so no
        # edit breaches it, however long that takes.
        is_kept = overdue or _is_current(each, clock, now)
        level = each if is_kept else change_terms(each, clock, now)
        warning = warning_at(level, clock)
        if warning is not None and warning <= now:
            found.append(Occurrence(warning, target, is_breach=False))
            level = replace(level, warned=True)
        if overdue and level.due is not None:
            found.append(Occurrence(level.due, target, is_breach=True))
            level = _breach(level)
        settled.append(level)
    found.sort(key=lambda occurrence: occurrence.at)
    return (settled[0], settled[1]), tuple(found)


def _is_current(level: Level, clock: TargetClock, now: datetime) -> bool:
    """Return whether a clock gives a level's due time, or while it stands its elapsed time.

    Computed again without a reason, a due time that is near would be put off to the smallest remainder.
    """
    if not level.is_open:
        return True
    if level.target_minutes != clock.minutes:
        return False
    if clock.stands:
        return level.elapsed is None or level.elapsed == clock.elapsed(now)
    return level.due == clock.due(level.credit, now)


def warning_at(level: Level, clock: TargetClock) -> datetime | None:
    """Return when the warning of an open target is due; None if there is none to come."""
    if not level.is_open or level.warned or level.due is None or not 0 < clock.warn_percent < 100:
        return None
    part = clock.budget(level.credit) * clock.warn_percent / 100
    at = clock.hours.due(clock.start, part, clock.pauses, now=level.due)
    return level.due if at is None else min(at, level.due)


def next_look(level: Level, clock: TargetClock, now: datetime) -> datetime | None:
    """Return when `settle` may find something next; None if nothing is to come."""
    if not level.is_open or not level.target_minutes:
        return None
    if level.due is None:
        return None if clock.stands else now + RETRY
    return min(warning_at(level, clock) or level.due, level.due) + MILLISECOND


def _breach(level: Level) -> Level:
    """Return the level breached at its due time."""
    if level.verdict is not None:
        return replace(level, breached=True)
    return replace(level, breached=True, verdict="breached", decided_at=level.due)
