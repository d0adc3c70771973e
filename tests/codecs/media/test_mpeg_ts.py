"""Transport streams packet by packet, and what FFmpeg reads from them beside what it writes itself."""

import io
from fractions import Fraction
from itertools import pairwise

import av
import fastcrc
import pytest

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.mpeg_ts import write_mpeg_ts
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AudioCoding
from motorpool.codecs.media.video_codec import VideoCodec

START = 900_000
TABLES, VIDEO, AUDIO = (0, 0x1000), 0x100, 0x101


def fragment_of(
    pictures: tuple[TimedPicture, ...] = (),
    audio: tuple[AudioFrame, ...] = (),
    coding: VideoCodec | None = H264,
    **options: bool,
) -> MediaFragment:
    coding = coding if pictures else None
    return MediaFragment(START, START + 180_000, coding, pictures, audio, False, True, 0.0, **options)


class Packets:
    """The PES packets of each stream of a file, and the fields of their first packets."""

    def __init__(self, data: bytes) -> None:
        self.payloads: dict[int, list[bytes]] = {}
        self.flags: dict[int, list[int]] = {}
        self.clocks: dict[int, list[int]] = {}
        self.counters: dict[int, list[int]] = {}
        self.order: list[int] = []
        for start in range(0, len(data), 188):
            packet = data[start : start + 188]
            assert (packet[0], len(packet)) == (0x47, 188)
            pid = int.from_bytes(packet[1:3]) & 0x1FFF
            self.counters.setdefault(pid, []).append(packet[3] & 15)
            body = packet[4:]
            flags = clock = None
            if packet[3] & 0x20:
                size = body[0]
                assert size <= 182, "a packet without payload"
                field, body = body[1 : 1 + size], body[1 + size :]
                if field:
                    flags = field[0]
                    used = 1
                    if flags & 0x10:
                        clock, used = int.from_bytes(field[1:6]) >> 7, 7
                    assert field[used:] == b"\xff" * (len(field) - used)
            assert packet[3] & 0x10
            assert body
            if packet[1] & 0x40:
                self.order.append(pid)
                self.payloads.setdefault(pid, []).append(b"")
                self.flags.setdefault(pid, []).append(flags or 0)
                self.clocks.setdefault(pid, []).append(-1 if clock is None else clock)
            self.payloads[pid][-1] += body

    def contents(self, pid: int) -> list[tuple[int, bytes]]:
        """Time and payload of each PES packet."""
        found = []
        for pes in self.payloads[pid]:
            assert pes[:3] == b"\0\0\1"
            assert pes[6:9] == b"\x80\x80\5"
            length = int.from_bytes(pes[4:6])
            assert length in (0, len(pes) - 6)
            stamp = pes[9:14]
            assert (stamp[0] & 0xF1, stamp[2] & 1, stamp[4] & 1) == (0x21, 1, 1)
            time = (
                (stamp[0] >> 1 & 7) << 30
                | stamp[1] << 22
                | stamp[2] >> 1 << 15
                | stamp[3] << 7
                | stamp[4] >> 1
            )
            found.append((time, pes[14:]))
        return found


@pytest.mark.parametrize("coding", [H264, H265])
def test_pictures_of_every_size_come_back_behind_a_delimiter(coding: VideoCodec) -> None:
    sizes = (*range(5, 600), 128 * 184 + 155, 128 * 184 + 156, 257 * 184, 1 << 20)
    payloads = [b"\0\0\0\1\x02" + bytes(size % 251 + 1 for _ in range(size - 5)) for size in sizes]
    pictures = tuple(
        TimedPicture(START + 3600 * number, payload, number % 25 == 0)
        for number, payload in enumerate(payloads)
    )
    packets = Packets(write_mpeg_ts(fragment_of(pictures, coding=coding)))
    expected = [(picture.pts, coding.delimiter + picture.payload) for picture in pictures]
    assert packets.contents(VIDEO) == expected
    assert all((after - before) % 16 == 1 for before, after in pairwise(packets.counters[VIDEO]))
    assert packets.clocks[VIDEO] == [picture.pts - 63_000 for picture in pictures]
    assert [bool(flags & 0x40) for flags in packets.flags[VIDEO]] == [
        picture.keyframe for picture in pictures
    ]
    assert [bool(flags & 0x80) for flags in packets.flags[VIDEO]] == [True] + [False] * (len(sizes) - 1)


def test_a_picture_that_has_a_delimiter_gets_no_other() -> None:
    payloads = (b"\0\0\0\1\x09\x10\0\0\0\1\x41abc", b"\0\0\1\x09\x10\0\0\1\x41abc", b"\0\0\1\x41abc")
    pictures = tuple(TimedPicture(START + n, payload, False) for n, payload in enumerate(payloads))
    found = [content for _, content in Packets(write_mpeg_ts(fragment_of(pictures))).contents(VIDEO)]
    assert found == [payloads[0], payloads[1], H264.delimiter + payloads[2]]


@pytest.mark.parametrize("coding", [H264, H265])
def test_a_picture_without_a_start_code_is_rejected(coding: VideoCodec) -> None:
    with pytest.raises(CodecError, match="NAL unit"):
        write_mpeg_ts(fragment_of((TimedPicture(START, b"\0\0\2picture", True),), coding=coding))


def test_audio_of_every_size_lies_between_the_pictures_of_its_time() -> None:
    sizes = (*range(1, 400), 8191, 70_000)
    audio = tuple(
        AudioFrame(START + 900 * number, AudioCoding.AAC, bytes([number % 256]) * size, 1024)
        for number, size in enumerate(sizes)
    )
    pictures = tuple(TimedPicture(START + 3600 * number, b"\0\0\0\1\x41", False) for number in range(50))
    packets = Packets(write_mpeg_ts(fragment_of(pictures, audio)))
    assert packets.contents(AUDIO) == [(frame.pts, frame.payload) for frame in audio]
    assert int.from_bytes(packets.payloads[AUDIO][0][4:6]) == 1 + 8
    assert int.from_bytes(packets.payloads[AUDIO][-1][4:6]) == 0  # it does not fit
    assert all((after - before) % 16 == 1 for before, after in pairwise(packets.counters[AUDIO]))
    assert packets.flags[AUDIO][0] & 0x80
    first_pictures = [at for at, pid in enumerate(packets.order) if pid == VIDEO][:3]
    assert [later - before for before, later in pairwise(first_pictures)] == [5, 5]


def test_times_and_clock_wrap_at_33_bits() -> None:
    pictures = tuple(TimedPicture((1 << 33) + offset, b"\0\0\0\1\x41", False) for offset in (-1, 0, 63_001))
    packets = Packets(write_mpeg_ts(fragment_of(pictures)))
    assert [time for time, _ in packets.contents(VIDEO)] == [(1 << 33) - 1, 0, 63_001]
    assert packets.clocks[VIDEO] == [(1 << 33) - 63_001, (1 << 33) - 63_000, 1]


@pytest.mark.parametrize(
    ("coding", "has_audio", "streams", "clock_pid"),
    [
        (H264, False, "1be100f000", VIDEO),
        (H264, True, "1be100f0000fe101f000", VIDEO),
        (H265, True, "24e100f0060504484556430fe101f000", VIDEO),
        (None, True, "0fe101f000", AUDIO),
    ],
)
def test_tables_name_the_streams_and_the_clock(
    coding: VideoCodec | None, has_audio: bool, streams: str, clock_pid: int
) -> None:
    pictures = () if coding is None else (TimedPicture(START, b"\0\0\0\1\x41", False),)
    audio = () if coding else (AudioFrame(START, AudioCoding.AAC, b"audio", 1024),)
    # A part between two units of audio has the track all the same.
    file = write_mpeg_ts(fragment_of(pictures, audio, coding or H264, has_audio=has_audio))
    packets = Packets(file)
    assert packets.order[:2] == list(TABLES)
    association, program = (packets.payloads[pid][0] for pid in TABLES)
    for table in (association, program):
        section = table[1 : 1 + 3 + (int.from_bytes(table[2:4]) & 0xFFF)]
        assert fastcrc.crc32.mpeg_2(section) == 0  # with its own checksum
        assert set(table[1 + len(section) :]) == {0xFF}
    assert association[9:13] == bytes.fromhex("0001f000")
    assert int.from_bytes(program[9:11]) & 0x1FFF == clock_pid
    size = int.from_bytes(program[2:4]) & 0xFFF
    assert program[13 : 4 + size - 4].hex() == streams


def test_a_fragment_without_units_is_no_file() -> None:
    assert write_mpeg_ts(fragment_of(has_audio=True)) == b""


@pytest.mark.parametrize("coding", [H264, H265])
def test_ffmpeg_reads_the_same_as_from_its_own_file(coding: VideoCodec, film, sound, camera) -> None:
    segmenter = Segmenter(1.0)
    for unit in camera(film(coding, 50, 25), sound("aac", 2), coding=coding):
        segmenter.push(unit, unit.timestamp / 1000)
    fragment = segmenter.flush()
    assert fragment is not None
    assert fragment.pictures
    assert fragment.audio_frames
    assert read_back(write_mpeg_ts(fragment)) == read_back(written_by_ffmpeg(fragment))


def written_by_ffmpeg(fragment: MediaFragment) -> bytes:
    file, tick = io.BytesIO(), Fraction(1, 90_000)
    assert fragment.coding is not None
    with av.open(file, "w", format="mpegts", options={"mpegts_copyts": "1"}) as output:
        video = output.add_mux_stream(fragment.coding.ffmpeg_name)
        audio = output.add_mux_stream("aac", rate=8000)
        frames = [(each.pts, video, each.payload) for each in fragment.pictures]
        frames += [(each.pts, audio, each.payload) for each in fragment.audio_frames]
        for pts, stream, payload in sorted(frames, key=lambda frame: frame[0]):
            packet = av.Packet(payload)
            packet.stream, packet.time_base = stream, tick
            packet.pts = packet.dts = pts
            output.mux(packet)
    return file.getvalue()


def read_back(data: bytes) -> list[list[tuple[int | None, bool, bytes]]]:
    with av.open(io.BytesIO(data), format="mpegts") as container:
        packets = [packet for packet in container.demux() if packet.size]
        kinds = [[each for each in packets if each.stream.type == kind] for kind in ("video", "audio")]
        return [[(each.pts, each.is_keyframe, bytes(each)) for each in of_kind] for of_kind in kinds]
