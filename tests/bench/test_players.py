"""How stalls are detected in the output of a player."""

from collections.abc import Iterator

from motorpool.bench.players import follow_progress


def follow(steps: list[tuple[float, float]]) -> tuple[float, int]:
    """Progress at these times of the wall's clock (s), each with the time shown (s)."""
    now = [0.0]

    def lines() -> Iterator[str]:
        for now[0], shown in steps:
            yield "frame=1\n"
            yield f"out_time_us={round(shown * 1e6)}\n"

    return follow_progress(lines(), lambda: now[0])


def test_what_comes_in_segments_is_no_stall() -> None:
    shown, stalls = follow([(0.5, 100.0), (1.0, 102.0), (3.0, 104.0), (5.0, 106.0), (7.0, 108.0)])
    assert (shown, stalls) == (8.0, 0)


def test_a_long_wait_for_the_next_picture_is_a_stall() -> None:
    assert follow([(0.5, 0.0), (1.0, 2.0), (8.0, 4.0), (9.0, 5.0)]) == (5.0, 1)


def test_a_late_start_is_no_stall_and_unknown_times_are_passed_over() -> None:
    assert follow([(20.0, 0.0), (21.0, 2.0)]) == (2.0, 0)
    assert follow_progress(["out_time_us=N/A\n", "progress=end\n", "junk"], lambda: 0.0) == (0.0, 0)
