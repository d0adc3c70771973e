"""Files of devices, and a device's own picture (docs/decisions/0014, docs/devices.md#operations,
docs/server.md#files).
"""

from fnmatch import fnmatchcase
from functools import partial

from quart import Response

from motorpool.actors.files.media_files import device_folder, media_folder, save_image
from motorpool.actors.video.capture_files import CAPTURE_NAMES
from motorpool.api.access import confirm_device, may_see_device, require_device
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.file_responses import media_type, send_file
from motorpool.api.http.responses import as_text
from motorpool.storage import devices

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("devices")

IMAGE_BYTES = 500_000
"""Limit of a picture."""
IMAGES = {
    "image/jpeg": ("jpg", (b"\xff\xd8\xff",)),
    "image/png": ("png", (b"\x89PNG\r\n\x1a\n",)),
    "image/gif": ("gif", (b"GIF87a", b"GIF89a")),
    "image/webp": ("webp", (b"RIFF",)),
}
"""Media type -> file suffix, and the bytes it may begin with."""

HEADERS = {
    # File names are unique, but a device's own picture may be replaced at any time.
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


@OPERATIONS.operation(
    "GET",
    "/media/{uniqueId:text}/{file:text}",
    answers={
        200: Content(media_type="*/*", text="The file"),
        206: Content(media_type="*/*", text="The part of it that was asked for"),
        304: Content(media_type="", text="It is what the client has"),
        416: Content(media_type="", text="The file has no such part"),
    },
)
async def get_media(call: Call) -> Response:
    """A file of a device: what it uploaded, or its picture."""
    unique_id, name = call.path["uniqueId"], call.path["file"]
    # A leading dot marks a file that is still being written.
    if "\0" in unique_id + name or name.startswith("."):
        raise ResourceNotFound("no such file")
    found = await devices.ids_by_unique_ids(call.context.database, (unique_id,))
    if not found or not await may_see_device(call, found[0]):
        raise ResourceNotFound("no such file")
    headers = dict(HEADERS)
    kind = media_type(name)
    if not kind.startswith(("image/", "video/", "audio/")) or kind == "image/svg+xml":
        # Devices sent the content: a browser must neither render nor run it.
        kind = "application/octet-stream"
        headers["Content-Disposition"] = "attachment"
    home = device_folder(media_folder(call.context.settings.data), unique_id)
    confirm = partial(confirm_device, call, found[0])
    response = await send_file(call.request, home, name, headers, kind, confirm)
    if response is None:
        raise ResourceNotFound("no such file")
    if response.status_code in {200, 206} and fnmatchcase(name, CAPTURE_NAMES):
        await _record_download(call, found[0], name)
    return response


async def _record_download(call: Call, device_id: int, name: str) -> None:
    """Write who fetches a capture: once in a while, because players fetch it in many parts."""
    if call.request.method == "HEAD" or call.context.downloads.hit(f"{call.caller.id} {name}"):
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
    CHANGE["device"].require(call.caller)
    await require_device(call, call.id)
    kind = (call.request.mimetype or "").lower()
    if kind not in IMAGES:
        raise BadRequest("the picture must be JPEG, PNG, GIF or WebP, by its Content-Type")
    if (call.request.content_length or 0) > IMAGE_BYTES:
        raise BadRequest(f"the picture is larger than {IMAGE_BYTES} bytes")
    content = await call.raw_body()
    await confirm_device(call, call.id)
    CHANGE["device"].require(call.caller)
    if len(content) > IMAGE_BYTES:
        raise BadRequest(f"the picture is larger than {IMAGE_BYTES} bytes")
    extension, beginnings = IMAGES[kind]
    if not content.startswith(beginnings) or (extension == "webp" and content[8:12] != b"WEBP"):
        raise BadRequest(f"the picture is not {kind}")
    device = await devices.TABLE.fetch(call.context.database, call.id)
    if device is None:
        raise ResourceNotFound("no such device")
    await record_action(call, call.context.database, "upload", "device", call.id)
    try:
        name = await save_image(
            media_folder(call.context.settings.data), device.unique_id, extension, content
        )
    except OSError as error:
        raise Unavailable(f"the picture cannot be kept: {error.strerror}") from error
    return as_text(name)
