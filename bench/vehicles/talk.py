"""The vehicle's end of a talk: sound both ways on one connection (docs/protocols/jt1078.md#talk)."""

import array
import random
from datetime import UTC
from functools import partial

import trio

from motorpool.bench.vehicles.cab import Cab, write_wav
from motorpool.bench.vehicles.media_sender import MediaSource, connect_for_media, send_in_time
from motorpool.codecs.media.audio_parser import AudioParser
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.telephone_sound import (
    CODINGS,
    FRAME_BYTES,
    FRAME_SAMPLES,
    TelephoneDecoder,
    TelephoneEncoder,
)
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime.clock import Clock

G726_BITS = 4
FRAME_MS = 40
PAUSE_FRAMES = 20
"""The driver answers once nothing loud was heard for this number of frames."""
LOUD = 1000
NOISE = 60
"""Highest sample of what the microphone hears where nobody speaks."""
MOST_BYTES = 20 << 20
"""Of what is kept of a talk."""


class _Driver:
    """Listens, and answers once after each time that somebody has spoken."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._left = b""
        self._heard_at: int | None = None
        self.heard = bytearray()
        self._random = random.Random(1)

    def hear(self, pcm: bytes, frame: int) -> None:
        """Hear samples, while the frame with this number is said."""
        if len(self.heard) < MOST_BYTES:
            self.heard += pcm
        if any(abs(sample) >= LOUD for sample in array.array("h", pcm)):
            self._heard_at = frame

    def say(self, frame: int) -> bytes:
        """Return the samples of a frame."""
        if self._heard_at is not None and frame - self._heard_at >= PAUSE_FRAMES:
            self._heard_at, self._left = None, self._answer
        said, self._left = self._left[:FRAME_BYTES], self._left[FRAME_BYTES:]
        missing = FRAME_SAMPLES - len(said) // 2
        noise = [self._random.randint(-NOISE, NOISE) for _ in range(missing)]
        return said + array.array("h", noise).tobytes()


async def talk(host: str, port: int, channel: int, source: MediaSource, cab: Cab, clock: Clock) -> None:
    """Connect, and talk until cancelled or the server closes the connection.

    Raises:
        OSError: the server cannot be reached.
        CodecError: it sends what is no sound.
    """
    driver = _Driver(await trio.to_thread.run_sync(cab.read_answer))
    frame = 0

    async def listen(stream: trio.SocketStream) -> None:
        parser, sound = Jt1078Parser(), AudioParser()
        decoder: TelephoneDecoder | None = None
        while data := await stream.receive_some(65536):
            for unit in parser.receive(data):
                if not isinstance(unit, AccessUnit) or not isinstance(unit.coding, AudioCoding):
                    continue
                parsed = sound.push(unit.coding, unit)
                if parsed is None or unit.coding not in CODINGS:
                    continue
                if decoder is None:
                    decoder = TelephoneDecoder(unit.coding, parsed.g726_bits)
                driver.hear(decoder.decode(parsed.payload), frame)
        nursery.cancel_scope.cancel()

    try:
        async with await connect_for_media(host, port) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(listen, stream)
            sender = Jt1078Sender(source.phone, source.sim_bytes)
            encoder = TelephoneEncoder(cab.coding, G726_BITS if cab.coding is AudioCoding.G726 else 0)
            due, timestamp = clock.monotonic(), 0
            while True:
                for payload in encoder.encode(driver.say(frame)):
                    unit = AccessUnit(channel, cab.coding, False, timestamp, payload)
                    await send_in_time(stream, sender.encode(unit))
                    timestamp += FRAME_MS
                frame += 1
                due = max(due + FRAME_MS / 1000, clock.monotonic() - 1)
                await trio.sleep(max(0.0, due - clock.monotonic()))
    finally:
        if cab.folder is not None:
            name = f"{source.phone}-{clock.now().astimezone(UTC):%Y%m%dT%H%M%S%f}.wav"
            with trio.CancelScope(shield=True):
                write = partial(write_wav, cab.folder / name, bytes(driver.heard))
                await trio.to_thread.run_sync(write)
