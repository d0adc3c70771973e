"""The commands of one device: validation, transmission to its connection, and the queue.

Part of the device's actor.
"""

import contextlib
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

import msgspec
import trio

from motorpool.actors.devices.command_queue import CommandQueue
from motorpool.actors.devices.command_validation import (
    command_types,
    fill_placeholders,
    refusal,
    text_refusal,
)
from motorpool.actors.devices.device_positions import DevicePositions
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.expected_answers import NOBODYS, Expected, ExpectedAnswers
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.messages.command_log import COMMAND_LOG, Answered, Disconnected
from motorpool.actors.messages.downlink import ConnectionMessage, EncodingRefused, Transmit, TransmitOutcome
from motorpool.actors.messages.live_stream import STREAM, HoldStream, ReleaseStream
from motorpool.actors.messages.playback import (
    PLAYBACK,
    PlaybackCommandCompleted,
    PlaybackControlSent,
    PlaybackMessage,
    PlaybackRequested,
)
from motorpool.actors.messages.text_channel import TEXT_CHANNEL, SendText
from motorpool.actors.messages.tickets import TICKET_COMMANDS, TicketCommandAnswered
from motorpool.actors.messages.uplink import (
    HANDOVER_MINUTES,
    SOUND_FORMAT_SECONDS,
    CommandOutcome,
    CommandQueued,
    CommandRefused,
    CommandSent,
    SendCommand,
    SoundFormatOverdue,
)
from motorpool.actors.video.camera_control import requested_channel
from motorpool.actors.video.media_requests import MEDIA_REQUESTS, MediaRequested
from motorpool.actors.video.playback_control import parse_control, parse_time
from motorpool.codecs.channel_map import UNMAPPED, ChannelMap, parse_channel_map
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import whole_number
from motorpool.codecs.reports import REQUEST_SOUND_FORMAT, CommandResult, DeviceCommand, SoundFormat
from motorpool.runtime import ActorError, ActorStopped, Deferred, Failure, Ref
from motorpool.storage.database.database import Database
from motorpool.storage.devices.command_log import Answer
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device, QueuedCommand

PLAYBACK_SECONDS = 3.0
"""How long to wait for a playback to take a message; the caller of the command waits 5 s."""
VIDEO_COMMANDS = {"videoStart": "live", "videoPlayback": "playback"}
"""The purpose of the media that each of these commands requests; live video with this data type is talk."""
TALK = 2
TALK_IS_NO_COMMAND = (
    "attributes.dataType: 2, sound both ways, is begun by GET /stream/{deviceId}/{channel}/talk"
)
MEDIA_COMMANDS = {*VIDEO_COMMANDS, "videoStop", "videoPlaybackControl"}
"""Commands that streams and playbacks are notified of."""
MAX_ANSWER = 1000
"""Characters of an answer that the log and the history of a ticket have."""
CONNECTION_ENDED = "the device's connection has just ended ({})"


def _purpose(kind: str, attributes: Mapping[str, Any]) -> str:
    """Return what the media is for that a command requests; empty where it requests none."""
    if kind == "videoStart" and whole_number(attributes.get("dataType")) == TALK:
        return "talk"
    return VIDEO_COMMANDS.get(kind, "")


class NotSent(msgspec.Struct, frozen=True):
    """Why a command was not sent."""

    reason: str
    connection_ended: bool = False


class DeviceCommands:
    """Validates, sends, queues and delivers the commands of one device."""

    __slots__ = ("_context", "_expected", "_options", "_session", "_sound", "_sound_replies", "queue")

    def __init__(
        self,
        session: DeviceSession,
        database: Database,
        options: DeviceOptions,
        positions: DevicePositions,
    ) -> None:
        """`positions` publishes the events."""
        self._session = session
        self._context = session.context
        self._options = options
        self._expected = ExpectedAnswers()
        self._sound: SoundFormat | None = None
        """As the device has said on its connection."""
        self._sound_replies: list[Deferred[SoundFormat | CommandRefused | None]] | None = None
        """Who waits for it; None: nobody, as mostly."""
        self.queue = CommandQueue(session, database, positions, options.node)

    def types(self) -> tuple[str, ...]:
        """Return the command types that the protocol of the device supports."""
        return tuple(sorted(command_types(CODECS.get(self._session.protocol))))

    def send(
        self, message: SendCommand
    ) -> CommandOutcome | Deferred[CommandOutcome] | Coroutine[Any, Any, CommandOutcome | Failure]:
        """Send a command now, or queue it; to a connected device mostly without waiting."""
        session = self._session
        if session.row is None:
            return CommandRefused("there is no such device")
        if message.text_channel:
            return self._send_text(session.row, message)
        reason = refusal(message.type, message.attributes, codec=CODECS.get(session.protocol))
        if reason:
            return CommandRefused(reason)
        if not message.by_reader and _purpose(message.type, message.attributes) == "talk":
            return CommandRefused(TALK_IS_NO_COMMAND)
        if session.connection is None:
            if not (message.no_queue or message.attributes.get("noQueue") is True):
                return self._queue_command(message)
            # What readers need is decided by the server that the media go to.
            if self._options.clustered and not message.by_reader:
                return self._send_from_elsewhere(message)
            return CommandRefused("the device is offline", offline=True)
        if message.type in MEDIA_COMMANDS:
            return self._send_media_command(session.connection, message)
        try:
            outcome = session.connection.ask_now(
                Transmit(self._device_command(message.type, message.attributes))
            )
        except ActorError as error:
            return CommandRefused(CONNECTION_ENDED.format(error))
        if isinstance(outcome, Coroutine):
            return self._await_outcome(outcome, message)
        return self._command_outcome(outcome, message)

    def _send_text(self, row: Device, message: SendCommand) -> CommandRefused | Deferred[CommandOutcome]:
        """Have a command sent as a text message, whether or not the device is connected."""
        if not self._options.text_channel():
            return CommandRefused("no SMS gateway is configured")
        if reason := text_refusal(message.type, message.attributes):
            return CommandRefused(reason)
        if not row.phone:
            return CommandRefused("the device has no telephone number")
        text = fill_placeholders(message.type, message.attributes, row.unique_id)["data"]
        reply: Deferred[CommandOutcome] = Deferred()
        if not self._context.system.ref(TEXT_CHANNEL).offer(
            SendText(row.phone, text, message.user_id, reply)
        ):
            return CommandRefused("too many text messages wait for the SMS gateway")
        return reply

    async def _await_outcome(
        self, outcome: Awaitable[TransmitOutcome], message: SendCommand
    ) -> CommandOutcome:
        try:
            return self._command_outcome(await outcome, message)
        except ActorError as error:
            return CommandRefused(CONNECTION_ENDED.format(error))

    async def _send_media_command(
        self, connection: Ref[ConnectionMessage], message: SendCommand
    ) -> CommandOutcome:
        expected = Expected(message.log_id, message.ticket_command_id, message.by_reader)
        sent = await self.transmit(
            connection, message.type, message.attributes, expected, user_id=message.user_id
        )
        return sent if isinstance(sent, CommandSent) else CommandRefused(sent.reason)

    async def _send_from_elsewhere(self, message: SendCommand) -> CommandOutcome | Failure:
        """Queue a command that must not wait if another server sends it at once; refuse it otherwise."""
        try:
            if await self.queue.is_served_elsewhere():
                return await self._queue_command(
                    msgspec.structs.replace(message, queue_minutes=HANDOVER_MINUTES)
                )
        except StorageError as error:
            return Failure(error)
        return CommandRefused("the device is offline", offline=True)

    async def _queue_command(self, message: SendCommand) -> CommandOutcome | Failure:
        try:
            queued = await self.queue.add(message)
        except StorageError as error:
            return Failure(error)
        if queued is None:
            return CommandRefused("it was cancelled meanwhile")
        if message.type == "videoStop":
            # The device may go on sending media: release the stream now, not at delivery.
            self._notify_stream(message.type, message.attributes)
        return CommandQueued(queued)

    async def transmit(
        self,
        connection: Ref[ConnectionMessage],
        kind: str,
        attributes: Mapping[str, Any],
        expected: Expected = NOBODYS,
        *,
        user_id: int = 0,
    ) -> CommandSent | NotSent:
        """Send a command and notify its stream or playback; return whether it was sent, or why not."""
        assert self._session.row is not None
        by_reader = expected.by_reader
        command = self._device_command(kind, attributes)
        if kind in VIDEO_COMMANDS:
            # Before the command is sent: the media connection may open before any answer arrives.
            self._context.system.ref(MEDIA_REQUESTS).offer(
                MediaRequested(
                    self._session.device_id,
                    self._session.row.unique_id,
                    attributes,
                    _purpose(kind, attributes),
                    self._session.peer,
                    command.channels,
                )
            )
        if kind == "videoPlayback":
            start = parse_time(attributes, "startTime", "from")
            end = parse_time(attributes, "endTime", "to")
            await self._tell_playback(attributes, PlaybackRequested(start, end, user_id))
        elif kind == "videoPlaybackControl" and not by_reader:
            control = parse_control(attributes)
            if control is not None:
                time = parse_time(attributes, "time", "time")
                await self._tell_playback(attributes, PlaybackControlSent(*control, time))
        try:
            outcome = await connection.ask(Transmit(command))
            sent = self._sent(outcome, expected)
        except ActorError as error:
            sent = NotSent(CONNECTION_ENDED.format(error), connection_ended=True)
        is_sent = isinstance(sent, CommandSent)
        if kind == "videoPlayback":
            await self._tell_playback(attributes, PlaybackCommandCompleted(sent=is_sent))
        if is_sent and not by_reader:
            self._notify_stream(kind, attributes)
        return sent

    def _device_command(self, kind: str, attributes: Mapping[str, Any]) -> DeviceCommand:
        assert self._session.row is not None
        media = self._options.media
        return DeviceCommand(
            type=kind,
            attributes=fill_placeholders(kind, attributes, self._session.row.unique_id),
            unique_id=self._session.row.unique_id,
            channels=self.channel_numbers(),
            media=msgspec.structs.replace(media, host=media.host or self._session.local_host),
        )

    def channel_numbers(self) -> ChannelMap:
        """Return the channel numbers that the device uses; the identity if the attribute is invalid."""
        try:
            row = self._session.row
            return parse_channel_map(row.attributes) if row is not None else UNMAPPED
        except CodecError as error:
            self._context.log.warning("%s", error)
            return UNMAPPED

    async def _tell_playback(self, attributes: Mapping[str, Any], message: PlaybackMessage) -> None:
        """Notify a playback, whose mailbox may be full for a moment; it never waits for this actor."""
        channel = requested_channel(attributes)
        with trio.move_on_after(PLAYBACK_SECONDS) as timeout:
            with contextlib.suppress(ActorStopped):  # the server is stopping
                await self._context.system.ref(PLAYBACK, (self._session.device_id, channel)).tell(message)
        if timeout.cancelled_caught:
            self._context.log.warning(
                "cannot notify the playback of channel %d: its mailbox is full", channel
            )

    def _notify_stream(self, kind: str, attributes: Mapping[str, Any]) -> None:
        """Hold the stream from `videoStart` until `videoStop`, also a queued one (docs/decisions/0024)."""
        if kind not in {"videoStart", "videoStop"}:
            return
        channel = requested_channel(attributes)
        stream = self._context.system.ref(STREAM, (self._session.device_id, channel))
        if not stream.offer(HoldStream() if kind == "videoStart" else ReleaseStream()):
            self._context.log.warning("cannot notify the stream of channel %d: its mailbox is full", channel)

    async def drain(self) -> None:
        """Send the queued commands in order, each at most once: its row is deleted before it is sent.

        When the connection ends, those that follow stay queued for the next one.
        """
        while self._session.connection is not None:
            claimed = await self.queue.claim()
            if claimed is None:
                return
            queued = claimed.command
            expected = Expected(claimed.log_id, claimed.ticket_command_id)
            sent = await self.transmit(
                self._session.connection, queued.type, queued.attributes, expected, user_id=claimed.user_id
            )
            if isinstance(sent, CommandSent):
                await self.queue.settle(claimed, "", answer_node=sent.answer_node)
                continue
            await self.queue.settle(claimed, sent.reason)
            if sent.connection_ended:
                return

    def _command_outcome(self, outcome: TransmitOutcome, message: SendCommand) -> CommandOutcome:
        expected = Expected(message.log_id, message.ticket_command_id, message.by_reader)
        sent = self._sent(outcome, expected)
        return sent if isinstance(sent, CommandSent) else CommandRefused(sent.reason)

    def _sent(self, outcome: TransmitOutcome, expected: Expected) -> CommandSent | NotSent:
        is_matched = self._expected.add(outcome, expected)
        if isinstance(outcome, EncodingRefused):
            return NotSent(outcome.reason)
        return CommandSent(self._options.node if is_matched and expected.log_id else None)

    def answered(self, result: CommandResult) -> bool:
        """Report an answer to the log and to a ticket; return whether the command was one for readers."""
        command = self._expected.command_of(result.reference)
        text = result.text[:MAX_ANSWER]
        if command.log_id:
            logged = Answer(command.log_id, result.ok, text, self._context.clock.now())
            self._context.system.ref(COMMAND_LOG).offer(Answered(logged))
        if command.ticket_command_id:
            answer = TicketCommandAnswered(command.ticket_command_id, result.ok, text)
            if not self._context.system.ref(TICKET_COMMANDS).offer(answer):
                self._context.log.warning("an answer to a command of a ticket is not entered in its history")
        return command.by_reader

    def connection_changed(self) -> None:
        """Expect no answers to what was sent on a connection that has ended: numbers begin again."""
        if unanswered := self._expected.clear():
            self._context.system.ref(COMMAND_LOG).offer(Disconnected(unanswered))
        self._sound = None

    def sound_format(
        self,
    ) -> SoundFormat | CommandRefused | Coroutine[Any, Any, CommandRefused | Deferred[Any]]:
        """Return what sound the device supports, or ask it."""
        session = self._session
        if session.row is None or session.connection is None:
            return CommandRefused("the device is offline", offline=True)
        if "videoStart" not in command_types(CODECS.get(session.protocol)):
            return CommandRefused(f"{session.protocol} devices have no sound")
        return self._sound or self._ask_sound_format(session.connection)

    async def _ask_sound_format(
        self, connection: Ref[ConnectionMessage]
    ) -> CommandRefused | Deferred[SoundFormat | CommandRefused | None]:
        sent = await self.transmit(connection, REQUEST_SOUND_FORMAT, {})
        if isinstance(sent, NotSent):
            return CommandRefused(sent.reason)
        reply: Deferred[SoundFormat | CommandRefused | None] = Deferred()
        waiting = [each for each in self._sound_replies or () if each.is_awaited]
        self._sound_replies = [*waiting, reply]
        self._context.after(SOUND_FORMAT_SECONDS, SoundFormatOverdue())
        return reply

    def settle_sound_format(self, sound: SoundFormat | None) -> None:
        """Answer those who wait for what sound the device supports; None: it has not said so in time."""
        if sound is not None:
            self._sound = sound
        replies, self._sound_replies = self._sound_replies, None
        for reply in replies or ():
            reply.answer(sound)

    def response_text(self, queued: QueuedCommand, protocol: str) -> str:
        """Return the text of a queued command for the response to a request; raises UnsupportedCommand."""
        return CODECS[protocol]().encode(self._device_command(queued.type, queued.attributes)).data.decode()
