"""Alarms of a simulated vehicle, each with a photo and a video."""

from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

import trio

from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.jt808.attachment_sender import (
    ADAS,
    DSM,
    alarm_item,
    alarm_label,
    encode_attachment_list,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.bench.vehicles.jt808.platform_messages import (
    AttachmentRequest,
    FileEndResponse,
    GeneralResponse,
    PlatformMessage,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.media_sender import CONNECT_SECONDS, SEND_SECONDS
from motorpool.bench.vehicles.vehicle import DRIVE_START, Vehicle
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h265 import H265

KEPT_ALARMS = 64
"""Alarms whose files can be uploaded; the oldest is dropped first."""
KINDS = ((DSM, 2), (ADAS, 1), (DSM, 1), (ADAS, 2))
"""Item and alarm type: telephone, forward collision, fatigue, lane departure."""
SOS = 1
"""Alarm bit of the emergency button."""
SOS_EACH = 11
"""Each such alarm of a roster is the emergency button, which has no files."""
VIDEO_PICTURES = 20
IMAGE, VIDEO = 0, 2

Item = tuple[int, bytes]
Answer = TypeVar("Answer", bound=PlatformMessage)


class Due(NamedTuple):
    """The alarms that a location carries."""

    items: tuple[Item, ...] = ()
    bits: int = 0


class Alarms:
    """The alarms of one vehicle; files are created on request."""

    def __init__(self, vehicle: Vehicle, encoding_thread: EncodingThread) -> None:
        self._vehicle = vehicle
        self._encoding_thread = encoding_thread
        self._kept: dict[bytes, _Kept] = {}
        self._due: datetime | None = None

    def take_due(self, instant: datetime) -> Due:
        """Return the alarms since the last call: of the roster, else one at the interval of the plan."""
        last, self._due = self._due, instant
        plan, roster = self._vehicle.plan, self._vehicle.roster
        if roster is not None:
            due = roster.alarms_between(
                self._vehicle.seconds_at(last or instant), self._vehicle.seconds_at(instant)
            )
            if not due:
                return Due()
            # The same alarm after a restart of the simulation.
            number = round(due[-1] / 60)
            return Due(bits=SOS) if number % SOS_EACH == 0 else self._raise(number, instant)
        if not plan.alarm_seconds:
            return Due()
        if last is not None and (instant - last).total_seconds() < plan.alarm_seconds:
            self._due = last
            return Due()
        return self._raise(int((instant - DRIVE_START) / timedelta(seconds=plan.alarm_seconds)), instant)

    def _raise(self, number: int, instant: datetime) -> Due:
        plan = self._vehicle.plan
        label = alarm_label(plan.phone[-7:].encode(), instant, number % 256, 2, is_2019=plan.version == 2019)
        while len(self._kept) >= KEPT_ALARMS:
            del self._kept[next(iter(self._kept))]
        item, kind = KINDS[number % len(KINDS)] if self._vehicle.roster is not None else KINDS[0]
        self._kept[label] = _Kept(instant, item, kind)
        location = self._vehicle.location(instant)
        return Due(((item, alarm_item(number % 2**32, kind, label, location)),))

    def has_files(self, request: AttachmentRequest) -> bool:
        """Return whether there are files of this alarm."""
        return request.label in self._kept

    async def upload(self, request: AttachmentRequest) -> None:
        """Connect and upload the files of an alarm; missing chunks are sent again.

        Raises:
            OSError, trio.BrokenResourceError, trio.TooSlowError, CodecError: the upload failed.
        """
        files = await self._files(*self._kept[request.label])
        plan = self._vehicle.plan
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(request.host, request.tcp_port)
        async with stream:
            connection = _UploadConnection(stream, Terminal(plan.phone, plan.version))
            sizes = {name: len(content) for name, (_, content) in files.items()}
            await connection.ask(encode_attachment_list(connection.terminal, request, sizes), GeneralResponse)
            for name, (kind, content) in files.items():
                await connection.ask(
                    encode_file_begin(connection.terminal, name, kind, len(content)), GeneralResponse
                )
                answer: FileEndResponse | None = None
                while answer is None or answer.missing:
                    end = encode_file_end(connection.terminal, name, kind, len(content))
                    answer = await connection.ask(
                        b"".join(encode_file_chunks(name, content, answer)) + end, FileEndResponse
                    )

    async def _files(self, instant: datetime, item: int, alarm: int) -> dict[bytes, tuple[int, bytes]]:
        plan = self._vehicle.plan
        moment = self._vehicle.state_at(instant)
        photo = await self._encoding_thread.take_photo(
            plan.name, 1, moment, instant, squares=plan.video.squares
        )
        camera = await self._encoding_thread.open_camera(plan.name, 1, plan.video)
        video = b""
        for _ in range(VIDEO_PICTURES):
            units = await self._encoding_thread.encode_frame(camera, moment, instant)
            video += b"".join(unit.payload for unit in units if unit.is_video)
        # Channel 64 looks ahead, 65 at the driver.
        suffix = "h265" if plan.video.coding is H265 else "h264"
        stem = f"{item - ADAS + 64}_{item:02x}{alarm:02}"
        return {
            f"00_{stem}_0.jpg".encode(): (IMAGE, photo),
            f"02_{stem}_1.{suffix}".encode(): (VIDEO, video),
        }


class _Kept(NamedTuple):
    """An alarm whose files may be requested."""

    instant: datetime
    item: int
    kind: int


class _UploadConnection:
    """The connection of one upload."""

    def __init__(self, stream: trio.SocketStream, terminal: Terminal) -> None:
        self.terminal = terminal
        self._stream = stream

    async def ask(self, content: bytes, kind: type[Answer]) -> Answer:
        """Send, and wait for an answer of this kind."""
        with trio.fail_after(SEND_SECONDS):
            await self._stream.send_all(content)
            while received := await self._stream.receive_some(65536):
                for message in self.terminal.receive(received):
                    if isinstance(message, GeneralResponse) and message.result:
                        raise CodecError(f"0x{message.answered_id:04x} was refused")
                    if isinstance(message, kind):
                        return message
        raise trio.BrokenResourceError("the platform closed the connection")
