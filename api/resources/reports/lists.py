"""Reports as JSON (docs/reports.md#records); with `Accept` of a workbook they are one."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from quart import Response

from motorpool.actors.reports.columns import Read, Report
from motorpool.actors.reports.items import CombinedItem
from motorpool.actors.reports.routes import combined
from motorpool.actors.reports.sources import ReportQuery
from motorpool.actors.words.record_json import encode
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json_array, as_json_text
from motorpool.api.resources.reports.requests import (
    CallViewer,
    DeviceQuery,
    PeriodQuery,
    begin_report,
)
from motorpool.api.resources.reports.workbooks import answer_workbook, sends_mail, wants_workbook
from motorpool.storage.reports.report_rows import count_positions

OPERATIONS = Operations("reports")


@OPERATIONS.operation(
    "GET", "/reports/combined", query=PeriodQuery, answer=list[CombinedItem], changes=sends_mail
)
async def get_combined_report(call: Call) -> Response:
    """Get the routes of devices with their events.

    Events without a position and of type `deviceMoving` are left out.
    """
    sent = call.query(PeriodQuery)
    if wants_workbook(call):
        return await answer_workbook(call, "combined", sent)
    query = await begin_report(call, "combined", sent)
    return await as_json_text(call.in_turns(_combined(call, query)))


async def answer_list(call: Call, report: Report, sent: DeviceQuery) -> Response:
    """Answer with the items of a report."""
    query = await begin_report(call, report.name, sent, limited=not report.limited_by_positions)
    if report.limited_by_positions:
        await _require_few_positions(call, query)
    return await as_json_array(call.in_turns(_items(call, report.read, query)))


async def _items(call: Call, read: Read, query: ReportQuery) -> AsyncGenerator[Sequence[Any], None]:
    viewer = CallViewer(call, query.timezone)
    async with aclosing(read(call.context.reports.for_report(), viewer, query)) as batches:
        async for device, found in batches:
            # A long list of one device ends with the right to it.
            if device is None or await viewer.still_visible((device.id,)):
                yield found


async def _require_few_positions(call: Call, query: ReportQuery) -> None:
    """Refuse a route with more positions of a device than `positions.most`."""
    most = call.context.settings.positions.most
    if not most:
        return
    for device_id in await CallViewer(call).select(query.device_ids, query.group_ids):
        found = await count_positions(call.context.database, device_id, query.start, query.end, most=most + 1)
        if found > most:
            raise BadRequest(
                f"the span holds more than {most} positions of device {device_id}; ask for a shorter one"
            )


async def _combined(call: Call, query: ReportQuery) -> AsyncGenerator[bytes, None]:
    """Write the items of the report by pieces of their lists, which may be long."""
    fields = ("route", "events", "positions")
    viewer = CallViewer(call)
    yield b"["
    device_id: int | None = None
    field, is_empty = 0, True
    async with aclosing(combined(call.context.reports, viewer, query)) as parts:
        async for part in parts:
            if not await viewer.still_visible((part.device.id,)):
                raise PermissionError(f"access to device {part.device.id} ended while its report was sent")
            text = b""
            if part.device.id != device_id:
                if device_id is not None:
                    text = _end_lists(fields[field + 1 :]) + b"},"
                device_id, field, is_empty = part.device.id, 0, True
                text += b'{"deviceId":%d,"route":[' % device_id
            while fields[field] != part.field:
                field, is_empty = field + 1, True
                text += b'],"%s":[' % fields[field].encode()
            if part.elements:
                text += (b"" if is_empty else b",") + encode(list(part.elements))[1:-1]
                is_empty = False
            if text:
                yield text
    yield (b"" if device_id is None else _end_lists(fields[field + 1 :]) + b"}") + b"]"


def _end_lists(fields: Sequence[str]) -> bytes:
    return b"]" + b"".join(b',"%s":[]' % field.encode() for field in fields)
