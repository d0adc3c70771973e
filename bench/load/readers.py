"""One reader on every live stream: fetches each segment, and afterwards checks each picture and sound.

`python -m motorpool.bench.load.readers` reads a ReaderLoad from standard input, and any further line as the
order to look a last time and stop; it writes a Mark when it begins, and a ReaderResult.
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
from motorpool.bench.load.plan import Mark, ReaderLoad, ReaderResult
from motorpool.bench.load.telling import percentile_ms, tell
from motorpool.bench.viewer import listed_segments

THREADS = 16
LOOK_SECONDS = 6.0
"""Between two looks at a playlist: half of its window. To get each segment, no more is needed."""
TIMEOUT_SECONDS = 20.0


class StreamReader:
    """Reads one stream's playlist and keeps what it names."""

    def __init__(self, path: str, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._latest = -1
        self.segments = 0
        self.missed = 0
        self.durations: dict[int, float] = {}
        self.waits: list[float] = []
        """Seconds that each look at the playlist took."""

    def read(
        self, connection: http.client.HTTPConnection, headers: dict[str, str], *, in_turn: bool = True
    ) -> None:
        """Fetch the segments that are new; what is not `in_turn` does not count for the times."""
        begun = time.perf_counter()
        playlist = _get(connection, f"{self._path}/live.m3u8", headers).decode()
        if in_turn:
            self.waits.append(time.perf_counter() - begun)
        for index, duration in listed_segments(playlist):
            if index <= self._latest:
                continue
            if self._latest >= 0:
                self.missed += index - self._latest - 1
            self._latest = index
            content = _get(connection, f"{self._path}/{index}.ts", headers)
            if content:
                (self._folder / f"{index}.ts").write_bytes(content)
                self.durations[index] = duration
                self.segments += 1
            else:
                self.missed += 1


def _get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> bytes:
    """Fetch one body; empty where the server has none."""
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
    except (http.client.HTTPException, OSError):
        # A kept connection that the server has closed: the next request opens another.
        connection.close()
        return b""
    return content if answer.status == 200 else b""


def read_all(load: ReaderLoad, readers: list[StreamReader], stop: threading.Event) -> None:
    """Read these streams in turn, each once in LOOK_SECONDS, and once more at the end."""
    address = urlsplit(load.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_SECONDS)
    secret = base64.b64encode(f"{load.email}:{load.password}".encode()).decode()
    headers = {"Authorization": f"Basic {secret}"}
    while not stop.is_set():
        round_begun = time.monotonic()
        for place, reader in enumerate(readers):
            reader.read(connection, headers)
            ahead = round_begun + (place + 1) * LOOK_SECONDS / len(readers) - time.monotonic()
            if stop.wait(max(0.0, ahead)):
                break
    for reader in readers:
        reader.read(connection, headers, in_turn=False)
    connection.close()


def main() -> None:
    """Read until told to stop, then check."""
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
    tell(Mark("ready"))
    sys.stdin.readline()
    cpu_share = (time.process_time() - cpu) / (time.perf_counter() - begun)
    stop.set()
    for thread in threads:
        thread.join()
    findings = Findings()
    with ProcessPoolExecutor() as pool:
        check = partial(check_stream, Path(load.film))
        for found in pool.map(check, [f for _, f in readers], [r.durations for r, _ in readers]):
            findings.add(found)
    waits = sorted(wait for reader, _ in readers for wait in reader.waits)
    tell(
        ReaderResult(
            segments=sum(reader.segments for reader, _ in readers),
            findings=findings,
            missed=sum(reader.missed for reader, _ in readers),
            unread=sum(not reader.segments for reader, _ in readers),
            p50_ms=percentile_ms(waits, 0.5),
            p99_ms=percentile_ms(waits, 0.99),
            cpu_share=cpu_share,
        )
    )


if __name__ == "__main__":
    main()
