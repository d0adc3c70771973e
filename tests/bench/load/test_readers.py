"""The reader program against a playlist that moves on."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from motorpool.bench import footage
from motorpool.bench.load.plan import Mark, ReaderLoad, ReaderResult
from motorpool.bench.load.program import run_program


def test_a_reader_fetches_each_segment_once_and_checks_its_pictures(tmp_path: Path) -> None:
    loop = footage.film_loop()
    segments = []
    for second in range(4):
        shots = [
            shot
            for shot in loop
            if second * 1000 <= shot.milliseconds < second * 1000 + 1000 and shot.is_picture
        ]
        footage.write_transport_stream(shots, 8, tmp_path / "segment.ts", first_number=25 * second)
        segments.append((tmp_path / "segment.ts").read_bytes())
    asked: list[str] = []
    complete = threading.Event()

    class Stream(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            name = self.path.rpartition("/")[2]
            if name == "live.m3u8":
                # Two segments more with every look.
                looks = asked.count(self.path)
                shown = range(max(0, 2 * looks - 3), min(4, 2 * looks))
                body = "#EXTM3U\n" + "".join(f"#EXTINF:1.0,\n{index}.ts\n" for index in shown)
                content = body.encode()
            else:
                content = segments[int(name[:-3])]
                if name == "3.ts":
                    complete.set()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Stream)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    load = ReaderLoad(
        url=f"http://127.0.0.1:{server.server_port}",
        email="a@example.org",
        password="p",
        streams=((7, 1),),
        folder=str(tmp_path / "kept"),
    )
    with run_program("readers", load) as program:
        assert program.hear(Mark, 60).name == "ready"
        assert complete.wait(20)
        program.stop()
        result = program.hear(ReaderResult, 60)
    server.shutdown()
    server.server_close()
    thread.join()
    assert [path for path in asked if path.endswith(".ts")] == [
        f"/api/stream/7/1/{index}.ts" for index in range(4)
    ]
    assert (result.segments, result.frames, result.holes, result.broken, result.missed) == (4, 100, 0, 0, 0)
    assert result.drift_ms < 0.01
