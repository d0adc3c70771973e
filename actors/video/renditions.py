"""Renditions of the files of devices: pictures for lists, and films as MP4 that browsers play
(docs/video.md#library).

One actor a rendition, so that it is made once however many ask: they wait in its mailbox. It is made in one
process for all (codecs/media/renditions.py), and stands beside its file, which never changes. What cannot be
made is remembered there too, by an empty file.
"""

from pathlib import PurePath
from urllib.parse import unquote

import msgspec
import trio

from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaKey, MediaStore, RenditionKind, rendition_key
from motorpool.actors.messages.counters import WORKERS_FAILED
from motorpool.actors.video.media_worker import WRITES_FILES, RenditionRequest
from motorpool.actors.video.worker_process import COMMAND, WorkerFailure, WorkerPool
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.renditions import FILMS, HEAD_BYTES, format_of
from motorpool.runtime import Actor, ActorError, DynamicSpec, Failure, Kind, NodeLocal, Request, System
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.video import library

MAKE_SECONDS = 60.0
"""Limit of one rendition, the start of the process included; usually it takes less than a second."""
WAITING_REQUESTS = 50
"""Renditions that wait for the process; further ones are refused for now."""
WAIT_SECONDS = 120.0
"""How long to wait for a rendition, behind others."""
FILM_BYTES = 256 << 20
"""Larger files are not made films: they are played by other programs."""
PICTURE_BYTES = 1 << 20
"""Room on the disk that a picture needs; most have 20 kB."""


class NoRendition(msgspec.Struct, frozen=True):
    """There is none."""

    reason: str
    is_final: bool
    """Whether there will never be one."""


class MakeRendition(msgspec.Struct, Request[NoRendition | None], NodeLocal, frozen=True, gc=False):
    """Make the rendition if it is not there; None: it is there."""


class RunRendition(msgspec.Struct, Request[bytes | int], NodeLocal, frozen=True, gc=False):
    """Have the process make a rendition, and return a picture, or the length of a film in milliseconds;
    raises CodecError in the asker, or OSError if another attempt may succeed.
    """

    request: RenditionRequest


RenditionName = tuple[str, str, RenditionKind]
"""Folder and name of the file, and what is made of it."""
RENDITION: Kind[RenditionName, MakeRendition] = Kind("rendition")
RENDITION_WORKER: Kind[None, RunRendition] = Kind("rendition_worker")


class RenditionWorker(Actor[RunRendition]):
    """Makes renditions in one process, one at a time."""

    def __init__(self, command: tuple[str, ...] = (*COMMAND, WRITES_FILES)) -> None:
        """`command` starts the process."""
        self.pool = WorkerPool(
            command, size=1, waiting=WAITING_REQUESTS, seconds=MAKE_SECONDS, on_failure=self._failed
        )

    def handle(self, message: RunRendition) -> object:
        """Queue a request; the reply comes later."""
        kind = int if message.request.operation == "length" else bytes
        reply = self.pool.put(message.request, kind)
        return reply or Failure(OSError("too many renditions wait to be made"))

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        await self.pool.run()

    def _failed(self, failure: WorkerFailure) -> CodecError | OSError:
        WORKERS_FAILED.labels("rendition").inc()
        self.context.log.warning("the process for renditions %s", failure.reason)
        kind = OSError if failure.may_succeed else CodecError
        return kind(f"the process for it {failure.reason}")


class Rendition(Actor[MakeRendition]):
    """Makes one rendition."""

    def __init__(self, name: RenditionName, files: MediaFiles, database: Database) -> None:
        folder, file_name, self._kind = name
        self._database = database
        self._key = MediaKey(folder, file_name)
        self._files = files

    async def handle(self, message: MakeRendition) -> NoRendition | None:
        """Make it, unless it is there, or none can be made."""
        store = self._files.store
        try:
            found = await trio.to_thread.run_sync(look_for, store, self._key, self._kind)
            if not isinstance(found, bool):
                return found
            return None if found else await self._make(store)
        except FileNotFoundError:
            return NoRendition("there is no such file", is_final=True)
        except CodecError as error:
            self.context.log.info("%s: %s", self._key.name, error)
            await trio.to_thread.run_sync(store.note_no_rendition, self._key, self._kind)
            return NoRendition(str(error), is_final=True)
        except OSError as error:
            self.context.log.warning("no %s of %s: %s", self._kind, self._key.name, error)
            return NoRendition(f"it cannot be made now: {error.strerror or error}", is_final=False)
        except ActorError as error:
            return NoRendition(f"it cannot be made now: {error}", is_final=False)

    async def _make(self, store: MediaStore) -> None:
        file_format, size = await trio.to_thread.run_sync(_describe, store, self._key)
        is_film = self._kind == "film"
        if is_film and size > FILM_BYTES:
            raise CodecError(f"it is larger than {FILM_BYTES >> 20} MiB")
        room = size + size // 8 + PICTURE_BYTES if is_film else PICTURE_BYTES
        part = await trio.to_thread.run_sync(store.new_rendition, self._key, room)
        try:
            request = RenditionRequest(
                self._kind,
                store.path_for_worker(self._key),
                file_format,
                store.path_for_worker(part) if is_film else "",
                room if is_film else 0,
            )
            picture = await self._run(request)
            if isinstance(picture, bytes) and not is_film:
                await trio.to_thread.run_sync(store.save, part, picture)
            await trio.to_thread.run_sync(self._keep, part)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(store.delete, part)
        if file_format in FILMS and not is_film:
            await self._note_duration(
                RenditionRequest("length", store.path_for_worker(self._key), file_format)
            )

    async def _run(self, request: RenditionRequest) -> bytes | int:
        return await self.context.system.ref(RENDITION_WORKER).ask(RunRendition(request), WAIT_SECONDS)

    async def _note_duration(self, request: RenditionRequest) -> None:
        """Have the library know how long a film lasts; without it the list does not say it."""
        try:
            milliseconds = await self._run(request)
            if isinstance(milliseconds, int) and milliseconds:
                unique_id = unquote(self._key.folder)
                await library.note_duration(self._database, unique_id, self._key.name, milliseconds)
        except (CodecError, OSError, ActorError, StorageError) as error:
            self.context.log.info("the length of %s is not known: %s", self._key.name, error)

    def _keep(self, part: MediaKey) -> None:
        store, quota = self._files.store, self._files.quota
        size = store.keep_rendition(part, self._key, self._kind)
        if quota is not None and size:
            quota.add(store, self._key, size)


def look_for(store: MediaStore, key: MediaKey, kind: RenditionKind) -> NoRendition | bool:
    """Return whether there is such a rendition, or that none can be made. Blocks. Raises OSError."""
    try:
        with store.open(rendition_key(key, kind)) as made:
            if made.size:
                return True
    except FileNotFoundError:
        return False
    text = "no picture can be made of it" if kind == "picture" else "browsers cannot play it"
    return NoRendition(text, is_final=True)


def _describe(store: MediaStore, key: MediaKey) -> tuple[str, int]:
    """Return the format of a file, and its size in bytes. Raises CodecError where the format is not known."""
    with store.open(key) as file:
        unwritten = store.lock(key)
        if unwritten is None:
            raise OSError("it is still being written")
        unwritten.close()
        found = format_of(file.read(0, HEAD_BYTES), PurePath(key.name).suffix.lstrip("."))
        if found is None:
            raise CodecError("it is no picture or film of a known format")
        return found, file.size


def rendition_spec(files: MediaFiles, database: Database) -> DynamicSpec[RenditionName, MakeRendition]:
    """Return the spec of renditions: an actor for each that is being made."""
    return DynamicSpec(
        kind=RENDITION,
        name="renditions",
        factory=lambda name: Rendition(name, files, database),
        mailbox_size=200,
        idle_seconds=10.0,
    )


async def make_rendition(system: System, key: MediaKey, kind: RenditionKind) -> NoRendition | None:
    """Make a rendition of a file, or wait until it is made; None: it is there.

    Raises:
        ActorError: too many ask, or a part of the server is being restarted.
    """
    return await system.ref(RENDITION, (*key, kind)).ask(MakeRendition(), seconds=WAIT_SECONDS)
