"""The files of alarms that a connection receives: which device uploads them, and whether they are accepted.

A device sends them on its main connection, or on one opened for the upload, which identifies the device only
by announcing the files.
"""

import logging

import msgspec

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.files.uploads import Upload, UploadStorage
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import (
    DEVICE,
    AlarmFileStored,
    AuthorizeAlarmUpload,
    DetachConnection,
    DeviceMessage,
)
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    FileChunk,
    FileUploadCompleted,
    FileUploadStarted,
    UploadReport,
)
from motorpool.runtime import ActorError, Context, Ref
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError


class _Open(msgspec.Struct, frozen=True):
    """The upload in progress."""

    device: Ref[DeviceMessage]
    upload: Upload
    announced: AlarmFilesAnnounced


class AlarmFiles:
    """Receives uploads of alarm files on one connection, one alarm at a time."""

    __slots__ = ("_codec", "_context", "_database", "_open", "_socket", "_storage")

    def __init__(
        self,
        context: Context[ConnectionMessage],
        socket: PeerSocket,
        codec: DeviceCodec,
        database: Database,
        storage: UploadStorage | None,
    ) -> None:
        """Take context, socket and codec of the connection. Without `storage`, refuse every upload."""
        self._context = context
        self._socket = socket
        self._codec = codec
        self._database = database
        self._storage = storage
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether an upload is in progress."""
        return self._open is not None

    async def process(
        self, report: UploadReport, own: Ref[DeviceMessage] | None, unique_ids: tuple[str, ...]
    ) -> bool:
        """Process one message of an upload, and answer it; return whether it was accepted.

        `own` is the device that the connection serves already, with the `unique_ids` of its login. A file
        that the disk does not take is given up. If the device cannot be looked up or asked, close the socket.
        """
        try:
            refusal = await self._take(report, own, unique_ids)
        except OSError as error:
            self._context.log.error("a file of an alarm was not kept: %s", error)
            return True
        except (StorageError, ActorError) as error:
            self._socket.close(f"cannot be served now: {error}")
            return True
        if isinstance(report, FileChunk):  # has no reply
            return not refusal
        if refusal:
            self._socket.log(self._context, logging.WARNING, "refused files of an alarm: %s", refusal)
            self._socket.send(self._codec.refuse(report.receipt))
            return False
        # The end of a file is acknowledged once its position is stored.
        if not isinstance(report, FileUploadCompleted) and report.receipt is not None:
            self._socket.send(self._codec.acknowledge((report.receipt,)))
        return True

    async def _take(
        self, report: UploadReport, own: Ref[DeviceMessage] | None, unique_ids: tuple[str, ...]
    ) -> str:
        """Return why the report is refused, or an empty string."""
        if isinstance(report, AlarmFilesAnnounced):
            return await self._announced(report, own if report.unique_ids == unique_ids else None)
        if self._open is None:
            return "they were not announced"
        if isinstance(report, FileUploadStarted):
            return await self._open.upload.begin(report)
        if isinstance(report, FileChunk):
            await self._open.upload.write(report)
        else:
            await self._completed(self._open, report)
        return ""

    def discard(self) -> None:
        """Discard incomplete files."""
        if self._open is not None:
            self._open.device.offer(DetachConnection(self._context.ref))
            self._open.upload.discard()
            self._open = None

    async def _announced(self, announced: AlarmFilesAnnounced, device: Ref[DeviceMessage] | None) -> str:
        self.discard()
        if self._storage is None:
            return "uploads are not enabled"
        if device is None:
            row = await devices.by_unique_ids(self._database, announced.unique_ids)
            if row is None or not may_report(row, self._context.clock.now()):
                return f"the device {announced.unique_ids[0]} is not known, disabled or expired"
            device = self._context.system.ref(DEVICE, row.id)
        unique_id = await device.ask(AuthorizeAlarmUpload(announced, self._context.ref))
        if not unique_id:
            return "they were not requested"
        self._context.log.info("%d files of an alarm of %s", announced.files, unique_id)
        self._open = _Open(device, Upload(self._storage, unique_id), announced)
        return ""

    async def _completed(self, opened: _Open, completed: FileUploadCompleted) -> None:
        """Rename the file on disk, then have the device store its position, which acknowledges it."""
        name = await opened.upload.keep(completed, self._context.clock.now())
        if name:
            stored = AlarmFileStored(name, completed, opened.announced, self._codec.name, self._context.ref)
            await opened.device.tell(stored)
