"""The reader program against a playlist that moves on."""

import threading
from pathlib import Path

from motorpool.bench.load import readers
from motorpool.bench.load.plan import Mark, ReaderLoad, ReaderResult
from motorpool.bench.load.program import run_program
from motorpool.bench.vehicles import media_loop


def test_a_reader_fetches_each_segment_once_and_checks_what_is_in_it(loop, film, serve, tmp_path: Path):
    segments = []
    for second in range(4):
        shots = [unit for unit in loop if second * 1000 <= unit.milliseconds < second * 1000 + 1000]
        media_loop.write_transport_stream(shots, 8, tmp_path / "segment.ts", first_number=25 * second)
        segments.append((tmp_path / "segment.ts").read_bytes())
    asked: list[str] = []
    first_look = threading.Event()

    def answer(request):
        asked.append(request.path)
        name = request.path.rpartition("/")[2]
        if name == "live.m3u8":
            # Two segments more with every look.
            looks = asked.count(request.path)
            shown = range(max(0, 2 * looks - 3), min(4, 2 * looks))
            return 200, {}, ("#EXTM3U\n" + "".join(f"#EXTINF:1.0,\n{n}.ts\n" for n in shown)).encode()
        if name == "1.ts":
            first_look.set()
        return 200, {}, segments[int(name[:-3])]

    with serve(answer) as port:
        load = ReaderLoad(
            url=f"http://127.0.0.1:{port}",
            email="a@example.org",
            password="p",
            streams=((7, 1),),
            folder=str(tmp_path / "kept"),
            loop_file=str(film),
        )
        with run_program("readers", load) as program:
            assert program.wait_for(Mark, 60).name == "ready"
            assert first_look.wait(60)
            # The next look would come much later: the order to stop brings the last one.
            program.stop()
            result = program.wait_for(ReaderResult, 60)
    assert [path for path in asked if path.endswith(".ts")] == [
        f"/api/stream/7/1/{index}.ts" for index in range(4)
    ]
    assert readers.POLL_SECONDS > 5
    found = result.findings
    assert (result.segments, result.missed, result.never_read) == (4, 0, 0)
    assert (found.frames, found.sounds, found.decoded) == (100, 63, 1)
    assert (found.gaps, found.altered, found.broken) == (0, 0, 0)
    assert found.drift_ms < 0.01
