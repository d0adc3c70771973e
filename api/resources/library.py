"""The library: captures, files that devices sent and stills of users, as one list (docs/video.md#library)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

import msgspec
import trio
from quart import Response

from motorpool.actors.files.media_files import media_url
from motorpool.actors.files.media_store import MediaKey, media_key
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FilesHeld
from motorpool.actors.words.cameras import CAMERA, is_camera
from motorpool.api.auth.rights import CAPTURE_VIDEO, CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.engine.resource import id_of
from motorpool.api.engine.spans import Instant
from motorpool.api.history import require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.resources.media import readable_file
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.devices import positions
from motorpool.storage.events import events
from motorpool.storage.records import Event, Position
from motorpool.storage.video import captures, kept_files, library, stills
from motorpool.storage.video.captures import CaptureRecord
from motorpool.storage.video.kept_files import KeptFile
from motorpool.storage.video.library import MediaEntry, MediaKind, Place

OPERATIONS = Operations("media")

DEFAULT_LIMIT = 60
MAX_LIMIT = 200
ROUNDS = 5
"""How often one request reads on because files of the list are gone."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"(-?[0-9]{1,17})\.(-?[0-9])\.([0-9]{1,18})")
R = TypeVar("R", bound=msgspec.Struct)


class Media(msgspec.Struct, rename="camel", kw_only=True):
    """A capture, a file that a device sent, or a still that a user took of a video."""

    device_id: int
    kind: MediaKind
    """A capture is video that was kept, a still a picture that a user took of a video; the others were sent
    by the device."""
    file_name: str
    """Name of the file, which no other file of any device has."""
    time: datetime
    """When a capture began or a still was taken; of another file the time of the event that names it, such as
    an alarm."""
    channel: int | None
    """The camera; null where it is not known."""
    start_time: datetime | None
    """When the recording in a capture begins, by the clock of the camera, for live video by the clock of the
    server; or the time that a still shows."""
    end_time: datetime | None
    """When it ends."""
    duration: int | None
    """Milliseconds that a capture or film lasts; null until a picture of it was made."""
    live: bool
    """Whether it is a capture of live video."""
    size: int
    """Bytes of the file."""
    url: str
    """Where the file is."""
    play_url: str | None
    """Where it is as MP4 that browsers play; null where it is no film."""
    picture_url: str | None
    """Where there is a small picture of it; null where it has none."""
    capture_id: str | None
    """The capture; null where it is none."""
    event_id: int | None
    """The event `media` that names the file."""
    alarm: Event | None
    """The alarm that the file was sent for."""
    kept: bool
    """Whether a user keeps it: neither age nor quota removes it."""
    in_ticket: bool
    """Whether a ticket refers to it: then it cannot be deleted."""


class MediaPage(msgspec.Struct, rename="camel"):
    """A part of the list."""

    items: list[Media]
    """The newest first."""
    next: str | None
    """What continues the list as `after`; null at its end."""


class LibraryQuery(
    msgspec.Struct,
    kw_only=True,
    rename={"device_id": "deviceId", "group_id": "groupId", "start": "from", "end": "to"},
):
    """What to list; both ends of the span are included."""

    device_id: tuple[Id, ...] = ()
    """Of these devices; devices not visible to the caller are left out."""
    group_id: tuple[Id, ...] = ()
    """Of the devices in these groups, and in the groups below them."""
    start: Instant = EARLIEST
    end: Instant | None = None
    """By default now."""
    kind: tuple[MediaKind, ...] = ()
    """Of these kinds; none: of all."""
    kept: bool = False
    """Only what users keep."""
    limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT
    """Maximum number of entries; 0 is 200."""
    after: str = ""
    """`next` of the page before."""


class ChangedMedia(msgspec.Struct, rename="camel"):
    """What may be changed of an entry."""

    kept: bool
    """Whether to keep it."""


@OPERATIONS.operation("GET", "/media", query=LibraryQuery, answer=MediaPage, errors=(400,))
async def list_media(call: Call) -> Response:
    """Captures, files that devices sent and stills, the newest first, as far as their files are there.

    Without devices and groups, those of all devices that the caller is linked to. A page may be shorter than
    `limit` though others follow.
    """
    viewer = CallViewer(call)
    wanted = call.query(LibraryQuery)
    limit = wanted.limit or MAX_LIMIT
    after = _place(wanted.after) if wanted.after else None
    end = wanted.end or call.now
    device_ids = await viewer.select(wanted.device_id, wanted.group_id)
    shown: list[Media] = []
    async with call.turn, call.context.reports.slots:
        for _ in range(ROUNDS):
            missing = limit - len(shown)
            entries = await library.newest(
                call.context.database,
                device_ids,
                wanted.start,
                end,
                limit=missing,
                after=after,
                kinds=wanted.kind or library.KINDS,
                kept=wanted.kept,
            )
            shown += await described(call, entries)
            after = entries[-1].place if len(entries) == missing else None
            if after is None or len(shown) == limit:
                break
    visible = set(await viewer.still_visible(sorted({item.device_id for item in shown})))
    items = [item for item in shown if item.device_id in visible]
    return as_json(MediaPage(items, None if after is None else _cursor(after)))


@OPERATIONS.operation(
    "PUT", "/media/{uniqueId:text}/{file:text}", body=ChangedMedia, answer=Media, errors=(400,)
)
async def change_media(call: Call) -> Response:
    """Keep a capture or a file, so that neither age nor quota removes it, or release it.

    What one user keeps is limited by `quotas.user_kept_bytes`, and what all keep by
    `quotas.server_kept_bytes`.
    """
    entry, item = await _find(call)
    CAPTURE_VIDEO.require(call.caller)
    sent = await call.body(ChangedMedia)
    if sent.kept != entry.kept:
        attributes = {"fileName": entry.file_name}
        async with call.context.database.transaction() as transaction:
            if sent.kept:
                await _keep(call, transaction, entry, item.size)
            else:
                await kept_files.remove(transaction, entry.file_name)
            action = "keep" if sent.kept else "release"
            await record_action(call, transaction, action, "device", entry.device_id, attributes=attributes)
        if sent.kept:
            call.context.system.ref(FILE_RETENTION).offer(FilesHeld((entry.file_name,)))
        _, item = await _find(call)
    return as_json(item)


@OPERATIONS.operation(
    "DELETE", "/media/{uniqueId:text}/{file:text}", answers={204: NO_CONTENT}, errors=(400,)
)
async def delete_media(call: Call) -> Response:
    """Delete a capture or a file that a device sent; what a ticket refers to, or a user keeps, stays."""
    found, item = await _find(call)
    CHANGE["device"].require(call.caller)
    attributes = {"fileName": found.file_name, "size": item.size}
    async with call.context.database.transaction() as transaction:
        await kept_files.lock(transaction)
        entry = await library.find(transaction, found.device_id, found.file_name)
        if entry is not None and entry.in_ticket:
            raise BadRequest("a ticket refers to the file")
        if entry is not None and entry.kept:
            raise BadRequest("the file is kept: release it first")
        await captures.note_removed(transaction, [found.file_name], "deleted by a user")
        await stills.remove(transaction, found.file_name)
        await record_action(call, transaction, "deleteFile", "device", found.device_id, attributes=attributes)
        try:
            await trio.to_thread.run_sync(call.context.files.store.delete, _key(call))
        except OSError as error:
            raise Unavailable(f"the file cannot be deleted now: {error.strerror or error}") from error
    return no_content()


async def _find(call: Call) -> tuple[MediaEntry, Media]:
    """Return the entry of the file that the path names, and as it is shown.

    Raises:
        BadRequest: the caller may read no history.
        ResourceNotFound: there is none, or the caller has no access to its device.
    """
    file = await readable_file(call)
    await require_history(call, file.device_id)
    entry = await library.find(call.context.database, file.device_id, file.key.name)
    found = await described(call, [entry]) if entry is not None else []
    if entry is None or not found:
        raise ResourceNotFound("no such file")
    return entry, found[0]


def _key(call: Call) -> MediaKey:
    return media_key(call.path["uniqueId"], call.path["file"])


async def camera_of(call: Call, device_id: int, file_name: str) -> int | None:
    """Return the number of the camera that a file is of; None where it is not known."""
    entry = await library.find(call.context.database, device_id, file_name)
    found = await described(call, [entry]) if entry is not None else []
    return found[0].channel if found else None


async def _keep(call: Call, transaction: Queries, entry: MediaEntry, size: int) -> None:
    quotas = call.context.settings.quotas
    file = KeptFile(entry.file_name, entry.device_id, entry.place.time, entry.event_id, size, call.caller.id)
    by_user, by_all = await kept_files.add(transaction, file)
    if not await trio.to_thread.run_sync(call.context.files.store.exists, _key(call)):
        # Deleted while another transaction had the lock.
        raise ResourceNotFound("no such file")
    if by_all > quotas.server_kept_bytes:
        raise BadRequest(
            f"all users would keep {by_all} bytes, of at most {quotas.server_kept_bytes}"
            " (quotas.server_kept_bytes)"
        )
    if by_user > quotas.user_kept_bytes and not call.caller.administrator:
        raise BadRequest(
            f"the user would keep {by_user} bytes, of at most {quotas.user_kept_bytes}"
            " (quotas.user_kept_bytes)"
        )


async def described(call: Call, entries: Sequence[MediaEntry]) -> list[Media]:
    """Return the entries whose files are there, as they are shown."""
    database, store = call.context.database, call.context.files.store
    rows = await call.context.devices.get_many({entry.device_id for entry in entries})
    keys = {
        entry: media_key(row.record.unique_id, entry.file_name)
        for entry in entries
        if (row := rows.get(entry.device_id)) is not None
    }
    sizes = await trio.to_thread.run_sync(store.sizes, keys.values())
    # A file that several events name is shown once.
    there = list({key: entry for entry, key in reversed(keys.items()) if key in sizes}.values())[::-1]
    records = await captures.by_ids(database, [entry.capture_id for entry in there if entry.capture_id])
    named_by = await _by_ids(positions.TABLE, call, [entry.position_id for entry in there])
    alarms = await _by_ids(events.TABLE, call, [entry.alarm_id for entry in there])
    return [
        _shown(
            entry,
            rows[entry.device_id].record.unique_id,
            sizes[keys[entry]],
            records.get(entry.capture_id or ""),
            named_by.get(entry.position_id),
            alarms.get(entry.alarm_id),
        )
        for entry in there
    ]


async def _by_ids(table: Table[R], call: Call, ids: Sequence[int]) -> dict[int, R]:
    found = await table.fetch_many(call.context.database, sorted({*ids} - {0}))
    return {id_of(record): record for record in found}


def _shown(
    entry: MediaEntry,
    unique_id: str,
    size: int,
    capture: CaptureRecord | None,
    position: Position | None,
    alarm: Event | None,
) -> Media:
    url = media_url(unique_id, entry.file_name)
    channel = position.attributes.get(CAMERA) if position is not None else None
    item = Media(
        device_id=entry.device_id,
        kind=entry.kind,
        file_name=entry.file_name,
        time=entry.place.time,
        channel=channel if is_camera(channel) else entry.channel or None,
        start_time=entry.shown_at,
        end_time=entry.shown_at,
        duration=entry.duration,
        live=False,
        size=size,
        url=url,
        play_url=f"{url}/film" if entry.kind == "film" else None,
        picture_url=f"{url}/picture" if entry.kind in {"film", "photo", "still"} else None,
        capture_id=entry.capture_id,
        event_id=entry.event_id or None,
        alarm=alarm,
        kept=entry.kept,
        in_ticket=entry.in_ticket,
    )
    if capture is not None:
        item.live = capture.live
        item.start_time = capture.started_at if capture.live else capture.start_time
        item.end_time = capture.completed_at if capture.live else capture.end_time
        item.play_url, item.picture_url = url, f"{url}/picture"
    return item


def _cursor(place: Place) -> str:
    return f"{(place.time - EARLIEST) // timedelta(microseconds=1)}.{place.source}.{place.id}"


def _place(text: str) -> Place:
    """Return the place that `_cursor` has made a text of. Raises BadRequest."""
    matched = _CURSOR.fullmatch(text)
    if matched is None:
        raise BadRequest("after: is no `next` of a page")
    microseconds, source, number = map(int, matched.groups())
    try:
        time = EARLIEST + timedelta(microseconds=microseconds)
    except OverflowError:
        raise BadRequest("after: is no `next` of a page") from None
    return Place(time, source, number)
