"""A load program and its parent."""

import msgspec
import pytest

from motorpool.bench.load.plan import Mark, Span, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.references import run_echo


def load(port: int, seconds: float = 0.1) -> TerminalLoad:
    return TerminalLoad(
        host="127.0.0.1", port=port, phones=("13900000001",), mode="echo", seconds=seconds, warm_seconds=0.0
    )


def test_marks_come_before_the_result_and_silence_has_an_end() -> None:
    with run_echo() as (port, _), run_program("terminals", load(port)) as program:
        assert program.wait_for(Mark, 30, lambda mark: mark.name == "begin").name == "begin"
        result = program.wait_for(TerminalResult, 30)
        assert result.message_bytes == 100
        assert min(result.answered) > 0
        # It waits for spans.
        with pytest.raises(LoadFailed, match="nothing for 0 s"):
            program.next(0.01)
        program.send_line(msgspec.json.encode(Span(seconds=0.1)).decode())
        assert program.wait_for(TerminalResult, 30).start > result.start


def test_a_program_that_says_nothing_is_not_waited_for_and_is_ended() -> None:
    with run_echo() as (port, _), run_program("terminals", load(port, seconds=600)) as program:
        program.wait_for(Mark, 30, lambda mark: mark.name == "begin")
        with pytest.raises(LoadFailed, match="nothing for 0 s"):
            program.next(0.01)


def test_a_program_that_cannot_connect_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        run_program("terminals", load(1)) as program,
        pytest.raises(LoadFailed, match=r"ended: ConnectionRefusedError: .*refused$"),
    ):
        program.wait_for(Mark, 30)
    assert "Traceback" not in capfd.readouterr().err


def test_a_program_that_is_killed_fails_with_its_code() -> None:
    with run_echo() as (port, _), run_program("terminals", load(port, seconds=600)) as program:
        program.wait_for(Mark, 30)
        program._process.kill()
        with pytest.raises(LoadFailed, match="ended: code -9"):
            program.wait_for(TerminalResult, 30)
