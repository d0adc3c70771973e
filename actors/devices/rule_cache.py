"""The rules of every device, in memory: loaded once, then brought up to date by the change feed.

One `RuleCache` is shared by the actors of a process, which read it without waiting and without a message.
Only the actor of this module, and who needs it first, change it. `generation` tells a device's actor, at the
cost of one comparison a position, that its rules may have changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

import trio

from motorpool.actors.devices.rule_reader import PROPERTIES, RuleObjects, RuleReader
from motorpool.actors.devices.rule_tables import RuleTables
from motorpool.actors.messages import changes as facts
from motorpool.actors.messages.changes import (
    ApplyChanges,
    Change,
)
from motorpool.actors.messages.rule_cache import GetRules, ReloadRules, RuleCacheMessage
from motorpool.actors.rules.computed import Failure as ComputationFailure
from motorpool.actors.rules.device_rules import DeviceRules, WindowsMissing
from motorpool.actors.rules.identity_rules import PROTOCOL
from motorpool.actors.rules.rule_settings import DEFAULTS, RuleSettings
from motorpool.codecs.calendars.calendar import block_of
from motorpool.runtime import Actor, Failure
from motorpool.storage.accounts import server
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device
from motorpool.storage.rules import rule_rows
from motorpool.storage.rules.rule_rows import RULE_LINKS

RELOAD_SECONDS = 5.0
"""Delay before the rows are read again after the database was unavailable."""
PREPARE_SECONDS = 3600.0
"""Interval of looking for calendars whose next windows are to be computed."""
AHEAD = timedelta(days=2)
"""Windows are computed this long before positions need them."""
MAX_FAILED = 1_000
"""Computed attributes whose failure is remembered, so that it is logged once."""
FACTS: Mapping[str, type[facts.RowChanged]] = {
    "geofence": facts.GeofenceChanged,
    "attribute": facts.AttributeChanged,
    "maintenance": facts.MaintenanceChanged,
    "driver": facts.DriverChanged,
}
"""The facts of the types of PROPERTIES."""


class RuleCache:
    """Gives the rules of devices; empty until it is loaded."""

    def __init__(
        self,
        database: Database,
        configuration: RuleSettings = DEFAULTS,
        protocol_attributes: Mapping[str, Any] | None = None,
        binding: str = PROTOCOL,
    ) -> None:
        """`binding` is that of devices for which none is configured elsewhere."""
        self._database = database
        self._reader = RuleReader(database)
        self._configuration = configuration
        self._protocol_attributes = protocol_attributes or {}
        self._binding = binding
        self._tables = self._new_tables()
        self._calendar_ids: set[int] = set()
        """Calendars that devices were configured with since the start."""
        self._lock = trio.Lock()
        """Held while rows are read, so that none is put in place of a newer one."""
        self._is_loaded = False
        self._failed: set[int] = set()
        self.generation = 0
        """Another number each time that rules may have changed."""

    def rules_of(self, device: Device) -> DeviceRules:
        """Return the rules of a device without waiting; `device` is its present row."""
        return self._tables.rules_of(device)

    def is_new(self, failure: ComputationFailure) -> bool:
        """Whether the computed attribute fails for the first time since it last changed."""
        is_new = failure[0] not in self._failed and len(self._failed) < MAX_FAILED
        if is_new:
            self._failed.add(failure[0])
        return is_new

    async def require(self, rows: Iterable[Device]) -> None:
        """Load what the rules of these devices need, if it is not there yet. Raises StorageError."""
        wanted = {row.calendar_id for row in rows} - {0}
        if self._is_loaded and wanted <= self._calendar_ids:
            return
        async with self._lock:
            if not self._is_loaded:
                self._calendar_ids |= wanted
                await self._load()
            elif missing := wanted - self._calendar_ids:
                tables = self._tables
                tables.calendars |= await self._reader.calendars(missing, tables.server)
                self._calendar_ids |= missing
                self._publish(tables)

    async def prepare(self, missing: WindowsMissing) -> None:
        """Compute the windows of calendars that the rules of a device have asked for in vain."""
        await self._reader.prepare(missing)

    async def prepare_ahead(self, now: datetime) -> None:
        """Compute the windows of the next days, of calendars whose present ones were asked for."""
        present, following = block_of(now), block_of(now + AHEAD)
        for calendar in list(self._tables.calendars.values()):
            if present in calendar.blocks and following not in calendar.blocks:
                await self._reader.prepare(WindowsMissing((calendar,), following))

    def unload(self) -> None:
        """Have the next `require` read everything."""
        self._is_loaded = False

    async def reload(self) -> None:
        """Read everything again. Raises StorageError."""
        async with self._lock:
            await self._load()

    async def apply(self, changes: Sequence[Change]) -> None:
        """Read the rows that these changes affect again. Raises StorageError, after which `reload` is due."""
        async with self._lock:
            if not self._is_loaded:
                return
            if any(isinstance(change, facts.EverythingChanged) for change in changes):
                await self._load()
            else:
                await self._read_again(self._tables, changes)

    def _new_tables(self) -> RuleTables:
        return RuleTables(self._configuration, self._protocol_attributes, self._binding)

    async def _load(self) -> None:
        tables = self._new_tables()
        tables.server = (await server.fetch(self._database)).attributes
        tables.groups = await rule_rows.groups(self._database)
        wanted: dict[str, set[int]] = {name: set() for name in PROPERTIES}
        for kind in RULE_LINKS:
            found = await rule_rows.linked_ids(self._database, kind)
            tables.replace_links(kind, (), found)
            if kind.property in wanted:
                wanted[kind.property].update(*found.values())
        objects = await self._reader.objects(wanted)
        tables.replace_objects({}, objects)
        calendar_ids = self._calendar_ids | _calendars_of(objects)
        tables.calendars = await self._reader.calendars(calendar_ids, tables.server)
        self._is_loaded = True
        self._failed.clear()
        self._publish(tables)

    async def _read_again(self, tables: RuleTables, changes: Sequence[Change]) -> None:
        changed = _changed_ids(changes)
        server_attributes = tables.server
        if facts.ServerChanged in changed:
            server_attributes = (await server.fetch(self._database)).attributes
            changed[facts.CalendarChanged] |= tables.calendars.keys()
        group_ids = changed[facts.GroupChanged]
        groups = await rule_rows.groups(self._database, group_ids) if group_ids else {}
        removed = {name: changed[fact] for name, fact in FACTS.items()}
        wanted = {name: set(ids) for name, ids in removed.items()}
        links = []
        for kind in RULE_LINKS:
            if owner_ids := _changed_owners(changes, kind):
                found = await rule_rows.linked_ids(self._database, kind, owner_ids)
                links.append((kind, owner_ids, found))
                if kind.property in wanted:
                    wanted[kind.property].update(*found.values())
        for name, ids in wanted.items():
            ids.difference_update(tables.objects[name].keys() - removed[name])
        objects = await self._reader.objects(wanted)
        calendar_ids = changed[facts.CalendarChanged] & (self._calendar_ids | tables.calendars.keys())
        calendar_ids |= _calendars_of(objects) - tables.calendars.keys()
        calendars = await self._reader.calendars(calendar_ids, server_attributes)
        # Nothing waits from here on, so that nobody sees half of a change.
        tables.server = server_attributes
        self._failed -= changed[facts.AttributeChanged]
        for number in group_ids:
            tables.groups.pop(number, None)
        tables.groups |= groups
        for each in links:
            tables.replace_links(*each)
        tables.replace_objects(removed, objects)
        for number in calendar_ids:
            tables.calendars.pop(number, None)
        tables.calendars |= calendars
        self._publish(tables)

    def _publish(self, tables: RuleTables) -> None:
        tables.forget_rules()
        self._tables = tables
        self.generation += 1


def _calendars_of(objects: RuleObjects) -> set[int]:
    return {geofence.calendar_id for geofence in objects["geofence"].values()} - {0}


def _changed_ids(changes: Iterable[Change]) -> defaultdict[type, set[int]]:
    """Return the ids of changed rows by the type of the fact; the server's row has the id 0."""
    found: defaultdict[type, set[int]] = defaultdict(set)
    for change in changes:
        found[type(change)].add(change.id if isinstance(change, facts.RowChanged) else 0)
    return found


def _changed_owners(changes: Iterable[Change], kind: LinkType) -> set[int]:
    """Return the owners whose links of this kind may have changed: a deleted device has none any more."""
    owners = set()
    for change in changes:
        match change:
            case facts.LinkChanged(owner=kind.owner, property=kind.property):
                owners.add(change.owner_id)
            case facts.DeviceChanged(operation="deleted") if kind.owner == "device":
                owners.add(change.id)
            case facts.GroupChanged(operation="deleted") if kind.owner == "group":
                owners.add(change.id)
            case _:
                pass
    return owners


class RuleCacheActor(Actor[RuleCacheMessage]):
    """Has the rule cache follow the change feed, and answers who has no rule cache at hand."""

    def __init__(self, rule_cache: RuleCache, database: Database) -> None:
        self._rule_cache = rule_cache
        self._database = database

    async def start(self) -> None:
        """Have everything read again: changes of before the start may have been missed."""
        self._rule_cache.unload()

    async def run(self) -> None:
        """Compute the windows of calendars before positions need them, until cancelled."""
        while True:
            await trio.sleep(PREPARE_SECONDS)
            await self._rule_cache.prepare_ahead(self.context.clock.now())

    async def handle(self, message: RuleCacheMessage) -> object:
        """Handle one message; what changed meanwhile waits in the mailbox."""
        try:
            match message:
                case ApplyChanges():
                    return await self._rule_cache.apply(message.changes)
                case GetRules():
                    return await self._rules(message.device_ids)
                case ReloadRules():
                    return await self._rule_cache.reload()
                case _:
                    assert_never(message)
        except StorageError as error:
            if isinstance(message, GetRules):
                return Failure(error)
            self.context.log.warning("cannot read what is configured for devices, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, ReloadRules())
            return None

    async def _rules(self, device_ids: Sequence[int]) -> dict[int, DeviceRules]:
        rows = await devices.TABLE.fetch_many(self._database, device_ids)
        await self._rule_cache.require(rows)
        return {row.id: self._rule_cache.rules_of(row) for row in rows}
