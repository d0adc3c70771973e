"""What a device uploads besides positions: media files, files of alarms, lists of recordings.

Part of the device's actor.
"""

from collections.abc import Awaitable

import msgspec

from motorpool.actors.devices.alarm_file_requests import AlarmFileRequests
from motorpool.actors.devices.device_commands import DeviceCommands, NotSent
from motorpool.actors.devices.device_positions import DevicePositions
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.messages.downlink import AcknowledgeStored, ConnectionMessage
from motorpool.actors.messages.uplink import AlarmFileStored, AuthorizeAlarmUpload, Reported
from motorpool.codecs.reports import (
    ALARM_LABEL,
    REQUEST_ALARM_FILES,
    MediaFile,
    PositionReport,
    RecordingList,
)
from motorpool.runtime import Ref
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event
from motorpool.storage.video import recordings


class DeviceUploads:
    """Stores uploaded files, and requests the files of alarms."""

    __slots__ = (
        "_alarms",
        "_commands",
        "_context",
        "_database",
        "_options",
        "_positions",
        "_session",
    )

    def __init__(
        self,
        session: DeviceSession,
        commands: DeviceCommands,
        positions: DevicePositions,
        database: Database,
        options: DeviceOptions,
    ) -> None:
        self._session = session
        self._context = session.context
        self._commands = commands
        self._positions = positions
        self._database = database
        self._options = options
        self._alarms = AlarmFileRequests()

    async def media_uploaded(self, media: MediaFile, message: Reported) -> None:
        """Write the file and store a position that names it; acknowledged after both."""
        assert self._session.row is not None
        now = self._context.clock.now()
        unique_id = self._session.row.unique_id
        try:
            name = await self._options.files.save(unique_id, media, now)
        except OSError as error:
            self._context.log.error("cannot write a file of %d bytes: %s", len(media.content), error)
            return
        taken = media.position or PositionReport({}, located=False)
        report = msgspec.structs.replace(
            taken,
            attributes={
                **taken.attributes,
                media.kind: name,
                "channel": self._commands.channel_numbers().channel_of(media.channel),
            },
            receipt=media.receipt,
        )
        event = self._media_event(media.kind, name)
        waits = self._positions.store(report, message.protocol, message.connection, (event,))
        if waits is not None:
            await waits

    async def request_alarm_files(
        self, report: PositionReport, connection: Ref[ConnectionMessage], waits: Awaitable[None] | None
    ) -> None:
        """Have the device upload the files of the alarms that `report` names, after awaiting `waits`."""
        if waits is not None:
            await waits
        for label in self._alarms.select_new(str(report.attributes[ALARM_LABEL]).split(",")):
            target = self._session.connection or connection
            sent = await self._commands.transmit(target, REQUEST_ALARM_FILES, {"label": label})
            if isinstance(sent, NotSent):
                self._context.log.warning("cannot request the files of an alarm: %s", sent.reason)
            else:
                self._alarms.add(label, report)

    def authorize(self, message: AuthorizeAlarmUpload) -> str:
        """Return the device's identity if it may upload these files, else an empty string.

        The label of a requested alarm can be guessed, so it suffices only on the connection to which the
        request was sent; any other connection must repeat the number of the request.
        """
        row, upload = self._session.row, message.upload
        is_current = message.connection == self._session.connection
        is_expected = upload.is_ours or (is_current and self._alarms.find(upload.key) is not None)
        return row.unique_id if row is not None and self._options.requests_alarm_files and is_expected else ""

    def alarm_file_stored(self, message: AlarmFileStored) -> Awaitable[None] | None:
        """Store a position like the alarm's that names the file; acknowledged once it is stored."""
        report = self._alarms.report_of(message.name, message.file, message.upload)
        kind = message.file.kind
        events = () if kind == "file" else (self._media_event(kind, message.name),)
        return self._positions.store(report, message.protocol, message.connection, events)

    async def recording_list_received(
        self, received: RecordingList, connection: Ref[ConnectionMessage]
    ) -> None:
        """Replace the stored list by this one; acknowledged once it is stored."""
        channel_of = self._commands.channel_numbers().channel_of
        listed = [
            msgspec.structs.replace(recording, channel=channel_of(recording.channel))
            for recording in received.recordings
        ]
        try:
            await recordings.save(self._database, self._session.device_id, listed, self._context.clock.now())
        except StorageError as error:
            self._context.log.error("cannot store a list of %d recordings: %s", len(listed), error)
            return
        self._context.log.info("stored a list of %d recordings", len(listed))
        if received.receipt is not None:
            connection.offer(AcknowledgeStored((received.receipt,)))

    def _media_event(self, kind: str, name: str) -> Event:
        return self._positions.event("media", {"media": kind, "file": name})
