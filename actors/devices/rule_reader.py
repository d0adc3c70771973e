"""Reads the rows that the rules are made of; what takes long to prepare is prepared in a thread."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import trio

from motorpool.actors.rules.computed import CompiledAttribute
from motorpool.actors.rules.device_rules import LocalCalendar, WindowsMissing
from motorpool.actors.rules.expressions import ExpressionError, compile_expression
from motorpool.actors.rules.geofence_index import IndexedGeofence, index_geofence, prepare
from motorpool.actors.work.stored_calendars import OPEN, StoredCalendars, zone_of
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.storage import plain_tables
from motorpool.storage.database.database import Database
from motorpool.storage.records import ComputedAttribute, Geofence

PROPERTIES = ("geofence", "attribute", "maintenance", "driver")
"""Types of what devices and groups are linked to, in the names of storage/accounts/links.py."""
MAX_BLOCKS = 128
"""Blocks of a calendar's windows that are kept, more than rules ask for: ten years."""
RuleObjects = Mapping[str, Mapping[int, Any]]
"""Type -> id -> linked object: IndexedGeofence, CompiledAttribute, Maintenance or Driver. What cannot be
evaluated is missing."""


class RuleReader:
    """Reads rows of the database. All methods may raise StorageError."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._calendars = StoredCalendars()

    async def objects(self, wanted: Mapping[str, Collection[int]]) -> RuleObjects:
        """Return objects by the ids of each type of PROPERTIES."""
        database = self._database
        geofences = await plain_tables.GEOFENCES.fetch_many(database, wanted["geofence"])
        attributes = await plain_tables.COMPUTED_ATTRIBUTES.fetch_many(database, wanted["attribute"])
        maintenances = await plain_tables.MAINTENANCE.fetch_many(database, wanted["maintenance"])
        drivers = await plain_tables.DRIVERS.fetch_many(database, wanted["driver"])
        return {
            "geofence": await trio.to_thread.run_sync(_index, geofences) if geofences else {},
            "attribute": await trio.to_thread.run_sync(_compile, attributes) if attributes else {},
            "maintenance": {row.id: row for row in maintenances},
            "driver": {row.id: row for row in drivers},
        }

    async def calendars(self, ids: Collection[int], server: Mapping[str, Any]) -> dict[int, LocalCalendar]:
        """Return calendars by their ids, with the zones that they or the attributes of the server name.

        They are parsed when windows are asked for: only who uses a large one waits for it.
        """
        rows = await plain_tables.CALENDARS.fetch_many(self._database, ids) if ids else ()
        return {row.id: LocalCalendar(row, zone_of(row.attributes, server)) for row in rows}

    async def prepare(self, missing: WindowsMissing) -> None:
        """Compute the windows of a block; a calendar that cannot be read restricts nothing."""
        for local in missing.calendars:
            if missing.block in local.blocks:
                continue
            try:
                edges = await self._calendars.block_edges(local.row, missing.block, local.zone)
            except CalendarError:
                edges = OPEN  # stored before such text was refused
            local.blocks[missing.block] = edges
            while len(local.blocks) > MAX_BLOCKS:
                del local.blocks[next(iter(local.blocks))]


def _index(rows: Iterable[Geofence]) -> dict[int, IndexedGeofence]:
    indexed = [geofence for row in rows if (geofence := index_geofence(row)) is not None]
    prepare(indexed)
    return {geofence.id: geofence for geofence in indexed}


def _compile(rows: Iterable[ComputedAttribute]) -> dict[int, CompiledAttribute]:
    found = {}
    for row in rows:
        try:
            found[row.id] = CompiledAttribute(row, compile_expression(row.expression))
        except ExpressionError:
            continue  # stored before the text was checked
    return found
