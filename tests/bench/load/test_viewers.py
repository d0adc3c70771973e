"""The program of many viewers: behaves as players do, and measures what each of them waits for."""

import gzip
import threading
import time

import pytest

from motorpool.bench.load.plan import Mark, ViewerLoad, ViewerResult
from motorpool.bench.load.program import LoadFailed, run_program

SLOW_SECONDS = 0.25


class Stream:
    """Three streams whose playlists get a segment of half a second every half second.

    They stand still while nobody asks: on a busy machine no viewer falls behind the playlist.
    """

    def __init__(self):
        self.seconds, self.seen = 0.0, time.monotonic()
        self.breaks = False
        self.held = 0.0
        """Seconds for which playlists are held."""
        self.broken = None
        """The segment that is not there: the first one asked for since `breaks`."""
        self.asked = []
        self.lock = threading.Lock()

    def answer(self, request):
        name = request.path.rpartition("/")[2]
        with self.lock:
            self.asked.append((request.client_address, request.path))
        if request.command == "POST":
            return 200, {"Set-Cookie": "JSESSIONID=abc; HttpOnly"}, b"{}"
        if request.headers["Cookie"] != "JSESSIONID=abc":
            return 401, {}, b""
        if name == "live.m3u8":
            with self.lock:
                before, self.seen = self.seen, time.monotonic()
                self.seconds += min(0.5, self.seen - before)
                last = int(self.seconds * 2) + 6
            entries = "".join(f"#EXTINF:0.5,\n{index}.ts\n" for index in range(last - 6, last))
            text = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n{entries}".encode()
            if "gzip" in request.headers["Accept-Encoding"]:
                time.sleep(self.held)
                headers = {"Server-Timing": f"hold;dur={1000 * self.held:.0f}"} if self.held else {}
                return 200, {"Content-Encoding": "gzip"} | headers, gzip.compress(text)
            return 200, {}, text
        with self.lock:
            if self.breaks:
                self.broken, self.breaks = name, False
        if name == self.broken:
            return 404, {}, b""
        if "/2/1/" in request.path:
            time.sleep(SLOW_SECONDS)
        return 200, {"Connection": "close"} if name == "7.ts" else {}, bytes(600_000)


def watch(serve, stream, *, breaks=False):
    with serve(stream.answer) as port:
        load = ViewerLoad(
            host="127.0.0.1",
            port=port,
            email="a@example.org",
            password="p",
            streams=((1, 1), (2, 1), (3, 1)),
            viewers=6,
            seconds=3.0,
            warm_seconds=1.0,
        )
        with run_program("viewers", load) as program:
            assert program.wait_for(Mark, 60).name == "begin"
            stream.breaks = breaks
            assert program.wait_for(Mark, 60).name == "end"
            return program.wait_for(ViewerResult, 60)


def test_the_time_for_which_the_server_holds_a_playlist_is_no_delay(serve):
    stream = Stream()
    stream.held = 1.5
    result = watch(serve, stream)
    assert 0 < result.held <= result.playlists
    assert result.playlist_p99_ms < 1500


def test_each_viewer_gets_each_segment_once_over_his_own_connection(serve):
    stream = Stream()
    result = watch(serve, stream)
    assert (result.failures, result.missed) == (0, 0)
    # Two of the six wait for the slow stream; each wants two segments a second.
    assert 6 <= result.segments <= 40
    assert result.segment_p99_ms >= 1000 * SLOW_SECONDS
    got = [(viewer, path) for viewer, path in stream.asked if path.endswith(".ts")]
    assert len(got) == len(set(got))
    paths = [path for _, path in got]
    # Segment 7 ends the connection, and yet both viewers of the first stream go on behind it.
    assert paths.count("/api/stream/1/1/8.ts") == 2
    assert result.cpu_share < 0.9


def test_an_answer_that_is_no_segment_is_a_failure_and_costs_only_itself(serve):
    for _ in range(5):
        result = watch(serve, Stream(), breaks=True)
        # Else this process was held up until the measured span was over.
        if result.failures:
            break
    assert 1 <= result.failures <= 6
    assert result.missed == result.failures
    assert result.segments >= 6


def test_a_login_that_is_refused_ends_the_program(serve):
    stream = Stream()
    stream.answer = lambda _: (401, {}, b"")
    with pytest.raises(LoadFailed, match=r"ended: .*401"):
        watch(serve, stream)
