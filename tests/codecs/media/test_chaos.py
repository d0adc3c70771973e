"""A real stream, damaged in every way we could think of: what a player is told and given stays in order.

The damages are those of docs/protocols/jt1078.md#joining-packets; time is virtual.
"""

import io
import random
from collections import Counter
from itertools import pairwise

import av
import m3u8
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.muxer import mux
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

SIM = "13912345678"
SECONDS = 10
FPS = 25
LINK_DAMAGES = ("lost", "repeated", "swapped", "sent again", "reconnected")
"""After these each picture that comes through is one that was sent, once and in order."""
ALL_DAMAGES = (
    *LINK_DAMAGES,
    *(
        "cut off",
        "junk",
        "flipped",
        "torn",
        "clock jumps",
        "clock stands",
        "other sets",
        "other coding",
        "paused",
    ),
)


class Viewer:
    """Reads the playlist after each segment, fetches what is new, and checks all that a player relies on."""

    def __init__(self, playlist: LivePlaylist) -> None:
        self.playlist = playlist
        self.listed: dict[int, tuple[float, bool]] = {}
        """Length and discontinuity by index."""
        self.left_discontinuities = 0
        self.sequence = self.target = 0
        self.before: tuple[int, int, dict[str, int]] | None = None
        """Of the last segment fetched: its index, where its pictures begin, its last time by track."""
        self.pictures = 0

    def look(self) -> None:
        text = self.playlist.render()
        told = m3u8.loads(text)
        assert told.media_sequence >= self.sequence
        gone = range(self.sequence, told.media_sequence)
        self.left_discontinuities += sum(self.listed[index][1] for index in gone)
        self.sequence = told.media_sequence
        assert (told.discontinuity_sequence or 0) == self.left_discontinuities
        assert told.target_duration >= self.target
        self.target = told.target_duration
        whole = [entry for entry in told.segments if entry.uri]  # the others are parts of what is to come
        for index, entry in enumerate(whole, told.media_sequence):
            assert entry.uri == f"{index}.ts"
            assert entry.duration > 0
            assert int(entry.duration + 0.5) <= told.target_duration
            known = self.listed.setdefault(index, (entry.duration, bool(entry.discontinuity)))
            assert known == (entry.duration, bool(entry.discontinuity))
            if self.before is None or index > self.before[0]:
                self._fetch(index, entry.duration, discontinuity=known[1])

    def _fetch(self, index: int, seconds: float, *, discontinuity: bool) -> None:
        data = self.playlist.get(index)
        assert data is not None
        times: dict[str, list[int]] = {"video": [], "audio": []}
        with av.open(io.BytesIO(data), format="mpegts") as container:
            for packet in container.demux():
                if packet.pts is not None:
                    times[packet.stream.type].append(packet.pts)
        assert times["video"] or times["audio"]
        for track in times.values():
            assert all(one < other for one, other in pairwise(track))
        if times["video"]:
            self.pictures += len(times["video"])
            assert times["video"][-1] - times["video"][0] < seconds * 90_000 + 1
        if self.before is not None:
            last_index, began, lasts = self.before
            assert index == last_index + 1
            if times["video"] and began >= 0:
                # EXTINF is the way from this segment's first picture to the next one's.
                span = (times["video"][0] - began) / 90_000
                assert abs(span - self.listed[last_index][0]) < 0.001
            for name, track in times.items():
                if track and name in lasts and not discontinuity:
                    assert track[0] > lasts[name]
        began = times["video"][0] if times["video"] else -1
        self.before = index, began, {name: track[-1] for name, track in times.items() if track}


class Server:
    """What a live stream is, without its actor."""

    def __init__(self, part_seconds: float = 0.0) -> None:
        self.codec = Jt1078Parser()
        self.segmenter = Segmenter(1.0, part_seconds=part_seconds)
        self.transcoder = FragmentTranscoder()
        self.playlist = LivePlaylist(window=4, target_seconds=1.0, part_seconds=part_seconds)
        self.viewer = Viewer(self.playlist)
        self.payloads: list[bytes] = []
        self.has_gap = False

    def receive(self, data: bytes, now: float) -> None:
        try:
            found = self.codec.receive(data)
        except CodecError:
            self.reconnect()
            return
        for unit in found:
            if isinstance(unit, AccessUnit):
                self._append(self.segmenter.push(unit, now))

    def reconnect(self) -> None:
        self.codec = Jt1078Parser()
        self._append(self.segmenter.discontinuity())

    def end(self) -> None:
        self._append(self.segmenter.flush())

    def _append(self, fragment) -> None:
        if fragment is None:
            return
        self.payloads += [picture.payload for picture in fragment.pictures]
        try:
            segment = mux(self.transcoder.transcode(fragment))
        except CodecError:
            self.has_gap = True
            return
        self.playlist.append(
            msgspec.structs.replace(segment, discontinuity=segment.discontinuity or self.has_gap)
        )
        self.has_gap = False
        self.viewer.look()


class Road:
    """The units of a camera on their way: encoded, damaged and sent at their times."""

    def __init__(self, film, sound, damages, seed: int, sound_coding: Coding) -> None:
        self.chance = random.Random(seed)
        self.damages = damages
        self.films = {
            "first": (H264, film(H264, SECONDS * FPS, FPS)),
            "other sets": (H264, film(H264, SECONDS * FPS, FPS, (320, 96))),
            "other coding": (H265, film(H265, SECONDS * FPS, FPS)),
        }
        self.audio_frames = sound("aac" if sound_coding is AudioCoding.AAC else "pcm_alaw", SECONDS)
        self.sound_coding = sound_coding
        self.sent: list[bytes] = []

    def events(self):
        """`(seconds, packet or None for a new connection)`, in order."""
        sender = Jt1078Sender(SIM, body_bytes=100)
        shift, stands, late, which = 0, False, 0.0, "first"
        sound_ms = 128 if self.sound_coding is AudioCoding.AAC else 40
        moments = [(1000 * number // FPS, True, number) for number in range(SECONDS * FPS)]
        moments += [(sound_ms * number, False, number) for number in range(len(self.audio_frames))]
        slots = [list(slot) for slot in self.damages]
        for ms, is_video, number in sorted(moments):
            struck = None
            if slots and ms >= 1000 * slots[0][0] and is_video:
                struck = slots.pop(0)[1]
            if struck == "clock jumps":
                shift += self.chance.choice([-5_000_000, -3_000, 2_500, 86_400_000])
            elif struck == "clock stands":
                stands = not stands
            elif struck in self.films:
                which = struck
            elif struck == "paused":
                late += self.chance.choice([3.0, 20.0])
            stamp = 5_000_000 if stands else 10_000_000 + ms + shift
            if is_video:
                coding, pictures = self.films[which]
                # Each says which it is, in a NAL unit that players skip.
                label = (b"\0\0\0\1\x1e%05d" if coding is H264 else b"\0\0\0\1\x7c\1%05d") % number
                payload = pictures[number] + label
                unit = AccessUnit(1, coding, number % FPS == 0, stamp, payload, 1000 // FPS)
                self.sent.append(unit.payload)
            else:
                unit = AccessUnit(1, self.sound_coding, False, stamp, self.audio_frames[number])
            packets = [b"01cd" + body for body in sender.encode(unit).split(b"01cd")[1:]]
            if struck == "reconnected":
                sender = Jt1078Sender(SIM, body_bytes=100)
            for packet in self._damaged(packets, struck):
                yield ms / 1000 + late, packet

    def _damaged(self, packets, struck):
        chance = self.chance
        at = chance.randrange(len(packets))
        match struck:
            case "lost":
                del packets[at : at + chance.choice([1, 1, 2, 50])]
            case "repeated":
                packets[at:at] = [packets[at]]
            case "sent again":
                packets += packets
            case "swapped" if len(packets) > 1:
                at = chance.randrange(len(packets) - 1)
                packets[at : at + 2] = packets[at + 1], packets[at]
            case "reconnected":
                packets = [*packets[:at], packets[at][: chance.randrange(len(packets[at]))], None]
            case "cut off":
                packets[at] = packets[at][: chance.randrange(len(packets[at]))]
            case "junk":
                packets.insert(
                    at, chance.choice([b"01cd", b""]) + chance.randbytes(chance.choice([5, 40, 700]))
                )
            case "flipped":
                place = chance.randrange(len(packets[at]))
                flipped = packets[at][place] ^ 1 << chance.randrange(8)
                packets[at] = packets[at][:place] + bytes([flipped]) + packets[at][place + 1 :]
            case "torn":
                packets[at : at + 1] = [packets[at][byte : byte + 1] for byte in range(len(packets[at]))]
        return packets


def damages_of(kinds):
    """One in each second but the first: a device must be seen to count before its count is believed."""
    return st.lists(st.sampled_from(kinds), min_size=1, max_size=SECONDS - 1).map(
        lambda struck: [(1.1 + number, kind) for number, kind in enumerate(struck)]
    )


def drive(road: Road, part_seconds: float = 0.0) -> Server:
    server = Server(part_seconds)
    for now, packet in road.events():
        if packet is None:
            server.reconnect()
        else:
            server.receive(packet, 50.0 + now)
    server.end()
    return server


# The length of the packet that is cut off is read from the next one, and says 12 KB.
@example([(1.1, "cut off")], 1677, AudioCoding.AAC, 0.0)
@settings(max_examples=25, deadline=None)
@given(
    damages_of(ALL_DAMAGES),
    st.integers(0, 2**32),
    st.sampled_from([AudioCoding.AAC, AudioCoding.G711A]),
    st.sampled_from([0.0, 0.3]),
)
def test_no_damage_of_the_stream_breaks_the_playlist(
    film, sound, damages, seed: int, sound_coding: Coding, part_seconds: float
) -> None:
    server = drive(Road(film, sound, damages, seed, sound_coding), part_seconds)
    # Each damage costs its own second at most: up to the next key frame.
    assert server.viewer.pictures >= FPS * (SECONDS - 2 * len(damages) - 1)


@settings(max_examples=25, deadline=None)
@given(damages_of(LINK_DAMAGES), st.integers(0, 2**32))
def test_no_link_doubles_mixes_or_turns_round_pictures(film, sound, damages, seed: int) -> None:
    road = Road(film, sound, damages, seed, AudioCoding.AAC)
    server = drive(road)
    numbers = {payload: number for number, payload in enumerate(road.sent)}
    order = [numbers[payload] for payload in server.payloads]
    assert all(one < other for one, other in pairwise(order))
    kinds = Counter(kind for _, kind in damages)
    # Packets that come twice cost nothing, one that is lost its picture, a new connection a second.
    assert len(order) >= SECONDS * FPS - 3 * (kinds["lost"] + kinds["swapped"]) - FPS * kinds["reconnected"]


@pytest.mark.parametrize("kind", ALL_DAMAGES)
def test_each_damage_alone_is_survived(film, sound, kind: str) -> None:
    for seed in range(3):
        server = drive(Road(film, sound, [(3.1, kind)], seed, AudioCoding.AAC))
        assert server.viewer.pictures >= FPS * (SECONDS - 2)
