"""Reads what the actors of devices start with, for many of them in a few statements."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.rules.event_rules import (
    MAX_LOOK_BACK,
    NOTHING_STORED,
    FoldState,
    earlier_start,
    rebuild_state,
    window_start,
)
from motorpool.actors.work.batching import BatchingActor
from motorpool.runtime import Kind, NodeLocal, Request
from motorpool.storage.database.database import Database
from motorpool.storage.devices import commands, device_bindings, device_states, devices, positions
from motorpool.storage.devices.device_bindings import Binding
from motorpool.storage.records import Device
from motorpool.storage.rules import fold_rows
from motorpool.storage.rules.fold_rows import Wanted

LOAD_SECONDS = 30.0
"""For the rows of a device to be read."""
RELOAD_SECONDS = 5.0
"""Delay before they are read again after the database was unavailable."""


class StoredDevice(msgspec.Struct, NodeLocal, frozen=True):
    """What the actor of a device holds of its rows in memory."""

    row: Device | None = None
    """None if there is no such device."""
    state: FoldState = NOTHING_STORED
    """What the rules remember, as it was after the last stored position."""
    has_queue: bool = False
    """Whether commands are queued for it."""
    last_update: datetime | None = None
    """Server time of its last message."""
    binding: Binding | None = None
    """How it reports; None: not known yet."""


class LoadDevice(msgspec.Struct, Request[StoredDevice], frozen=True, gc=False):
    """Return the rows of a device. The ask raises StorageError in an outage."""

    device_id: int


DEVICE_LOADER: Kind[None, LoadDevice] = Kind("device_loader")


class DeviceLoader(BatchingActor[LoadDevice, StoredDevice]):
    """Answers the devices that start, and has the rule cache loaded that they get their rules from."""

    def __init__(self, database: Database, rule_cache: RuleCache) -> None:
        super().__init__()
        self._database = database
        self._rule_cache = rule_cache

    async def answer_all(self, requests: Sequence[LoadDevice]) -> list[StoredDevice]:
        """Read the rows of all."""
        ids = [request.device_id for request in requests]
        rows = {row.id: row for row in await devices.TABLE.fetch_many(self._database, ids)}
        await self._rule_cache.require(rows.values())
        states = await self._states(rows)
        with_queue = await commands.devices_with_queue(self._database, list(rows))
        last_updates = await device_states.last_updates(self._database, list(rows))
        bindings = await device_bindings.of_devices(self._database, list(rows))
        return [
            StoredDevice()
            if (row := rows.get(device_id)) is None
            else StoredDevice(
                row,
                states[row.id],
                device_id in with_queue,
                last_updates.get(device_id),
                bindings.get(device_id),
            )
            for device_id in ids
        ]

    async def _states(self, rows: Mapping[int, Device]) -> dict[int, FoldState]:
        """Return what the rules remember of each device."""
        database = self._database
        latest = {each.device_id: each for each in await positions.latest(database, list(rows))}
        rules = {row.id: self._rule_cache.rules_of(row) for row in rows.values()}
        wanted = [
            Wanted(device_id, window_start(position, rules[device_id].settings), position.fix_time)
            for device_id, position in latest.items()
        ]
        if not wanted:
            return dict.fromkeys(rows, NOTHING_STORED)
        points = await fold_rows.recent_points(database, wanted)
        motions = await fold_rows.last_motions(database, latest)
        unmoved = [each for each in wanted if each.device_id not in motions]
        firsts = await fold_rows.first_points(database, unmoved, MAX_LOOK_BACK) if unmoved else {}
        longer = []
        for device_id, _, until in wanted:
            since = earlier_start(
                points.get(device_id, ()),
                motions.get(device_id),
                firsts.get(device_id),
                rules[device_id].settings,
            )
            if since is not None:
                longer.append(Wanted(device_id, since, until))
        if longer:
            points |= await fold_rows.recent_points(database, longer)
        limited = [each for each in wanted if rules[each.device_id].settings.filter_daily_limit]
        counts = await fold_rows.days(database, limited) if limited else {}
        followed = [each for each in wanted if rules[each.device_id].compares_linked_devices]
        near = await fold_rows.proximities(database, followed) if followed else {}
        others = {number for each in followed for number in rules[each.device_id].linked_devices}
        linked = {each.device_id: each for each in await positions.latest(database, others)} if others else {}
        return {
            device_id: rebuild_state(
                latest.get(device_id),
                rules[device_id],
                points=points.get(device_id, ()),
                first=firsts.get(device_id),
                motion=motions.get(device_id),
                stored_that_day=counts.get(device_id, 0),
                near=near.get(device_id),
                linked=[linked[number] for number in rules[device_id].linked_devices if number in linked],
            )
            for device_id in rows
        }
