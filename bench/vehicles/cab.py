"""What is said and heard in the cab of a simulated vehicle during a talk."""

import math
import wave
from array import array
from pathlib import Path

import msgspec

from motorpool.codecs.media.audio_parser import RATE
from motorpool.codecs.media.units import AudioCoding

_LOUD = 10_000


class Cab(msgspec.Struct, frozen=True, kw_only=True):
    """The driver, and the terminal's loudspeaker and microphone."""

    coding: AudioCoding = AudioCoding.G711A
    answer: Path | None = None
    """A WAV file that the driver says once the user pauses: 16 bit, mono, 8 kHz. None: two tones."""
    folder: Path | None = None
    """Where a WAV file of what the driver has heard is written after each talk."""

    def read_answer(self) -> bytes:
        """Return what the driver says, as samples. Raises OSError or ValueError."""
        return _two_tones() if self.answer is None else read_wav(self.answer)


def read_wav(path: Path) -> bytes:
    """Return the samples of a WAV file: 16 bit, mono, 8 kHz.

    Raises:
        OSError: it cannot be read.
        ValueError: it has another format.
    """
    try:
        with wave.open(str(path), "rb") as file:
            form = file.getsampwidth(), file.getnchannels(), file.getframerate()
            if form != (2, 1, RATE):
                raise ValueError(f"{path} must be a WAV file of 16 bit, mono, {RATE} Hz")
            return file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise ValueError(f"{path} is no WAV file: {error}") from error


def write_wav(path: Path, pcm: bytes) -> None:
    """Write samples as a WAV file. Raises OSError."""
    with wave.open(str(path), "wb") as file:
        file.setsampwidth(2)
        file.setnchannels(1)
        file.setframerate(RATE)
        file.writeframes(pcm)


def _two_tones() -> bytes:
    """Return 0.3 s of a tone and 0.3 s of a higher one, without clicks at their ends."""
    samples = array("h")
    for hertz in (660, 880):
        length = RATE * 3 // 10
        for number in range(length):
            swell = min(1.0, number / 200, (length - number) / 200)
            samples.append(round(swell * _LOUD * math.sin(math.tau * hertz * number / RATE)))
    return samples.tobytes()
