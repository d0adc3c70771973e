"""Film material for `live`: access units made once, sent over and over, each picture with its own number.

The number stands in an SEI message before the slices (any reader finds it without decoding), and the place in
the loop is drawn into the picture (a decoder proves that the picture is the one it claims to be).
"""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import av
import msgspec

from motorpool.bench.vehicles.camera import Camera, Film
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.units import AccessUnit, Coding

LOOP_SECONDS = 8
"""Whole seconds, pictures and G.711 (40 ms) and frames of AAC (64 ms): the loop has no seam in its times."""
LOOP_MS = LOOP_SECONDS * 1000
FRAMES_PER_SECOND = 25
LOOP_FRAMES = LOOP_SECONDS * FRAMES_PER_SECOND
FRAME_MS = 1000 // FRAMES_PER_SECOND
FILM = Film(frames_per_second=FRAMES_PER_SECOND, kbps=1000, coding=Coding.H264, sound=Coding.AAC)
SOUND_RATE = 16_000
SOUND_MS = {Coding.AAC: 64, Coding.G711A: 40}
"""How long each packet of sound lasts."""

_MARK = bytes.fromhex("6d6f746f72706f6f6c2062656e636821")
_NUMBER_BYTES = 5


class Shot(msgspec.Struct, frozen=True, array_like=True):
    """One unit of the loop, cut where the number goes in; sound has an empty `head`."""

    milliseconds: int
    """Since the begin of the loop."""
    coding: Coding
    keyframe: bool
    head: bytes
    """Parameter sets and the like."""
    slices: bytes

    @property
    def is_picture(self) -> bool:
        """Not sound."""
        return self.coding is Coding.H264

    def unit(self, channel: int, round_ms: int, number: int) -> AccessUnit:
        """Make the access unit of picture `number` (for sound it counts nothing), `round_ms` later."""
        content = self.head + number_message(number) + self.slices if self.is_picture else self.slices
        return AccessUnit(
            channel=channel,
            coding=self.coding,
            keyframe=self.keyframe,
            timestamp=round_ms + self.milliseconds,
            payload=content,
            frame_interval=FRAME_MS if self.is_picture else 0,
        )


def number_message(number: int) -> bytes:
    """Write an SEI message of unregistered user data that carries the number (H.264 D.1.7)."""
    # Seven bits a byte under a set one: no zeros, so nothing can look like a start code.
    digits = bytes(0x80 | number >> 7 * place & 0x7F for place in reversed(range(_NUMBER_BYTES)))
    payload = _MARK + digits
    return b"\0\0\0\1\x06\x05" + bytes((len(payload),)) + payload + b"\x80"


def read_number_message(picture: bytes) -> int | None:
    """Find the number in a coded picture; None where there is none."""
    at = picture.find(_MARK)
    digits = picture[at + len(_MARK) : at + len(_MARK) + _NUMBER_BYTES]
    if at < 0 or len(digits) < _NUMBER_BYTES:
        return None
    number = 0
    for digit in digits:
        number = number << 7 | digit & 0x7F
    return number


def film_loop(sound: Coding = Coding.AAC) -> list[Shot]:
    """Film the loop with that sound, AAC or G.711 A-law; takes about a second."""
    film = msgspec.structs.replace(FILM, sound=sound)
    camera, drive = Camera("Bench", 1, film), Drive(ROUND_TRIPS[0], seed=1)
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    origin = round(begin.timestamp() * 1000)
    shots: list[Shot] = []
    sounds = LOOP_MS // SOUND_MS[sound]
    # The last packets of sound come a little after the last picture.
    for number in range(LOOP_FRAMES + FRAMES_PER_SECOND):
        instant = begin + timedelta(seconds=number / FRAMES_PER_SECOND)
        for unit in camera.film_moment(drive.at(30 + number / FRAMES_PER_SECOND), instant):
            if unit.coding.is_video and number < LOOP_FRAMES:
                head, slices = _cut(unit.payload)
                shots.append(Shot(unit.timestamp - origin, unit.coding, unit.keyframe, head, slices))
            elif not unit.coding.is_video and sounds:
                sounds -= 1
                shots.append(Shot(unit.timestamp - origin, unit.coding, False, b"", unit.payload))
    return sorted(shots, key=lambda shot: shot.milliseconds)


def write_loop(shots: list[Shot], path: Path) -> None:
    """Keep the loop in a file."""
    path.write_bytes(msgspec.msgpack.encode(shots))


def read_loop(path: Path) -> list[Shot]:
    """Read a loop that `write_loop` has written."""
    return msgspec.msgpack.decode(path.read_bytes(), type=list[Shot])


def write_transport_stream(shots: list[Shot], seconds: int, path: Path, *, first_number: int = 0) -> None:
    """Write so many seconds of the loop's pictures and AAC as MPEG-TS: what the ffmpeg reference reads."""
    shots = [shot for shot in shots if shot.coding in (Coding.H264, Coding.AAC)]
    with av.open(str(path), "w", format="mpegts") as container:
        streams = {
            Coding.H264: container.add_mux_stream(
                "h264", rate=FRAMES_PER_SECOND, width=FILM.width, height=FILM.height
            )
        }
        if not all(shot.is_picture for shot in shots):
            streams[Coding.AAC] = container.add_mux_stream("aac", rate=SOUND_RATE)
        number = first_number
        for turn in range(-(-seconds // LOOP_SECONDS)):
            for shot in shots:
                unit = shot.unit(1, turn * LOOP_MS, number)
                if unit.timestamp >= seconds * 1000:
                    continue
                packet = av.Packet(unit.payload)
                packet.stream = streams[shot.coding]
                packet.time_base = Fraction(1, 90_000)
                packet.pts = packet.dts = unit.timestamp * 90
                packet.is_keyframe = shot.keyframe or not shot.is_picture
                container.mux_one(packet)
                number += shot.is_picture


def write_telephone_sound(shots: list[Shot], seconds: int, path: Path) -> None:
    """Write so many seconds of the loop's G.711 as it is, for the reference that transcodes it."""
    loop = b"".join(shot.slices for shot in shots if shot.coding is Coding.G711A)
    whole, rest = divmod(seconds, LOOP_SECONDS)
    path.write_bytes(loop * whole + loop[: len(loop) * rest // LOOP_SECONDS])


def _cut(picture: bytes) -> tuple[bytes, bytes]:
    """Cut a picture before its first slice."""
    at = 0
    while (at := picture.find(b"\0\0\1", at)) >= 0:
        if picture[at + 3] & 0x1F in (1, 5):
            start = at - 1 if at and picture[at - 1] == 0 else at
            return picture[:start], picture[start:]
        at += 3
    raise ValueError("a picture without a slice")
