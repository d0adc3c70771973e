"""Renders a report as a workbook (docs/reports.md#workbooks)."""

import tempfile
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import IO

from motorpool.actors.reports.columns import Report
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.actors.reports.workbook import WorkbookWriter
from motorpool.storage import groups
from motorpool.storage.records import Device

__all__ = ["TooManyRows", "render"]


class TooManyRows(Exception):
    """The report has more rows than a workbook may have."""


async def render(
    report: Report, sources: Sources, viewer: Viewer, query: ReportQuery, *, most_rows: int = 0
) -> IO[bytes]:
    """Render a report into a temporary file without a name, which the caller closes.

    `most_rows` is how many rows it may have, 0 for any number.

    Raises:
        TooManyRows: there are more.
        TooManySheets: too many devices have rows.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    done = False
    try:
        with tempfile.TemporaryDirectory(prefix="motorpool-report-") as folder:
            now = sources.system.clock.now()
            writer = WorkbookWriter(file, folder, report.columns, viewer.preferences, now)
            try:
                await _write(writer, report, sources, viewer, query, most_rows)
                await sources.in_thread(writer.close)
                done = True
            finally:
                if not done:
                    writer.discard()
        file.seek(0)
    finally:
        if not done:
            file.close()
    return file


async def _write(
    writer: WorkbookWriter,
    report: Report,
    sources: Sources,
    viewer: Viewer,
    query: ReportQuery,
    most_rows: int,
) -> None:
    present: int | None = None
    count = 0
    async with aclosing(report.read(sources, viewer, query)) as batches:
        async for device, items in batches:
            if not items:
                continue
            count += len(items)
            if most_rows and count > most_rows:
                raise TooManyRows(f"the report has more than {most_rows} rows; ask for a shorter span")
            if present is None or (report.by_device and device.id != present):
                present = device.id
                header = await _header(report, sources, viewer, query, device if report.by_device else None)
                title = device.name if report.by_device else report.title
                await sources.in_thread(partial(writer.begin_sheet, title, header))
            rows = await report.rows(sources, viewer, items)
            await sources.in_thread(partial(writer.add_rows, rows))
    if present is None:
        header = await _header(report, sources, viewer, query, None)
        await sources.in_thread(partial(writer.begin_sheet, report.title, header))


async def _header(
    report: Report, sources: Sources, viewer: Viewer, query: ReportQuery, device: Device | None
) -> list[tuple[str, str]]:
    lines = [("Report", report.title)]
    if device is not None:
        lines.append(("Device", device.name))
        group = await groups.TABLE.fetch(sources.database, device.group_id)
        if group is not None:
            lines.append(("Group", group.name))
    if report.has_period:
        lines.append(("Period", f"{_local(query.start, viewer)} - {_local(query.end, viewer)}"))
    return lines


def _local(instant: datetime, viewer: Viewer) -> str:
    try:
        return f"{instant.astimezone(viewer.preferences.zone):%Y-%m-%d %H:%M:%S}"
    except OverflowError:  # at the ends of the calendar
        return f"{instant:%Y-%m-%d %H:%M:%S}"
