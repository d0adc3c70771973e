"""What the server is measured beside."""

import shutil
import socket
from pathlib import Path

import httpx
import pytest

from motorpool.bench import machine, references
from motorpool.bench.options import BenchError
from motorpool.bench.references import ffmpeg_cpu_seconds, run_bare, run_echo
from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.media_loop import LoopUnit
from motorpool.codecs.media.units import AudioCoding


def test_the_echo_server_sends_back_what_comes_and_ends_with_its_block() -> None:
    with run_echo() as (port, pid):
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"a" * 100)
            answer = b""
            while len(answer) < 100:
                answer += connection.recv(4096)
        assert answer == b"a" * 100
        assert machine.cpu_seconds(pid) >= 0
    with pytest.raises(ProcessLookupError):
        machine.cpu_seconds(pid)


def test_the_bare_route_answers_everything_with_the_given_bytes() -> None:
    with run_bare(b'[{"id": 1}]') as (port, _):
        for method in ("GET", "PUT"):
            answer = httpx.request(method, f"http://127.0.0.1:{port}/api/devices/7", timeout=10)
            assert (answer.status_code, answer.content) == (200, b'[{"id": 1}]')
            assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg program here")
def test_ffmpeg_uses_some_cpu_for_a_film_and_complains_about_junk(
    loop: list[LoopUnit], tmp_path: Path
) -> None:
    media_loop.write_transport_stream(loop, 8, tmp_path / "in.ts")
    assert 0 < ffmpeg_cpu_seconds(tmp_path / "in.ts") < 5
    (tmp_path / "junk.ts").write_bytes(b"never mind")
    with pytest.raises(BenchError, match="ffmpeg ended with code"):
        ffmpeg_cpu_seconds(tmp_path / "junk.ts")


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg program here")
def test_transcoding_telephone_sound_costs_ffmpeg_more_than_copying(tmp_path: Path) -> None:
    telephone = media_loop.make_loop(AudioCoding.G711A)
    media_loop.write_transport_stream(telephone, 60, tmp_path / "pictures.ts")
    media_loop.write_telephone_sound(telephone, 60, tmp_path / "sound")
    transcoded = ffmpeg_cpu_seconds(tmp_path / "pictures.ts", telephone_sound=tmp_path / "sound")
    assert transcoded > 1.2 * ffmpeg_cpu_seconds(tmp_path / "pictures.ts")


def test_a_missing_ffmpeg_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(references.shutil, "which", lambda _: None)
    with pytest.raises(BenchError, match="not installed"):
        ffmpeg_cpu_seconds(tmp_path / "in.ts")
