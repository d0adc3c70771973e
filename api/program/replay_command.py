"""`motorpool replay-rules`: what events today's configuration would make of stored positions."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.rules.device_rules import DeviceRules, WindowsMissing
from motorpool.actors.rules.event_rules import FoldState, earlier_start, rebuild_state, window_start
from motorpool.actors.rules.replay import REPLAYED, Replay, Replayed
from motorpool.actors.words.record_json import encode
from motorpool.api.program.configured_database import open_running_database
from motorpool.api.program.errors import StartFailed
from motorpool.api.settings import Settings
from motorpool.runtime import SystemClock
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import devices
from motorpool.storage.records import Device, Event, Position
from motorpool.storage.rules import fold_rows, replays
from motorpool.storage.rules.fold_rows import Wanted

Prepare = Callable[[WindowsMissing], Awaitable[None]]
"""Computes windows that rules have asked for in vain."""
MARGIN = timedelta(days=1)
"""Positions before and after the span that are replayed as well: what they decide may be dated back to it,
and what is not known at the first of them makes no difference a day later."""


@dataclass(frozen=True)
class Span:
    """What is replayed."""

    device: str
    """The unique id of a device, or its id."""
    start: datetime
    end: datetime
    """Both are fix times, and included."""


@dataclass(frozen=True)
class Differences:
    """How the events of a replay differ from those that are stored."""

    device: Device
    positions: int
    events: int
    """Made by the replay."""
    added: list[Event]
    """Events made by the replay that are not stored."""
    missing: list[Event]
    """Stored events that the replay did not make."""

    def lines(self) -> Iterator[str]:
        """Yield the differences by time, and a summary."""
        marked = [("+", event) for event in self.added] + [("-", event) for event in self.missing]
        for mark, event in sorted(marked, key=lambda each: (each[1].event_time, each[1].type, each[0])):
            yield f"{mark} {_line(event)}"
        yield (
            f"{self.device.name} ({self.device.unique_id}): {self.positions} positions, {self.events} events;"
            f" {len(self.added)} would be new, {len(self.missing)} would not be made"
        )


async def replay_rules(settings: Settings, span: Span) -> Differences:
    """Replay the positions of a span, whether or not the server runs; nothing is written.

    Raises:
        StartFailed: there is no such device, or the database cannot be read.
    """
    clock = SystemClock()
    async with open_running_database(settings, clock) as database:
        device = await _find(database, span.device)
        if device is None:
            raise StartFailed(f"there is no device {span.device}")
        rule_cache = RuleCache(database, settings.rules)
        await rule_cache.require((device,))
        rules = rule_cache.rules_of(device)
        return await replay_span(database, device, rules, span.start, span.end, rule_cache.prepare)


async def _find(database: Database, name: str) -> Device | None:
    found = await devices.by_unique_ids(database, (name,))
    if found is None and name.isascii() and name.isdigit() and len(name) < 19:
        found = await devices.TABLE.fetch(database, int(name))
    return found


async def replay_span(
    q: Queries, device: Device, rules: DeviceRules, start: datetime, end: datetime, prepare: Prepare
) -> Differences:
    """Replay the positions of a device with fix times in a span, both ends included."""
    first = start - MARGIN
    replay = Replay(await _state_before(q, device.id, rules, first), rules)
    made: Counter[bytes] = Counter()
    count = 0
    async with aclosing(replays.positions_as_stored(q, device.id, first, end + MARGIN)) as batches:
        async for batch in batches:
            for position in batch:
                count += start <= position.fix_time <= end
                for event, is_dated_back in await _events_of(replay, position, prepare):
                    if start <= (event.event_time if is_dated_back else position.fix_time) <= end:
                        made[_key(event)] += 1
    stored: Counter[bytes] = Counter()
    for event, device_time in await replays.events_of_positions(q, device.id, start, end, sorted(REPLAYED)):
        # An instant in the calendar of a geofence makes an event of the latest position, at another time.
        if not event.type.startswith("geofence") or event.event_time == device_time:
            stored[_key(event)] += 1
    return Differences(device, count, made.total(), _events(made - stored), _events(stored - made))


async def _events_of(replay: Replay, position: Position, prepare: Prepare) -> list[Replayed]:
    while True:
        try:
            return list(replay.events(position))
        except WindowsMissing as missing:
            await prepare(missing)


async def _state_before(q: Queries, device_id: int, rules: DeviceRules, instant: datetime) -> FoldState:
    latest = await replays.latest_before(q, device_id, instant)
    if latest is None:
        return FoldState()
    motion = await replays.last_motion_before(q, device_id, instant)
    wanted = Wanted(device_id, window_start(latest, rules.settings), latest.fix_time)
    points = await fold_rows.recent_points(q, [wanted], instant)
    since = earlier_start(points.get(device_id, ()), motion, None, rules.settings)
    if since is not None:
        points = await fold_rows.recent_points(q, [wanted._replace(since=since)], instant)
    return rebuild_state(latest, rules, points=points.get(device_id, ()), motion=motion)


def _key(event: Event) -> bytes:
    return encode(msgspec.structs.replace(event, id=0, attributes=dict(sorted(event.attributes.items()))))


def _events(found: Counter[bytes]) -> list[Event]:
    return [msgspec.json.decode(key, type=Event) for key in found.elements()]


def _line(event: Event) -> str:
    when = event.event_time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    of = f" geofence {event.geofence_id}" if event.geofence_id else ""
    of += f" maintenance {event.maintenance_id}" if event.maintenance_id else ""
    values = f" {msgspec.json.encode(event.attributes).decode()}" if event.attributes else ""
    return f"{when}Z {event.type} position {event.position_id}{of}{values}"
