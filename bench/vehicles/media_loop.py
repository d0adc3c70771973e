"""The loop that the cameras of `live` send: access units encoded once and repeated with increasing numbers.

The number is in an SEI message before the slices, where it can be read without decoding, and the place in the
loop is drawn into the picture, where decoding verifies it.
"""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import av
import msgspec
from av.stream import Stream

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

LOOP_SECONDS = 8
"""A multiple of the durations of pictures, G.711 packets (40 ms) and AAC frames (64 ms)."""
LOOP_MS = LOOP_SECONDS * 1000
FRAMES_PER_SECOND = 25
LOOP_FRAMES = LOOP_SECONDS * FRAMES_PER_SECOND
FRAME_MS = 1000 // FRAMES_PER_SECOND
LOOP_FORMAT = VideoFormat(frames_per_second=FRAMES_PER_SECOND, kbps=1000, coding=H264, sound=AudioCoding.AAC)
SOUND_RATE = 16_000
SOUND_MS = {AudioCoding.AAC: 64, AudioCoding.G711A: 40}
"""Duration of a packet of sound."""

_NUMBER_UUID = bytes.fromhex("6d6f746f72706f6f6c2062656e636821")
_NUMBER_BYTES = 5


class LoopUnit(msgspec.Struct, frozen=True, array_like=True):
    """One unit of the loop, split where the number is inserted; sound has an empty `head`."""

    milliseconds: int
    """Time since the beginning of the loop."""
    sound: AudioCoding | None
    """None for a picture."""
    keyframe: bool
    head: bytes
    """Parameter sets and other units before the first slice."""
    slices: bytes

    @property
    def is_video(self) -> bool:
        """Whether it is a picture; otherwise it is sound."""
        return self.sound is None

    @property
    def coding(self) -> Coding:
        """How it is coded: pictures by H.264."""
        return self.sound or H264

    def access_unit(self, channel: int, round_ms: int, number: int) -> AccessUnit:
        """Return the access unit of picture `number` (ignored for sound), `round_ms` later."""
        content = self.head + number_message(number) + self.slices if self.is_video else self.slices
        return AccessUnit(
            channel=channel,
            coding=self.coding,
            keyframe=self.keyframe,
            timestamp=round_ms + self.milliseconds,
            payload=content,
            frame_interval=FRAME_MS if self.is_video else 0,
        )


def number_message(number: int) -> bytes:
    """Encode an SEI message of unregistered user data with the number (H.264, section D.1.7)."""
    # Seven bits in each byte below a set one: without zeros there is no start code.
    digits = bytes(0x80 | number >> 7 * place & 0x7F for place in reversed(range(_NUMBER_BYTES)))
    payload = _NUMBER_UUID + digits
    return b"\0\0\0\1\x06\x05" + bytes((len(payload),)) + payload + b"\x80"


def read_number_message(picture: bytes) -> int | None:
    """Return the number in a coded picture; None if there is none."""
    at = picture.find(_NUMBER_UUID)
    digits = picture[at + len(_NUMBER_UUID) : at + len(_NUMBER_UUID) + _NUMBER_BYTES]
    if at < 0 or len(digits) < _NUMBER_BYTES:
        return None
    number = 0
    for digit in digits:
        number = number << 7 | digit & 0x7F
    return number


def make_loop(sound: AudioCoding = AudioCoding.AAC) -> list[LoopUnit]:
    """Encode the loop with AAC or G.711 A-law; takes about a second."""
    video = msgspec.structs.replace(LOOP_FORMAT, sound=sound)
    camera, drive = Camera("Bench", 1, video), Drive(ROUND_TRIPS[0], seed=1)
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    origin = round(begin.timestamp() * 1000)
    units: list[LoopUnit] = []
    sounds = LOOP_MS // SOUND_MS[sound]
    # The last packets of sound follow the last picture.
    for number in range(LOOP_FRAMES + FRAMES_PER_SECOND):
        instant = begin + timedelta(seconds=number / FRAMES_PER_SECOND)
        for unit in camera.encode_frame(drive.at(30 + number / FRAMES_PER_SECOND), instant):
            if unit.is_video and number < LOOP_FRAMES:
                head, slices = _split_at_slices(unit.payload)
                units.append(LoopUnit(unit.timestamp - origin, None, unit.keyframe, head, slices))
            elif not unit.is_video and sounds:
                sounds -= 1
                units.append(LoopUnit(unit.timestamp - origin, sound, False, b"", unit.payload))
    return sorted(units, key=lambda shot: shot.milliseconds)


def write_loop(units: list[LoopUnit], path: Path) -> None:
    """Write the loop to a file."""
    path.write_bytes(msgspec.msgpack.encode(units))


def read_loop(path: Path) -> list[LoopUnit]:
    """Read a loop written by `write_loop`."""
    return msgspec.msgpack.decode(path.read_bytes(), type=list[LoopUnit])


def write_transport_stream(units: list[LoopUnit], seconds: int, path: Path, *, first_number: int = 0) -> None:
    """Write `seconds` of the loop's pictures and AAC as MPEG-TS, the input of the ffmpeg reference."""
    units = [shot for shot in units if shot.coding in (H264, AudioCoding.AAC)]
    with av.open(str(path), "w", format="mpegts") as container:
        streams: dict[Coding, Stream] = {
            H264: container.add_mux_stream(
                "h264", rate=FRAMES_PER_SECOND, width=LOOP_FORMAT.width, height=LOOP_FORMAT.height
            )
        }
        if not all(shot.is_video for shot in units):
            streams[AudioCoding.AAC] = container.add_mux_stream("aac", rate=SOUND_RATE)
        number = first_number
        for turn in range(-(-seconds // LOOP_SECONDS)):
            for shot in units:
                unit = shot.access_unit(1, turn * LOOP_MS, number)
                if unit.timestamp >= seconds * 1000:
                    continue
                packet = av.Packet(unit.payload)
                packet.stream = streams[shot.coding]
                packet.time_base = Fraction(1, 90_000)
                packet.pts = packet.dts = unit.timestamp * 90
                packet.is_keyframe = shot.keyframe or not shot.is_video
                container.mux_one(packet)
                number += shot.is_video


def write_telephone_sound(units: list[LoopUnit], seconds: int, path: Path) -> None:
    """Write `seconds` of the loop's G.711, the input of the transcoding reference."""
    loop = b"".join(shot.slices for shot in units if shot.coding is AudioCoding.G711A)
    whole, rest = divmod(seconds, LOOP_SECONDS)
    path.write_bytes(loop * whole + loop[: len(loop) * rest // LOOP_SECONDS])


def _split_at_slices(picture: bytes) -> tuple[bytes, bytes]:
    """Split a picture before its first slice."""
    at = 0
    while (at := picture.find(b"\0\0\1", at)) >= 0:
        if picture[at + 3] & 0x1F in (1, 5):
            start = at - 1 if at and picture[at - 1] == 0 else at
            return picture[:start], picture[start:]
        at += 3
    raise ValueError("a picture without a slice")
