"""The evidence of an event: what shows it, as a list and as one archive (docs/events.md#evidence)."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import datetime, tzinfo
from functools import partial
from pathlib import PurePath

import msgspec
import trio
from quart import Response

from motorpool.actors.files.media_store import (
    MediaKey,
    MediaStore,
    RenditionKind,
    StoredFile,
    media_key,
    rendition_key,
)
from motorpool.actors.words.cameras import camera_number
from motorpool.actors.words.file_names import content_disposition, file_name
from motorpool.actors.words.preferences import preferences_for
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.exports.archive import CheckedArchive
from motorpool.api.exports.csv_table import CsvTable
from motorpool.api.history import confirm_history, readable_event
from motorpool.api.http.errors import HttpError, ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.api.resources.library import Media, described
from motorpool.api.resources.media import ReadableFile, is_film_playable, make_ready
from motorpool.codecs.media import exif
from motorpool.storage.devices import camera_names, devices, positions
from motorpool.storage.devices.camera_names import CameraNames
from motorpool.storage.events.event_lists import PICTURE_TIME
from motorpool.storage.records import Device, Event
from motorpool.storage.video import library

OPERATIONS = Operations("events")

AROUND = PICTURE_TIME
"""Before and after an event: files that the vehicle sends then belong to it, and positions are saved."""
MOST = 50
"""Files of an event, and as many captures."""
PIECE_BYTES = 256 * 1024


class Evidence(Media, rename="camel", kw_only=True):
    """A capture or file that shows an event."""

    camera_time: str | None
    """When a photo was taken by the clock of the camera, as its Exif data say, without a time zone:
    `2026-11-21T14:32:07`. Null where they do not."""


@OPERATIONS.operation("GET", "/events/{id}/evidence", answer=list[Evidence], errors=(400,))
async def list_evidence(call: Call) -> Response:
    """What shows an event, the newest first.

    That are at most 50 files that the device sent within five minutes of it, the nearest, and captures that
    hold its instant.
    """
    event, device = await _event_of_device(call)
    found = await _evidence_of(call, event, device)
    await confirm_history(call, event.device_id)
    return as_json(found)


@OPERATIONS.operation(
    "GET",
    "/events/{id}/evidence.zip",
    answers={200: Content(media_type="application/zip", text="The archive, as an attachment")},
    errors=(400,),
)
async def save_evidence(call: Call) -> Response:
    """What shows an event as one archive.

    It holds pictures and films as they were sent, films also as MP4 where browsers do not play them, the
    positions around the event as CSV, the event with all of that as JSON, and `SHA256SUMS`, which
    `sha256sum -c` checks.
    """
    event, device = await _event_of_device(call)
    found = await _evidence_of(call, event, device)
    await record_action(call, call.context.database, "download", "event", event.id)
    names = await camera_names.names_of(call.context.database, (device.id,))
    archive = _Archive(call, event, device, names[device.id])
    name = file_name("evidence", device.name, archive.moment(event.event_time), extension="zip")
    headers = {"Content-Disposition": content_disposition(name), "Cache-Control": "private, no-cache"}
    body = _confirmed(call, event.device_id, call.in_turns(archive.pieces(found)))
    return Response(body, 200, headers=headers, content_type="application/zip")


async def _event_of_device(call: Call) -> tuple[Event, Device]:
    event = await readable_event(call, call.id)
    if event is not None:
        device = await devices.TABLE.fetch(call.context.database, event.device_id)
        if device is not None:
            return event, device
    raise ResourceNotFound("no such event")


async def _evidence_of(call: Call, event: Event, device: Device) -> list[Evidence]:
    database, store = call.context.database, call.context.files.store
    entries = await library.of_event(database, event.device_id, event.event_time, AROUND, MOST)
    found = await described(call, entries)
    keys = [media_key(device.unique_id, item.file_name) if item.kind == "photo" else None for item in found]
    times = await trio.to_thread.run_sync(_camera_times, store, keys)
    return [extended(Evidence, item, camera_time=time) for item, time in zip(found, times, strict=True)]


def _camera_times(store: MediaStore, keys: Sequence[MediaKey | None]) -> list[str | None]:
    return [_camera_time(store, key) if key is not None else None for key in keys]


def _camera_time(store: MediaStore, key: MediaKey) -> str | None:
    try:
        with store.open(key) as file:
            time = exif.taken_at(file.read(0, exif.HEAD_BYTES))
    except OSError:
        return None
    return None if time is None else time.isoformat()


async def _confirmed(call: Call, device_id: int, pieces: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """Yield the archive in larger pieces, as long as the caller may read the history of the device."""
    held = bytearray()
    async with aclosing(pieces):
        async for piece in pieces:
            try:
                await confirm_history(call, device_id)
            except HttpError as error:
                raise PermissionError("access to the device ended while its evidence was sent") from error
            held += piece
            if len(held) >= PIECE_BYTES:
                yield bytes(held)
                held.clear()
    yield bytes(held)


class _Archive:
    """Writes the archive of one event."""

    def __init__(self, call: Call, event: Event, device: Device, cameras: CameraNames) -> None:
        self._call, self._event, self._device, self._cameras = call, event, device, cameras
        self._zone: tzinfo = preferences_for(call.caller.user, call.context.server).zone
        self._store = call.context.files.store
        self._archive = CheckedArchive()
        self._names: set[str] = set()

    def moment(self, at: datetime) -> str:
        """Return a time for names, in the zone of the caller."""
        return f"{at.astimezone(self._zone):%Y-%m-%d_%H.%M.%S}"

    async def pieces(self, found: Sequence[Evidence]) -> AsyncGenerator[bytes, None]:
        """Yield the archive; what was deleted meanwhile is left out."""
        described: list[dict[str, object]] = []
        for item in found:
            key = media_key(self._device.unique_id, item.file_name)
            stem = self._stem(item)
            name = self._free(stem, PurePath(item.file_name).suffix.lstrip(".") or "bin")
            entry = {
                "name": name,
                "camera": self._cameras.get(str(item.channel)),
                **msgspec.to_builtins(item),
            }
            async with aclosing(self._file(name, key, item.time)) as pieces:
                async for piece in pieces:
                    yield piece
            if name not in self._archive.sums:
                continue
            described.append(entry)
            if item.kind == "film":
                async for piece in self._film(item, key, stem, entry):
                    yield piece
        table = await self._positions()
        yield self._archive.add("positions.csv", self._event.event_time, table)
        yield self._archive.add("evidence.json", self._call.now, self._summary(described))
        yield self._archive.end(self._call.now)

    async def _film(
        self, item: Evidence, key: MediaKey, stem: str, entry: dict[str, object]
    ) -> AsyncGenerator[bytes, None]:
        """Yield the film as MP4 where it is something else."""
        try:
            if await trio.to_thread.run_sync(is_film_playable, self._store, key):
                return
            await make_ready(self._call, ReadableFile(item.device_id, key, is_capture=False), "film")
        except HttpError as error:
            entry["film"] = f"not made: {error}"
            return
        name = self._free(stem, "mp4")
        async with aclosing(self._file(name, key, item.time, "film")) as pieces:
            async for piece in pieces:
                yield piece
        entry["film"] = name

    async def _file(
        self, name: str, key: MediaKey, at: datetime, made: RenditionKind | None = None
    ) -> AsyncGenerator[bytes, None]:
        opening = partial(self._store.open, key if made is None else rendition_key(key, made))
        try:
            file = await trio.to_thread.run_sync(opening)
        except FileNotFoundError:
            return
        with file:
            self._archive.begin(name, at.astimezone(self._zone), file.size)
            start = 0
            while start < file.size:
                piece = await trio.to_thread.run_sync(self._copy, file, start)
                start += PIECE_BYTES
                yield piece
            yield self._archive.end_member()

    def _copy(self, file: StoredFile, start: int) -> bytes:
        content = file.read(start, min(PIECE_BYTES, file.size - start))
        if not content:
            raise OSError("the file became shorter while it was sent")
        return self._archive.write(content)

    async def _positions(self) -> bytes:
        database, at = self._call.context.database, self._event.event_time
        span = self._device.id, at - AROUND, at + AROUND
        keys: set[str] = set()
        async with aclosing(positions.attribute_keys(database, *span)) as parts:
            async for part in parts:
                keys |= part
        table = CsvTable(sorted(keys), self._zone)
        written = [table.begin([])]
        async with aclosing(positions.stream_between(database, *span)) as batches:
            written += [table.write(batch) async for batch in batches]
        return b"".join([*written, table.end()])

    def _summary(self, described: Sequence[dict[str, object]]) -> bytes:
        device = {"id": self._device.id, "name": self._device.name, "uniqueId": self._device.unique_id}
        sums = self._archive.sums
        files = [{**entry, "sha256": sums[str(entry["name"])]} for entry in described]
        summary = {
            "event": msgspec.to_builtins(self._event),
            "device": device,
            "savedAt": self._call.now,
            "savedBy": self._call.caller.user.email,
            "timezone": str(self._zone),
            "files": files,
        }
        return msgspec.json.format(msgspec.json.encode(summary), indent=2)

    def _stem(self, item: Media) -> str:
        camera = "" if item.channel is None else f"camera {camera_number(item.channel, self._cameras)}"
        return file_name(self._device.name, self.moment(item.time), camera, item.kind, extension="")[:-1]

    def _free(self, stem: str, extension: str) -> str:
        """Return a name that no other member has."""
        name, number = f"{stem}.{extension}", 2
        while name in self._names:
            name, number = f"{stem}_{number}.{extension}", number + 1
        self._names.add(name)
        return name
