"""The scenario `live`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.bench.scenarios.staging import StagedServer, missed, result

from motorpool.bench.checks.media_integrity import Findings
from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import ReaderResult
from motorpool.bench.options import BenchError, Options
from motorpool.bench.phases import broadcast, captures, streams
from motorpool.bench.scenarios import live, scenario
from motorpool.bench.server import Server


@pytest.mark.long
def test_live_accounts_for_every_frame_that_its_readers_saw(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(live, "run_server", start_server)
    monkeypatch.setattr(live, "VIEWERS_OF_A_STREAM", 3)
    monkeypatch.setattr(live, "REFERENCE_SECONDS", 16)
    monkeypatch.setattr(broadcast, "STARTS_PER_SECOND", 100.0)
    titles = ("3 streams", "3 G.711 streams", "3 captures")
    enough = {f"{title}: frames checked": 99 for title in titles}
    enough |= {f"{title}: sounds checked": 24 for title in titles}
    enough["9 viewers on 3 streams: playlists"] = 0
    _, figures, steps = measure("live", Options(seconds=1, streams=3), enough)
    assert len(steps) == scenario("live").STEPS
    assert figures["3 streams without readers"].reference == "ffmpeg"
    assert figures["3 G.711 streams without readers"].reference == "ffmpeg transcoding"
    for title in titles:
        assert figures[f"{title}: frames checked"].value >= 100
        assert figures[f"{title}: sounds checked"].value >= 25
        assert figures[f"{title}: left out or repeated"].value == 0
        assert figures[f"{title}: not what was sent"].value == 0
        assert figures[f"{title}: sound beside its picture, worst"].value < 1
    for title in ("3 streams", "3 G.711 streams"):
        assert figures[f"{title}: segments broken"].value == 0
        assert figures[f"{title}: streams that were never read"].value == 0
        assert figures[f"{title}: EXTINF sum less PTS span, worst"].value < 1
    assert figures["3 streams with captures"].reference == "without captures"
    assert figures["3 captures: files broken"].value == 0
    assert figures["9 viewers on 3 streams: failed requests"].value == 0
    assert figures["9 viewers on 3 streams: playlists"].value > 0


def test_what_readers_missed_or_found_damaged_misses_its_goal() -> None:
    whole = result(ReaderResult, segments=9, findings=Findings(frames=900, sounds=400, decoded=9))
    summary = Summary({})
    streams._report_seen(summary, "3 streams", whole)
    assert missed(summary) == set()
    found = Findings(gaps=1, altered=2, broken=3, sound_offset_ms=101.0, drift_ms=1.5)
    summary = Summary({})
    streams._report_seen(
        summary, "3 streams", result(ReaderResult, findings=found, missed=4, never_read=5, cpu_share=1.0)
    )
    assert {
        figure.metric: figure.value for figure in summary.figures if figure.metric in missed(summary)
    } == {
        "3 streams: segments missed by the reader": 4,
        "3 streams: streams that were never read": 5,
        "3 streams: left out or repeated": 1,
        "3 streams: not what was sent": 2,
        "3 streams: segments broken": 3,
        "3 streams: sound beside its picture, worst": 101,
        "3 streams: EXTINF sum less PTS span, worst": 1.5,
    }
    assert summary.notes == ["live, 3 streams: the readers were at 100% of a core"]


def test_a_capture_whose_file_is_not_what_its_record_says_ends_the_run(tmp_path: Path) -> None:
    record = {"status": "COMPLETE", "reason": "", "url": "/api/file", "fileName": "1.mp4", "size": 5}
    server = StagedServer(tmp_path, lambda request: "bytes" if request.url.path.endswith("file") else record)
    with server.client() as client:
        assert captures._fetch(client, tmp_path, captures._end(client, "1")).read_bytes() == b"bytes"
        record["size"] = 6
        with pytest.raises(BenchError, match="it has 6 bytes, its file has 5"):
            captures._fetch(client, tmp_path, record)
        record["status"] = "FAILED"
        with pytest.raises(BenchError, match="ended as FAILED"):
            captures._end(client, "1")
