"""Files of devices, and a device's own picture (docs/decisions/0014, docs/devices.md#operations,
docs/server.md#files).
"""

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, NamedTuple

import msgspec
import trio
from quart import Response

from motorpool.actors.files.file_retention import MEDIA_NAMES
from motorpool.actors.files.media_files import STILL, media_url
from motorpool.actors.files.media_store import MediaKey, MediaStore, RenditionKind, media_key, rendition_key
from motorpool.actors.video.capture_files import CAPTURE_NAMES
from motorpool.actors.video.renditions import NoRendition, look_for, make_rendition
from motorpool.api.access import confirm_device, may_see_device, require_device
from motorpool.api.auth.rights import CAPTURE_VIDEO, CHANGE, Right
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.history import confirm_history, require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.file_responses import media_type, send_file
from motorpool.api.http.responses import as_json, as_text
from motorpool.codecs.channel_map import MAX_CHANNEL
from motorpool.codecs.media.renditions import HEAD_BYTES, is_playable
from motorpool.codecs.reports import MediaFile
from motorpool.runtime import ActorError
from motorpool.storage.devices import devices
from motorpool.storage.records import Device
from motorpool.storage.video import stills
from motorpool.storage.video.stills import StillRecord

OPERATIONS = Operations("devices")

IMAGE_BYTES = 500_000
"""Limit of a picture."""
STILL_BYTES = 1_000_000
"""Limit of a still."""
IMAGES = {
    "image/jpeg": ("jpg", (b"\xff\xd8\xff",)),
    "image/png": ("png", (b"\x89PNG\r\n\x1a\n",)),
    "image/gif": ("gif", (b"GIF87a", b"GIF89a")),
    "image/webp": ("webp", (b"RIFF",)),
}
"""Media type -> file suffix, and the bytes it may begin with."""
STILLS = {kind: IMAGES[kind] for kind in ("image/jpeg", "image/png")}
"""Media types of stills."""

RENDITION_SECONDS = 30.0
"""For a rendition to be made, behind others."""
RETRY_SECONDS = 5.0
_MADE_TYPES: Mapping[RenditionKind, str] = {"picture": "image/jpeg", "film": "video/mp4"}

HEADERS = {
    # File names are unique, but a device's own picture may be replaced at any time.
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


def _file_answers(media_type: str, text: str) -> dict[int, Content]:
    return {
        200: Content(media_type=media_type, text=text),
        206: Content(media_type=media_type, text="The part of it that was asked for"),
        304: Content(media_type="", text="It is what the client has"),
        416: Content(media_type="", text="The file has no such part"),
    }


@OPERATIONS.operation(
    "GET", "/media/{uniqueId:text}/{file:text}", answers=_file_answers("*/*", "The file"), errors=(400,)
)
async def get_media(call: Call) -> Response:
    """A file of a device: what it uploaded, or its picture."""
    return await _send(call, await readable_file(call))


@OPERATIONS.operation(
    "GET",
    "/media/{uniqueId:text}/{file:text}/picture",
    answers=_file_answers("image/jpeg", "The picture"),
    errors=(400, 503),
)
async def get_picture(call: Call) -> Response:
    """A small picture of a photo, film or capture: its first one, at most 480 pixels wide.

    It is made when it is first asked for. 404 where none can be made.
    """
    file = await readable_file(call)
    await make_ready(call, file, "picture")
    return await _send(call, file, "picture")


@OPERATIONS.operation(
    "GET",
    "/media/{uniqueId:text}/{file:text}/film",
    answers=_file_answers("video/mp4", "The film"),
    errors=(400, 503),
)
async def get_film(call: Call) -> Response:
    """A film of a device as MP4, as browsers play it; the file itself where it is that.

    Another film is repackaged when it is first asked for, without encoding it again; the file stays as it is.
    404 where that is not possible.
    """
    file = await readable_file(call)
    if await trio.to_thread.run_sync(is_film_playable, call.context.files.store, file.key):
        return await _send(call, file)
    await make_ready(call, file, "film")
    return await _send(call, file, "film")


class ReadableFile(NamedTuple):
    """A file of a device that the caller may read, if there is one of this name."""

    device_id: int
    key: MediaKey
    is_capture: bool

    @property
    def can_be_rendered(self) -> bool:
        """Whether it never changes, as photos, files of alarms and captures."""
        return self.is_capture or fnmatchcase(self.key.name, MEDIA_NAMES)


async def readable_file(call: Call) -> ReadableFile:
    """Return the file that the path names.

    Raises:
        BadRequest: it is a capture, and the caller may read no history.
        ResourceNotFound: the device is unknown, or the caller has no access to it.
    """
    unique_id, name = call.path["uniqueId"], call.path["file"]
    # A leading dot marks a file that is still being written, or that was made of another.
    if name.startswith("."):
        raise ResourceNotFound("no such file")
    found = await devices.ids_by_unique_ids(call.context.database, (unique_id,))
    if not found or not await may_see_device(call, found[0]):
        raise ResourceNotFound("no such file")
    is_capture = fnmatchcase(name, CAPTURE_NAMES)
    if is_capture:
        await require_history(call, found[0])
    return ReadableFile(found[0], media_key(unique_id, name), is_capture)


async def _send(call: Call, file: ReadableFile, made: RenditionKind | None = None) -> Response:
    """Answer with a file, or what was made of it."""
    headers = dict(HEADERS)
    name = file.key.name
    kind = media_type(name) if made is None else _MADE_TYPES[made]
    if not kind.startswith(("image/", "video/", "audio/")) or kind == "image/svg+xml":
        # Devices sent the content: a browser must neither render nor run it.
        kind = "application/octet-stream"
        headers["Content-Disposition"] = "attachment"
    confirm = partial(confirm_history if file.is_capture else confirm_device, call, file.device_id)
    key = file.key if made is None else rendition_key(file.key, made)
    open_file = partial(call.context.files.store.open, key)
    try:
        response = await send_file(call.request, open_file, name, headers, kind, confirm)
    except FileNotFoundError:
        raise ResourceNotFound("no such file") from None
    if file.is_capture and made != "picture" and response.status_code in {200, 206}:
        await _record_download(call, file.device_id, name)
    return response


async def make_ready(call: Call, file: ReadableFile, kind: RenditionKind) -> None:
    """Have a rendition made if it is not there, one at a time for each user.

    Raises:
        ResourceNotFound: there is no such file, or none can be made of it.
        Unavailable: it is not made in time.
    """
    if not file.can_be_rendered:
        raise ResourceNotFound("no such file")
    try:
        found = await trio.to_thread.run_sync(look_for, call.context.files.store, file.key, kind)
        if found is True:
            return
        none = await _made(call, file, kind) if found is False else found
    except OSError as error:
        raise Unavailable(f"the {kind} cannot be made now: {error.strerror or error}") from error
    if none is not None:
        if none.is_final:
            raise ResourceNotFound(none.reason)
        raise Unavailable(none.reason, RETRY_SECONDS)


async def _made(call: Call, file: ReadableFile, kind: RenditionKind) -> NoRendition | None:
    """Have a rendition made in a turn of the caller; None: it was."""
    call.require_memory()
    try:
        with trio.fail_after(RENDITION_SECONDS):
            async with call.context.limits.renditions.of(call.caller.id):
                none = await make_rendition(call.context.system, file.key, kind)
    except (trio.TooSlowError, ActorError) as error:
        raise Unavailable(f"the {kind} is not made yet: others are made first", RETRY_SECONDS) from error
    await (confirm_history if file.is_capture else confirm_device)(call, file.device_id)
    return none


def is_film_playable(store: MediaStore, key: MediaKey) -> bool:
    """Return whether browsers play a file as it is. Blocks. Raises ResourceNotFound."""
    try:
        with store.open(key) as file:
            return is_playable(file.read(0, HEAD_BYTES))
    except FileNotFoundError:
        raise ResourceNotFound("no such file") from None


async def _record_download(call: Call, device_id: int, name: str) -> None:
    """Write who fetches a capture: once in a while, because players fetch it in many parts."""
    if call.request.method == "HEAD" or call.context.limits.downloads.hit(f"{call.caller.id} {name}"):
        return
    attributes = {"fileName": name}
    await record_action(call, call.context.database, "download", "device", device_id, attributes=attributes)


@OPERATIONS.operation(
    "POST",
    "/devices/{id}/image",
    raw_media_types=tuple(IMAGES),
    answers={200: Content(media_type="text/plain", text="The file's name, for attributes.deviceImage")},
)
async def save_device_image(call: Call) -> Response:
    """Keep a picture of a device: JPEG, PNG, GIF or WebP of at most 500,000 bytes."""
    extension, content = await _read_picture(call, CHANGE["device"], IMAGES, IMAGE_BYTES)
    device = await _audited_device(call)
    try:
        name = await call.context.files.save_image(device.unique_id, extension, content)
    except OSError as error:
        raise Unavailable(f"the picture cannot be kept: {error.strerror}") from error
    return as_text(name)


class StillQuery(msgspec.Struct, rename={"shown_at": "time"}):
    """What a still shows."""

    channel: Annotated[int, msgspec.Meta(ge=0, le=MAX_CHANNEL)] = 0
    """The camera; 0: not known."""
    shown_at: Instant | None = None
    """When what it shows was."""


class Still(msgspec.Struct, rename="camel"):
    """A still that is kept as a file of its device."""

    file_name: str
    """Its name, for `files` of a comment on a ticket."""
    url: str
    """Where it is served."""
    size: int
    """Size of the file in bytes."""
    sha256: str
    """SHA-256 of the content, in hexadecimal digits."""


@OPERATIONS.operation(
    "POST",
    "/devices/{id}/stills",
    query=StillQuery,
    raw_media_types=tuple(STILLS),
    answer=Still,
    errors=(503,),
)
async def save_still(call: Call) -> Response:
    """Keep a still of a camera, such as for a ticket: JPEG or PNG of at most 1,000,000 bytes.

    It is a file of the device like those that it sends: quotas and retention of files hold for it, and it is
    in the library.
    """
    wanted = call.query(StillQuery)
    extension, content = await _read_picture(call, CAPTURE_VIDEO, STILLS, STILL_BYTES)
    device = await _audited_device(call)
    still, now = MediaFile("image", f"{STILL[1:]}.{extension}", content), call.context.system.clock.now()
    try:
        name = await call.context.files.save(device.unique_id, still, now)
    except OSError as error:
        raise Unavailable(f"the still cannot be kept: {error.strerror}") from error
    record = StillRecord(name, device.id, wanted.channel, now, wanted.shown_at, call.caller.id)
    async with call.context.database.transaction() as transaction:
        await stills.add(transaction, record)
    digest = hashlib.sha256(content).hexdigest()
    return as_json(Still(name, media_url(device.unique_id, name), len(content), digest))


async def _read_picture(
    call: Call, right: Right, kinds: Mapping[str, tuple[str, tuple[bytes, ...]]], most: int
) -> tuple[str, bytes]:
    """Return the file suffix and the content of a picture that the caller sends for a device."""
    right.require(call.caller)
    await require_device(call, call.id)
    kind = (call.request.mimetype or "").lower()
    if kind not in kinds:
        names = [extension.upper() for extension, _ in kinds.values()]
        raise BadRequest(f"the picture must be {', '.join(names[:-1])} or {names[-1]}, by its Content-Type")
    if (call.request.content_length or 0) > most:
        raise BadRequest(f"the picture is larger than {most} bytes")
    content = await call.raw_body()
    # A slow upload may outlast the right.
    await confirm_device(call, call.id)
    right.require(call.caller)
    if len(content) > most:
        raise BadRequest(f"the picture is larger than {most} bytes")
    extension, beginnings = kinds[kind]
    if not content.startswith(beginnings) or (extension == "webp" and content[8:12] != b"WEBP"):
        raise BadRequest(f"the picture is not {kind}")
    return extension, content


async def _audited_device(call: Call) -> Device:
    """Return the device for which a file is kept, with that in the audit log."""
    device = await devices.TABLE.fetch(call.context.database, call.id)
    if device is None:
        raise ResourceNotFound("no such device")
    await record_action(call, call.context.database, "upload", "device", call.id)
    return device
