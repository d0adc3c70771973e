"""Alarms of a simulated vehicle: a driver who looks at his telephone, with a photo and a film of it."""

from datetime import datetime
from typing import TypeVar

import trio

from motorpool.bench.vehicles.filming import CONNECT_SECONDS, SEND_SECONDS
from motorpool.bench.vehicles.studio import Studio
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.attachment_sender import (
    DSM,
    alarm_item,
    alarm_label,
    encode_attachment_list,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.codecs.devices.jt808.platform_messages import (
    AttachmentRequest,
    FileEndResponse,
    GeneralResponse,
    PlatformMessage,
)
from motorpool.codecs.devices.jt808.terminal import Terminal
from motorpool.codecs.errors import CodecError

KEPT_ALARMS = 8
"""Whose files can still be made; the oldest is forgotten first."""
TELEPHONE = 2
"""Kind of alarm of item 0x65."""
DRIVER_CHANNEL = 65
FILM_PICTURES = 20
IMAGE, FILM = 0, 2

Item = tuple[int, bytes]
Answer = TypeVar("Answer", bound=PlatformMessage)


class Alarms:
    """The alarms of one vehicle; files are made when somebody asks for them."""

    def __init__(self, vehicle: Vehicle, studio: Studio) -> None:
        self._vehicle = vehicle
        self._studio = studio
        self._kept: dict[bytes, datetime] = {}
        self._raised = 0
        self._due: datetime | None = None

    def raised_at(self, instant: datetime) -> list[Item]:
        """The items of alarms that are due at this instant, as often as the plan has it."""
        seconds = self._vehicle.plan.alarm_seconds
        if not seconds or (self._due is not None and (instant - self._due).total_seconds() < seconds):
            return []
        self._due = instant
        plan = self._vehicle.plan
        label = alarm_label(
            plan.phone[-7:].encode(), instant, self._raised % 256, 2, is_2019=plan.version == 2019
        )
        self._raised += 1
        while len(self._kept) >= KEPT_ALARMS:
            del self._kept[next(iter(self._kept))]
        self._kept[label] = instant
        return [(DSM, alarm_item(self._raised, TELEPHONE, label, self._vehicle.location(instant)))]

    def knows(self, asked: AttachmentRequest) -> bool:
        """Whether there are files of this alarm."""
        return asked.label in self._kept

    async def upload(self, asked: AttachmentRequest) -> None:
        """Connect and bring the files of an alarm; pieces that are missing are sent again.

        Raises:
            OSError, trio.BrokenResourceError, trio.TooSlowError, CodecError: it did not go well.
        """
        files = await self._files(self._kept[asked.label])
        plan = self._vehicle.plan
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(asked.host, asked.tcp_port)
        async with stream:
            line = _Line(stream, Terminal(plan.phone, plan.version))
            sizes = {name: len(content) for name, (_, content) in files.items()}
            await line.ask(encode_attachment_list(line.terminal, asked, sizes), GeneralResponse)
            for name, (kind, content) in files.items():
                await line.ask(encode_file_begin(line.terminal, name, kind, len(content)), GeneralResponse)
                answer: FileEndResponse | None = None
                while answer is None or answer.missing:
                    end = encode_file_end(line.terminal, name, kind, len(content))
                    answer = await line.ask(
                        b"".join(encode_file_chunks(name, content, answer)) + end, FileEndResponse
                    )

    async def _files(self, instant: datetime) -> dict[bytes, tuple[int, bytes]]:
        plan = self._vehicle.plan
        moment = self._vehicle.moment_at(instant)
        photo = await self._studio.photograph(plan.name, 1, moment, instant)
        camera = await self._studio.open_camera(plan.name, 1, plan.film)
        film = b""
        for _ in range(FILM_PICTURES):
            units = await self._studio.film_moment(camera, moment, instant)
            film += b"".join(unit.payload for unit in units if unit.coding.is_video)
        stem = f"{DRIVER_CHANNEL}_65{TELEPHONE:02}"
        return {
            f"00_{stem}_0.jpg".encode(): (IMAGE, photo),
            f"02_{stem}_1.{plan.film.coding.name.lower()}".encode(): (FILM, film),
        }


class _Line:
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
        raise trio.BrokenResourceError("the platform hung up")
