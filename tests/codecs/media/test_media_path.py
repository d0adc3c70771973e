"""From packets to what a player sees: the whole way, with films made by PyAV."""

import random
from collections.abc import Callable
from itertools import pairwise

import m3u8
import pytest
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.muxer import Segment, mux
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

Film = Callable[..., tuple[bytes, ...]]
SIM = "13912345678"


class Server:
    """Receives one channel as the stream actor does."""

    def __init__(self, channel: int = 1) -> None:
        self.channel = channel
        self.codec = Jt1078Parser()
        self.segmenter = Segmenter(1.0)
        self.transcoder = FragmentTranscoder()
        self.segments: list[Segment] = []
        self.now = 50.0

    def connected(self) -> None:
        self.codec = Jt1078Parser()
        fragment = self.segmenter.discontinuity()
        if fragment is not None:
            self.segments.append(mux(self.transcoder.transcode(fragment)))

    def receive(self, data: bytes) -> None:
        for unit in self.codec.receive(data):
            assert isinstance(unit, AccessUnit)
            self.now += 0.04 if unit.is_video else 0.0
            if unit.channel == self.channel:
                fragment = self.segmenter.push(unit, self.now)
                if fragment is not None:
                    self.segments.append(mux(self.transcoder.transcode(fragment)))

    def end(self) -> list[Segment]:
        fragment = self.segmenter.flush()
        if fragment is not None:
            self.segments.append(mux(self.transcoder.transcode(fragment)))
        return self.segments


def pieces(wire: bytes, chance: random.Random) -> list[bytes]:
    fragments = sorted(chance.sample(range(len(wire)), k=min(200, len(wire) // 50)))
    return [wire[start:stop] for start, stop in zip([0, *fragments], [*fragments, len(wire)], strict=True)]


@pytest.mark.parametrize("coding", [H264, H265])
@pytest.mark.parametrize("width", [6, 10])
def test_every_picture_and_every_sample_arrives_at_the_player(
    coding: Coding, width: int, film: Film, sound: Film, camera, play
) -> None:
    units = camera(film(coding, 100, 25), sound("aac", 4), coding=coding)
    sender = Jt1078Sender(SIM, sim_bytes=width)
    server = Server()
    for piece in pieces(b"".join(map(sender.encode, units)), random.Random(width)):
        server.receive(piece)
    segments = server.end()
    played = play(b"".join(segment.data for segment in segments))
    assert played.numbers == list(range(100))
    assert played.samples == 1024 * len(sound("aac", 4))
    playlist = LivePlaylist(window=10, target_seconds=1.0)
    for segment in segments:
        playlist.append(segment)
    listed = m3u8.loads(playlist.render()).segments
    span = played.picture_times[-1] + 3600 - played.picture_times[0]
    assert sum(entry.duration for entry in listed) * 90_000 == pytest.approx(span, abs=1)


def test_sound_between_the_parts_of_pictures_harms_neither(film: Film, sound: Film, camera, play) -> None:
    sender = Jt1078Sender(SIM, body_bytes=200)
    pictures = [sender.encode(unit) for unit in camera(film(H264, 50, 25))]
    sounds = [sender.encode(unit) for unit in camera(sounds=sound("aac", 2))]
    server = Server()
    for number, wire in enumerate(pictures):
        parts = [b"01cd" + part for part in wire.split(b"01cd")[1:]]
        server.receive(parts[0])
        if number % 3 == 0 and sounds:
            server.receive(sounds.pop(0))
        server.receive(b"".join(parts[1:]))
    sent = len(sound("aac", 2)) - len(sounds)
    played = play(b"".join(segment.data for segment in server.end()))
    assert played.numbers == list(range(50))
    assert played.samples == 1024 * sent


def test_channels_on_one_connection_become_streams_of_their_own(film: Film, camera, play) -> None:
    sender = Jt1078Sender(SIM)
    first = camera(film(H264, 50, 25), channel=1)
    second = camera(film(H264, 75, 25), channel=2)
    one, other = Server(1), Server(2)
    for pair in zip(first, second, strict=False):
        for unit in pair:
            wire = sender.encode(unit)
            one.receive(wire)
            other.receive(wire)
    for unit in second[50:]:
        other.receive(sender.encode(unit))
    assert play(b"".join(segment.data for segment in one.end())).numbers == list(range(50))
    assert play(b"".join(segment.data for segment in other.end())).numbers == list(range(75))


def test_a_camera_that_comes_back_goes_on_in_the_same_playlist(film: Film, camera, play) -> None:
    pictures = film(H264, 100, 25)
    server = Server()
    sender = Jt1078Sender(SIM)
    for unit in camera(pictures)[:60]:
        server.receive(sender.encode(unit))
    server.connected()
    sender = Jt1078Sender(SIM)
    for unit in camera(pictures, start=5)[60:]:  # in the middle of a group of pictures, with another clock
        server.receive(sender.encode(unit))
    segments = server.end()
    assert [segment.discontinuity for segment in segments] == [False, False, False, True]
    assert play(b"".join(segment.data for segment in segments)).numbers == [*range(60), *range(75, 100)]
    assert all(before.end == after.start for before, after in pairwise(segments))


def test_lost_packets_cost_their_pictures_and_nothing_else(film: Film, camera, play) -> None:
    sender = Jt1078Sender(SIM, body_bytes=100)
    server = Server()
    lost = {30, 41}
    for number, unit in enumerate(camera(film(H264, 100, 25))):
        parts = [b"01cd" + part for part in sender.encode(unit).split(b"01cd")[1:]]
        if number in lost and len(parts) > 2:
            del parts[1]
        elif number in lost:
            parts = []
        server.receive(b"".join(parts))
    segments = server.end()
    assert sum(segment.pictures for segment in segments) == 98
    assert sum(segment.duration for segment in segments) == pytest.approx(4.0)
    assert not any(segment.discontinuity for segment in segments)


def test_telephone_sound_arrives_beside_its_pictures(film: Film, sound: Film, camera, play) -> None:
    units = camera(film(H264, 100, 25), sound("pcm_alaw", 4), sound_coding=AudioCoding.G711A, sound_ms=40)
    sender = Jt1078Sender(SIM)
    server = Server()
    server.receive(b"".join(map(sender.encode, units)))
    played = play(b"".join(segment.data for segment in server.end()))
    assert played.numbers == list(range(100))
    assert abs(played.sound_times[1] - played.picture_times[0]) < 9000
    assert abs(played.sound_times[-1] - played.picture_times[-1]) < 2 * 11_520
