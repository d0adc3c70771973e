"""A server of its own for a measurement."""

import tempfile
from pathlib import Path

import pytest

from motorpool.bench import machine
from motorpool.bench.options import BenchError
from motorpool.bench.server import EMAIL, run_server


def test_a_server_runs_with_an_administrator_and_is_taken_down_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with run_server() as server:
        # It would compile its modules at each start.
        assert b"PYTHONDONTWRITEBYTECODE" not in Path(f"/proc/{server.process.pid}/environ").read_bytes()
        with server.client() as client:
            users = client.get("/users").json()
            assert client.get("/devices").json() == []
        assert [user["email"] for user in users] == [EMAIL]
        assert server.fetch_sql("select email, null, id + 1 from users") == [
            [EMAIL, "", str(users[0]["id"] + 1)]
        ]
        with pytest.raises(BenchError, match="nonsense"):
            server.run_sql("nonsense")
        assert server.cpu_seconds() > 0
        assert server.resident_bytes() > 10_000_000
        assert server.database_cpu_seconds() >= 0
        # What was acknowledged must survive a power cut, in a measurement too.
        durable = server.database_settings()
        assert [durable[name] for name in ("fsync", "full_page_writes", "synchronous_commit")] == ["on"] * 3
    assert server.process.returncode == 0
    assert not server.folder.exists()


def test_cpu_and_memory_of_several_processes_are_counted_together() -> None:
    with run_server({"MOTORPOOL_NODES": "2"}) as server:
        supervisor = server.process.pid
        assert server.resident_bytes() > 2.5 * machine.resident_bytes(supervisor)
        assert server.cpu_seconds() > machine.cpu_seconds(supervisor)
        # PostgreSQL, which the supervisor has started as well, is counted apart.
        counted = machine.tree_cpu_seconds(supervisor) - server.cpu_seconds()
        assert 0 < counted < machine.tree_cpu_seconds(supervisor) / 2


def test_a_server_that_does_not_start_is_reported_with_its_last_line_and_its_log_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        pytest.raises(BenchError, match="MOTORPOOL_VIDEO_SEGMENT_SECONDS"),
        run_server({"MOTORPOOL_VIDEO_SEGMENT_SECONDS": "soon"}),
    ):
        raise AssertionError("a server with a wrong setting came up")
    (kept,) = tmp_path.glob("motorpool-bench-*.log")
    assert "MOTORPOOL_VIDEO_SEGMENT_SECONDS" in kept.read_text(encoding="utf-8")
