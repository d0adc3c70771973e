"""Files that override files of the console (docs/server.md#files)."""

import errno
import os
import secrets
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import trio
from quart import Response

from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, Unavailable
from motorpool.api.http.responses import as_text
from motorpool.api.logins.authentication import confirm_caller
from motorpool.storage.durable_files import copy_file, make_folder, move_into_place

OPERATIONS = Operations("server")

PARTS = "uploads"
"""Folder in the data folder for files that are still being received."""

PART_SECONDS = 3600
"""No upload takes longer: older files in the folder are abandoned."""
PATH_BYTES = 1000
NAME_BYTES = 200


@OPERATIONS.operation(
    "POST",
    "/server/file/{path:path}",
    raw_media_types=("application/octet-stream",),
    answers={200: Content(media_type="text/plain", text="Kept")},
)
async def save_file(call: Call) -> Response:
    """Keep a file that is served at this path in place of the console's; for administrators.

    Any `Content-Type` is taken: what a file is, its ending says.
    """
    ADMINISTER.require(call.caller)
    path = check_path(call.path["path"])
    data = call.context.settings.data
    part = data / PARTS / f"{secrets.token_hex(8)}.part"
    try:
        try:
            await _receive(call, part)
            await confirm_caller(call)
            ADMINISTER.require(call.caller)
            with trio.CancelScope(shield=True):
                await record_action(call, call.context.database, "upload", "file", attributes={"path": path})
                await trio.to_thread.run_sync(_put, call.context.settings.override, path, part)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(partial(part.unlink, missing_ok=True))
    except OSError as error:
        raise Unavailable(f"the file cannot be kept: {error.strerror or error}") from error
    return as_text("")


def check_path(path: str) -> str:
    """Return the path if it is a plain relative one; BadRequest otherwise."""
    segments = path.split("/")
    for segment in segments:
        if segment in {"", ".", ".."}:
            raise BadRequest("path: must not hold empty or dotted segments")
        # Invalid UTF-8 arrives as U+FFFD.
        if "\\" in segment or "\ufffd" in segment or not segment.isprintable():
            raise BadRequest("path: must not hold backslashes or characters that are none")
        if len(segment.encode(errors="replace")) > NAME_BYTES:
            raise BadRequest("path: has a name that is too long")
    if len(path.encode(errors="replace")) > PATH_BYTES:
        raise BadRequest("path: is too long")
    if segments[0].lower() == "api":
        raise BadRequest("path: nothing below api/ is ever served from a file")
    return path


async def _receive(call: Call, part: Path) -> None:
    """Write the body to a file while it arrives; 413 past the limit, 400 if it takes too long."""
    settings = call.context.settings.http
    await trio.to_thread.run_sync(partial(part.parent.mkdir, parents=True, exist_ok=True))
    await trio.to_thread.run_sync(_remove_abandoned, part.parent, call.now)
    size = 0
    with trio.move_on_after(settings.body_seconds) as patience:
        async with await trio.open_file(part, "xb") as file:
            async for piece in call.body_stream:
                size += len(piece)
                if size > settings.body_bytes:
                    await call.body_stream.refuse(settings.body_bytes)
                await file.write(piece)
            await file.flush()
            await trio.to_thread.run_sync(os.fsync, file.fileno())
    if patience.cancelled_caught:
        raise BadRequest("the body did not arrive in time", Connection="close")


def _remove_abandoned(folder: Path, now: datetime) -> None:
    """Remove the incomplete files that a crash left."""
    limit = now.timestamp() - PART_SECONDS
    for path in folder.glob("*.part"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                path.unlink()


def _put(root: Path, path: str, part: Path) -> None:
    """Move the file to its path without following links; runs in a thread."""
    folder = root
    make_folder(root)
    for segment in path.split("/")[:-1]:
        folder /= segment
        if folder.is_symlink():
            raise BadRequest("path: leads through a link")
        try:
            make_folder(folder)
        except FileExistsError:
            raise BadRequest(f"path: {segment} is a file already") from None
    try:
        _move(part, root / path)
    except OSError as error:
        if error.errno in {errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST}:
            raise BadRequest("path: is a folder already") from None
        raise


def _move(part: Path, path: Path) -> None:
    try:
        move_into_place(part, path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Servers of a cluster share the folder: it is of another file system than the data folder.
        copy_file(part, path)
