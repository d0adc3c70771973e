"""What one connection does about the files of alarms: whose they are, whether they are wanted, where they go.

They come on a connection of their own, which says who it is by the alarm alone, or beside all else.
"""

import msgspec

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.files.uploads import Upload, UploadRoom
from motorpool.actors.gateway.identity import find_device
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import DEVICE, AlarmFileStored, AuthorizeAlarmUpload, DeviceMessage
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    FileChunk,
    FileUploadCompleted,
    FileUploadStarted,
    UploadReport,
)
from motorpool.runtime import Context, Ref
from motorpool.storage.database import Database

__all__ = ["AlarmFiles"]


class _Open(msgspec.Struct, frozen=True):
    """The alarm whose files come now."""

    device: Ref[DeviceMessage]
    upload: Upload
    announced: AlarmFilesAnnounced


class AlarmFiles:
    """A connection's part in uploads; at most one alarm at a time."""

    __slots__ = ("_context", "_database", "_open", "_protocol", "_room")

    def __init__(self, database: Database, room: UploadRoom | None) -> None:
        """Without `room` nothing is taken."""
        self._database = database
        self._room = room
        self._open: _Open | None = None
        self._context: Context[ConnectionMessage]
        self._protocol = ""

    def attend(self, context: Context[ConnectionMessage], protocol: str) -> None:
        """Learn whose part this is."""
        self._context, self._protocol = context, protocol

    @property
    def is_open(self) -> bool:
        """Whether files are expected."""
        return self._open is not None

    async def take(
        self,
        report: UploadReport,
        own: Ref[DeviceMessage] | None,
        unique_ids: tuple[str, ...],
    ) -> str:
        """Do what the report asks for; why not, or nothing. `own` with `unique_ids`: whom the connection
        serves already.

        Raises:
            OSError: the disk does not take a file, which is given up.
            StorageError: nobody knows now whose they are.
            ActorError: the device cannot be asked now.
        """
        if isinstance(report, AlarmFilesAnnounced):
            refused = await self._offered(report, own if report.unique_ids == unique_ids else None)
        elif self._open is None:
            refused = "they were not offered"
        elif isinstance(report, FileUploadStarted):
            refused = await self._open.upload.begin(report)
        elif isinstance(report, FileChunk):
            await self._open.upload.write(report)
            return ""
        else:
            await self._ended(self._open, report)
            return ""
        if refused and not isinstance(report, FileChunk):
            self._context.log.warning("files of an alarm are not taken: %s", refused)
        return refused

    async def close(self) -> None:
        """Give up what has not come."""
        if self._open is not None:
            await self._open.upload.close()
            self._open = None

    async def _offered(self, offered: AlarmFilesAnnounced, device: Ref[DeviceMessage] | None) -> str:
        await self.close()
        if self._room is None:
            return "this server takes none"
        if device is None:
            row = await find_device(self._database, offered.unique_ids)
            if row is None or not may_report(row, self._context.clock.now()):
                return f"the device {offered.unique_ids[0]} is not known, disabled or expired"
            device = self._context.system.ref(DEVICE, row.id)
        unique_id = await device.ask(AuthorizeAlarmUpload(offered))
        if not unique_id:
            return "nobody asked for them"
        self._context.log.info("%d files of an alarm of %s", offered.files, unique_id)
        self._open = _Open(device, Upload(self._room, unique_id), offered)
        return ""

    async def _ended(self, opened: _Open, ended: FileUploadCompleted) -> None:
        """Told to the device once it is on the disk; acknowledged once its position is stored."""
        name = await opened.upload.keep(ended, self._context.clock.now())
        if name:
            kept = AlarmFileStored(name, ended, opened.announced, self._protocol, self._context.ref)
            await opened.device.tell(kept)
