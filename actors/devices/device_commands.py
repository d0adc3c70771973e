"""The commands of one device: what is wrong with them, the way to its connection, and the queue.

Part of the device's actor, which lends it what it knows of the device's line.
"""

import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import msgspec
import trio

from motorpool.actors.devices.command_validation import refusal
from motorpool.actors.messages.downlink import ConnectionMessage, EncodingRefused, Transmit, TransmitOutcome
from motorpool.actors.messages.live_stream import (
    STREAM,
    HoldStream,
    ReleaseStream,
)
from motorpool.actors.messages.playback import (
    PLAYBACK,
    PlaybackCommandCompleted,
    PlaybackControlSent,
    PlaybackMessage,
    PlaybackRequested,
)
from motorpool.actors.messages.uplink import (
    CommandOutcome,
    CommandQueued,
    CommandRefused,
    CommandSent,
    DeviceMessage,
    SendCommand,
)
from motorpool.actors.video.camera_control import requested_channel
from motorpool.actors.video.media_requests import MEDIA_REQUESTS, MediaRequested
from motorpool.actors.video.playback_control import parse_control
from motorpool.codecs.channel_map import UNMAPPED, ChannelMap
from motorpool.codecs.channel_map import parse_channel_map as read_numbers
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import DeviceCommand, MediaAddress
from motorpool.runtime import ActorError, ActorStopped, Context, Failure, Ref
from motorpool.storage import commands, runs
from motorpool.storage.commands import ClaimedCommand
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device, QueuedCommand
from motorpool.storage.runs import Outcome

__all__ = ["DeviceCommands", "DeviceSession"]

PLAYBACK_SECONDS = 3.0
"""For a playback to take word of a command; the caller's patience is 5 s."""
VIDEO_COMMANDS = {"videoStart": "live", "videoPlayback": "playback"}
TOLD_ON = {*VIDEO_COMMANDS, "videoStop", "videoPlaybackControl"}
"""What streams and playbacks hear of too."""
ENDED = "the device's connection has just ended ({})"


class DeviceSession:
    """Who the device is, and how it is reached at the moment."""

    __slots__ = ("connection", "local_host", "peer", "protocol", "row")

    def __init__(self) -> None:
        self.row: Device | None = None
        """None where there is no such device."""
        self.connection: Ref[ConnectionMessage] | None = None
        self.protocol = ""
        """Of its connection or its latest position; empty while that is unknown."""
        self.peer = ""
        """Address of the device."""
        self.local_host = ""
        """The address at which it reached us."""


class DeviceCommands:
    """Sends, queues and delivers; refuses what the device does not understand."""

    __slots__ = ("_context", "_database", "_delivered", "_device_id", "_line", "_media", "_queue")

    def __init__(
        self,
        device_id: int,
        line: DeviceSession,
        database: Database,
        *,
        media: MediaAddress,
        context: Context[DeviceMessage],
        delivered: Callable[[int], None],
    ) -> None:
        """`delivered` is told the number of each queued command that has gone out."""
        self._device_id = device_id
        self._line = line
        self._database = database
        self._media = media
        self._context = context
        self._delivered = delivered
        self._queue: list[QueuedCommand] = []

    @property
    def waiting(self) -> bool:
        """Whether anything waits for the device."""
        return bool(self._queue)

    async def load(self) -> None:
        """Load what waits."""
        self._queue = await commands.queued_for(self._database, self._device_id)

    def forget(self) -> None:
        """Nothing waits for a device that is gone."""
        self._queue.clear()

    def types(self) -> tuple[str, ...]:
        """The command types that its protocol supports."""
        codec = CODECS.get(self._line.protocol)
        return tuple(sorted({"custom"} | (codec.commands if codec is not None else frozenset())))

    def send(self, message: SendCommand) -> CommandOutcome | Coroutine[Any, Any, CommandOutcome | Failure]:
        """Send a command now, or keep it for later; to a device that is there mostly without waiting."""
        line = self._line
        if line.row is None:
            return CommandRefused("there is no such device")
        codec = CODECS.get(line.protocol)
        wrong = refusal(message.type, message.attributes, text_channel=message.text_channel, codec=codec)
        if wrong:
            return CommandRefused(wrong)
        if line.connection is None:
            if message.no_queue or message.attributes.get("noQueue") is True:
                return CommandRefused("the device is offline", offline=True)
            return self._keep(message)
        if message.type in TOLD_ON:
            return self._send_and_tell(line.connection, message)
        try:
            outcome = line.connection.ask_now(Transmit(self._order(message.type, message.attributes)))
        except ActorError as error:
            return CommandRefused(ENDED.format(error))
        return self._sent_later(outcome) if isinstance(outcome, Coroutine) else _sent(outcome)

    async def _sent_later(self, outcome: Awaitable[TransmitOutcome]) -> CommandOutcome:
        try:
            return _sent(await outcome)
        except ActorError as error:
            return CommandRefused(ENDED.format(error))

    async def _send_and_tell(
        self, connection: Ref[ConnectionMessage], message: SendCommand
    ) -> CommandOutcome:
        refused = await self.transmit(
            connection, message.type, message.attributes, by_reader=message.by_reader
        )
        return CommandRefused(refused) if refused else CommandSent()

    async def _keep(self, message: SendCommand) -> CommandOutcome | Failure:
        try:
            queued = await self._put(message)
        except StorageError as error:
            return Failure(error)
        if queued is None:
            return CommandRefused("it was cancelled meanwhile")
        self._queue.append(queued)
        if message.type == "videoStop":
            # Its media may come on without it: no reason to take it until then.
            self._tell_stream(message.type, message.attributes)
        return CommandQueued(queued)

    async def _put(self, message: SendCommand) -> QueuedCommand | None:
        """Let a command wait; None where it is a step that is not wanted any more."""
        waiting = QueuedCommand(
            device_id=self._device_id, type=message.type, attributes=dict(message.attributes)
        )
        if not message.run_id:
            return await commands.enqueue(self._database, waiting)
        return await runs.queue_step(
            self._database,
            message.run_id,
            waiting,
            now=self._context.clock.now(),
            minutes=message.queue_minutes,
        )

    async def transmit(
        self,
        connection: Ref[ConnectionMessage],
        kind: str,
        attributes: Mapping[str, Any],
        *,
        by_reader: bool = False,
    ) -> str:
        """Send one command; the reason why not, or nothing. Streams and playbacks hear of theirs."""
        assert self._line.row is not None
        order = self._order(kind, attributes)
        if kind in VIDEO_COMMANDS:
            # Told before the bytes go out: the media connection may be faster than any answer.
            self._context.system.ref(MEDIA_REQUESTS).offer(
                MediaRequested(
                    self._device_id,
                    self._line.row.unique_id,
                    attributes,
                    VIDEO_COMMANDS[kind],
                    self._line.peer,
                    order.channels,
                )
            )
        if kind == "videoPlayback":
            await self._tell_playback(attributes, PlaybackRequested())
        elif kind == "videoPlaybackControl" and not by_reader:
            wanted = parse_control(attributes)
            if wanted is not None:
                await self._tell_playback(attributes, PlaybackControlSent(*wanted))
        try:
            outcome = await connection.ask(Transmit(order))
            refused = outcome.reason if isinstance(outcome, EncodingRefused) else ""
        except ActorError as error:
            refused = ENDED.format(error)
        if kind == "videoPlayback":
            await self._tell_playback(attributes, PlaybackCommandCompleted(sent=not refused))
        if not (refused or by_reader):
            self._tell_stream(kind, attributes)
        return refused

    def _order(self, kind: str, attributes: Mapping[str, Any]) -> DeviceCommand:
        assert self._line.row is not None
        return DeviceCommand(
            type=kind,
            attributes=attributes,
            unique_id=self._line.row.unique_id,
            channels=self.channel_numbers(),
            media=msgspec.structs.replace(self._media, host=self._media.host or self._line.local_host),
        )

    def channel_numbers(self) -> ChannelMap:
        """What the device calls its channels."""
        try:
            return read_numbers(self._line.row.attributes) if self._line.row is not None else UNMAPPED
        except CodecError as error:
            self._context.log.warning("%s", error)
            return UNMAPPED

    async def _tell_playback(self, attributes: Mapping[str, Any], message: PlaybackMessage) -> None:
        """A burst may have filled its mailbox; it never waits for us, so it takes this soon."""
        channel = requested_channel(attributes)
        with trio.move_on_after(PLAYBACK_SECONDS) as patience:
            with contextlib.suppress(ActorStopped):  # the server stops
                await self._context.system.ref(PLAYBACK, (self._device_id, channel)).tell(message)
        if patience.cancelled_caught:
            self._context.log.warning("the playback of channel %d is too busy to be told", channel)

    def _tell_stream(self, kind: str, attributes: Mapping[str, Any]) -> None:
        """What `videoStart` began is held until `videoStop` (docs/decisions/0024), from the queue as well."""
        if kind not in {"videoStart", "videoStop"}:
            return
        channel = requested_channel(attributes)
        stream = self._context.system.ref(STREAM, (self._device_id, channel))
        if not stream.offer(HoldStream() if kind == "videoStart" else ReleaseStream()):
            self._context.log.warning("the stream of channel %d is too busy to be told", channel)

    async def drain(self) -> None:
        """Send what waited, in order; at most once each: the row is taken before the bytes go out."""
        while self._line.connection is not None:
            taken = await self.take()
            if taken is None:
                return
            queued = taken.command
            refused = await self.transmit(self._line.connection, queued.type, queued.attributes)
            await self.settle(taken, refused)

    async def take(self) -> ClaimedCommand | None:
        """The next command that waits, out of its table; None when there is none or it cannot be told now."""
        while self._queue:
            try:
                taken = await commands.claim(self._database, self._queue[0].id, self._context.clock.now())
            except StorageError as error:
                self._context.log.warning("%d commands wait on: %s", len(self._queue), error)
                return None
            del self._queue[0]
            if taken is not None:
                return taken
        return None

    async def settle(self, taken: ClaimedCommand, refused: str) -> None:
        """Tell of a command that has left the queue: it is with the device, or why not."""
        queued = taken.command
        if refused:
            self._context.log.warning("queued command %s (%s) not sent: %s", queued.id, queued.type, refused)
        else:
            self._delivered(queued.id)
        if taken.run_id:
            outcome = Outcome(taken.run_id, "delivered")
            if refused:
                outcome = Outcome(taken.run_id, "skipped", "not_sent", refused)
            try:
                await runs.store_outcomes(self._database, (outcome,), self._context.clock.now())
            except StorageError as error:
                # Told as failed after the next start.
                self._context.log.error("what came of step %d is not written down: %s", taken.run_id, error)


def _sent(outcome: TransmitOutcome) -> CommandOutcome:
    return CommandRefused(outcome.reason) if isinstance(outcome, EncodingRefused) else CommandSent()
