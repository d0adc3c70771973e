"""One reader for each live stream: fetches every segment, and checks every picture and sound afterwards.

`python -m motorpool.bench.load.readers` reads a ReaderLoad from standard input, and any further line as the
request to poll a last time and stop; it writes a Mark when it begins, and a ReaderResult.
"""

import base64
import http.client
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from motorpool.bench.checks.media_integrity import Findings
from motorpool.bench.checks.segments import check_stream
from motorpool.bench.load.http_answers import held_seconds
from motorpool.bench.load.output import percentile_ms, write_message
from motorpool.bench.load.plan import Mark, ReaderLoad, ReaderResult
from motorpool.bench.viewer import listed_segments

THREADS = 16
POLL_SECONDS = 6.0
"""Between two polls of a playlist: half of its window, enough to get every segment."""
BEGIN_SEGMENTS = 3
"""A reader begins so many segments before the end of the playlist, as players do (RFC 8216, 6.3.3): all
segments of the window would be twice the load of the polls after it, and make the next poll late."""
TIMEOUT_SECONDS = 20.0


class StreamReader:
    """Polls one stream's playlist and stores its segments."""

    def __init__(self, path: str, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._latest = -1
        self.segments = 0
        self.missed = 0
        self.durations: dict[int, float] = {}
        self.waits: list[float] = []
        """Seconds that each poll of the playlist took."""

    def read(
        self, connection: http.client.HTTPConnection, headers: dict[str, str], *, in_turn: bool = True
    ) -> None:
        """Fetch new segments; a poll that is not `in_turn` is not timed."""
        begun = time.perf_counter()
        playlist, held = _get(connection, f"{self._path}/live.m3u8", headers)
        if in_turn:
            self.waits.append(max(0.0, time.perf_counter() - begun - held))
        listed = listed_segments(playlist.decode())
        for index, duration in listed if self._latest >= 0 else listed[-BEGIN_SEGMENTS:]:
            if index <= self._latest:
                continue
            if self._latest >= 0:
                self.missed += index - self._latest - 1
            self._latest = index
            content, _ = _get(connection, f"{self._path}/{index}.ts", headers)
            if content:
                (self._folder / f"{index}.ts").write_bytes(content)
                self.durations[index] = duration
                self.segments += 1
            else:
                self.missed += 1


def _get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> tuple[bytes, float]:
    """Fetch one body, empty if the request fails; and the seconds for which the server held the answer."""
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
    except (http.client.HTTPException, OSError):
        # A kept connection that the server has closed: the next request opens another.
        connection.close()
        return b"", 0.0
    return content if answer.status == 200 else b"", held_seconds(answer.headers["Server-Timing"] or "")


def read_all(load: ReaderLoad, readers: list[StreamReader], stop: threading.Event) -> None:
    """Poll these streams in turn, each once in POLL_SECONDS, and once more at the end."""
    address = urlsplit(load.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_SECONDS)
    secret = base64.b64encode(f"{load.email}:{load.password}".encode()).decode()
    headers = {"Authorization": f"Basic {secret}"}
    while not stop.is_set():
        round_begun = time.monotonic()
        for place, reader in enumerate(readers):
            reader.read(connection, headers)
            ahead = round_begun + (place + 1) * POLL_SECONDS / len(readers) - time.monotonic()
            if stop.wait(max(0.0, ahead)):
                break
    for reader in readers:
        reader.read(connection, headers, in_turn=False)
    connection.close()


def main() -> None:
    """Read until the request to stop, then check."""
    load = msgspec.json.decode(sys.stdin.readline(), type=ReaderLoad)
    readers = []
    for device, channel in load.streams:
        folder = Path(load.folder) / f"{device}-{channel}"
        folder.mkdir(parents=True)
        readers.append((StreamReader(f"/api/stream/{device}/{channel}", folder), folder))
    stop = threading.Event()
    shares = [[reader for reader, _ in readers[start::THREADS]] for start in range(THREADS)]
    threads = [threading.Thread(target=read_all, args=(load, share, stop)) for share in shares if share]
    begun, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    write_message(Mark("ready"))
    sys.stdin.readline()
    cpu_share = (time.process_time() - cpu) / (time.perf_counter() - begun)
    stop.set()
    for thread in threads:
        thread.join()
    findings = Findings()
    with ProcessPoolExecutor() as pool:
        check = partial(check_stream, Path(load.loop_file))
        for found in pool.map(check, [f for _, f in readers], [r.durations for r, _ in readers]):
            findings.add(found)
    waits = sorted(wait for reader, _ in readers for wait in reader.waits)
    write_message(
        ReaderResult(
            segments=sum(reader.segments for reader, _ in readers),
            findings=findings,
            missed=sum(reader.missed for reader, _ in readers),
            never_read=sum(not reader.segments for reader, _ in readers),
            p50_ms=percentile_ms(waits, 0.5),
            p99_ms=percentile_ms(waits, 0.99),
            cpu_share=cpu_share,
        )
    )


if __name__ == "__main__":
    main()
