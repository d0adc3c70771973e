"""What the file of a report is called: `trips_Van-12_2026-11-01_2026-11-07.xlsx`."""

from typing import Final

from motorpool.actors.reports.columns import WORKBOOKS
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.actors.words.file_names import days_of, file_name
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import devices, groups

FLEET: Final = "fleet"
"""Stands for several devices that are not those of one group."""


async def report_file_name(
    name: str, sources: Sources, viewer: Viewer, query: ReportQuery, *, extension: str = "xlsx"
) -> str:
    """Return the name of the file: the report, whose it is, and its days in the time zone of the user.

    Args:
        name: one of `WORKBOOKS`.
        sources: where names are looked up.
        viewer: who sees the name; of what they may not see it says nothing.
        query: what the report covers.
        extension: of the name of the file.
    """
    first, last = days_of(query.start, query.end, viewer.preferences.zone)
    has_period = any(report.has_period for report in WORKBOOKS[name])
    days = (first, last) if has_period else (first,)
    return file_name(name, await _subject(sources, viewer, query), *days, extension=extension)


async def _subject(sources: Sources, viewer: Viewer, query: ReportQuery) -> str:
    ids = await viewer.select(query.device_ids, query.group_ids)
    if len(ids) == 1:
        device = await devices.TABLE.fetch(sources.database, ids[0])
        return FLEET if device is None else device.name
    if len(query.group_ids) != 1 or query.device_ids:
        return FLEET
    seen = ListQuery(
        accessible_to=viewer.sees_only,
        conditions=(Condition("id = any({0}::bigint[])", (list(query.group_ids),)),),
    )
    found = await groups.TABLE.list(sources.database, seen)
    return found[0].name if found else FLEET
