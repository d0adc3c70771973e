"""Exports of a device's positions as KML, KMZ, CSV and GPX (docs/positions.md#exports)."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import tzinfo

from quart import Response

from motorpool.actors.words.file_names import content_disposition, days_of, file_name
from motorpool.actors.words.preferences import preferences_for
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.spans import Span, check_timezone
from motorpool.api.exports.csv_table import CsvTable
from motorpool.api.exports.formats import PositionWriter
from motorpool.api.exports.gpx import Gpx
from motorpool.api.exports.kml import Kml, Kmz
from motorpool.api.history import confirm_history, require_history
from motorpool.api.http.errors import BadRequest, HttpError, ResourceNotFound
from motorpool.api.resources.geofence_filter import find_geofence, positions_inside
from motorpool.storage.devices import devices, positions
from motorpool.storage.records import Device, Position

OPERATIONS = Operations("positions")

BATCH = 250
"""Positions of one query and one piece of the answer: at most 10 ms of work, of CSV with 20 attributes."""
MAX_COLUMNS = 1000
"""Columns of attributes in a CSV file."""
KML = "application/vnd.google-earth.kml+xml"
KMZ = "application/vnd.google-earth.kmz"
CSV = "text/csv"
GPX = "application/gpx+xml"


class ExportQuery(Span, rename="camel", kw_only=True):
    """A device and a span of fix times, both ends included."""

    device_id: int
    geofence_id: int | None = None
    """Only positions inside it."""
    timezone: str = ""
    """IANA name of the time zone where neither the user nor the server has one; without it UTC."""


def _file(media_type: str) -> dict[int, Content]:
    return {200: Content(media_type=media_type, text="The file, as an attachment")}


@OPERATIONS.operation("GET", "/positions/kml", query=ExportQuery, answers=_file(KML), errors=(400, 404))
async def export_kml(call: Call) -> Response:
    """Export positions as KML: one line for Google Earth and the like."""
    query, device = await _begin(call)
    return await _send(call, query, device, KML, "kml", _kml(call, query, device))


@OPERATIONS.operation("GET", "/positions/kmz", query=ExportQuery, answers=_file(KMZ), errors=(400, 404))
async def export_kmz(call: Call) -> Response:
    """Export positions as KMZ: KML in an archive."""
    query, device = await _begin(call)
    return await _send(call, query, device, KMZ, "kmz", Kmz(_kml(call, query, device), call.now))


@OPERATIONS.operation("GET", "/positions/gpx", query=ExportQuery, answers=_file(GPX), errors=(400, 404))
async def export_gpx(call: Call) -> Response:
    """Export positions as GPX: one track."""
    query, device = await _begin(call)
    return await _send(call, query, device, GPX, "gpx", Gpx(device.name))


@OPERATIONS.operation("GET", "/positions/csv", query=ExportQuery, answers=_file(CSV), errors=(400, 404))
async def export_csv(call: Call) -> Response:
    """Export positions as CSV: a row each, times in the time zone of the user."""
    query, device = await _begin(call)
    keys: set[str] = set()
    parts = positions.attribute_keys(call.context.database, query.device_id, query.start, query.end)
    async with aclosing(call.in_turns(parts)) as parts:
        async for found in parts:
            keys |= found
            if len(keys) > MAX_COLUMNS:
                raise BadRequest(f"the span has more than {MAX_COLUMNS} attributes; ask for a shorter one")
    table = CsvTable(sorted(keys), _zone(call, query))
    return await _send(call, query, device, f"{CSV}; charset=utf-8", "csv", table)


def _kml(call: Call, query: ExportQuery, device: Device) -> Kml:
    return Kml(device.name, query.start, query.end, _zone(call, query))


def _zone(call: Call, query: ExportQuery) -> tzinfo:
    return preferences_for(call.caller.user, call.context.server, timezone=query.timezone).zone


async def _begin(call: Call) -> tuple[ExportQuery, Device]:
    query = call.query(ExportQuery)
    check_timezone(query.timezone)
    await require_history(call, query.device_id)
    database, most = call.context.database, call.context.settings.positions.most
    device = await devices.TABLE.fetch(database, query.device_id)
    if device is None:
        raise ResourceNotFound("no such device")
    if most:
        count = await positions.count_between(
            database, query.device_id, query.start, query.end, limit=most + 1
        )
        if count > most:
            raise BadRequest(f"the span holds more than {most} positions; ask for a shorter one")
    return query, device


async def _send(
    call: Call,
    query: ExportQuery,
    device: Device,
    content_type: str,
    extension: str,
    writer: PositionWriter,
) -> Response:
    """Answer with the file, streamed so that memory holds one batch.

    The first batch is fetched before the answer begins, so that an unavailable database is a 503.
    """
    batches = positions.stream_between(
        call.context.database, query.device_id, query.start, query.end, batch=lambda: BATCH
    )
    if query.geofence_id is not None:
        batches = positions_inside(batches, await find_geofence(call, query.geofence_id))
    batches = call.in_turns(batches)
    first: list[Position] = await anext(batches, [])
    days = days_of(query.start, query.end, _zone(call, query))
    name = file_name("positions", device.name, *days, extension=extension)
    headers = {"Content-Disposition": content_disposition(name)}
    body = _write(call, query.device_id, writer, first, batches)
    return Response(body, 200, headers=headers, content_type=content_type)


async def _write(
    call: Call,
    device_id: int,
    writer: PositionWriter,
    first: list[Position],
    batches: AsyncGenerator[list[Position], None],
) -> AsyncIterator[bytes]:
    async with aclosing(batches):
        yield writer.begin(first) + writer.write(first)
        async for batch in batches:
            try:
                await confirm_history(call, device_id)
            except HttpError as error:
                raise PermissionError("access to the device ended while its positions were sent") from error
            if written := writer.write(batch):
                yield written
        yield writer.end()
