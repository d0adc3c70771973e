"""The scenario `live`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from motorpool.bench.options import Options
from motorpool.bench.phases import broadcast
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
