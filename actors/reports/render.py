"""Renders reports as a workbook (docs/reports.md#workbooks)."""

import tempfile
from collections.abc import Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import IO

from motorpool.actors.reports.columns import Report
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.actors.reports.workbook import WorkbookWriter
from motorpool.storage.devices import groups
from motorpool.storage.records import Device


async def render(
    reports: Sequence[Report], sources: Sources, viewer: Viewer, query: ReportQuery, *, most_rows: int = 0
) -> IO[bytes]:
    """Render reports into a temporary file without a name, which the caller closes.

    The sheets of the reports follow each other in order. `most_rows` limits the rows of all reports together;
    0 is no limit.

    Raises:
        WorkbookTooLarge: there are more, or too many devices have rows.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    done = False
    try:
        with tempfile.TemporaryDirectory(prefix="motorpool-report-") as folder:
            now = sources.system.clock.now()
            writer = WorkbookWriter(file, folder, viewer.preferences, now, most_rows)
            try:
                for report in reports:
                    await _write(writer, report, sources, viewer, query, named=len(reports) > 1)
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
    *,
    named: bool,
) -> None:
    """Write the sheets of a report; `named` says whether their names begin with its title."""
    begun, present = False, None
    async with aclosing(report.read(sources, viewer, query)) as batches:
        async for device, items in batches:
            if not items:
                continue
            shown = device if report.by_device else None
            if not begun or (shown is not None and shown.id != present):
                begun, present = True, None if shown is None else shown.id
                header = await _header(writer, report, sources, viewer, query, shown)
                title = _title(writer, report, shown, named)
                await sources.in_thread(partial(writer.begin_sheet, title, header, report.columns))
            rows = await report.rows(sources, viewer, items)
            await sources.in_thread(partial(writer.add_rows, rows))
    if not begun:
        header = await _header(writer, report, sources, viewer, query, None)
        title = writer.heading(report.title)
        await sources.in_thread(partial(writer.begin_sheet, title, header, report.columns))


def _title(writer: WorkbookWriter, report: Report, device: Device | None, named: bool) -> str:
    title = writer.heading(report.title)
    if device is None:
        return title
    return f"{title} {device.name}" if named else device.name


async def _header(
    writer: WorkbookWriter,
    report: Report,
    sources: Sources,
    viewer: Viewer,
    query: ReportQuery,
    device: Device | None,
) -> list[tuple[str, str]]:
    lines = [("Report", writer.heading(report.title))]
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
