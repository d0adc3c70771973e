"""The line of a talk: bounded queues, and what is too fast."""

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.video.talk_line import (
    MAX_BYTES,
    RESERVE_SAMPLES,
    SAMPLES_PER_SECOND,
    SampleBudget,
    SoundQueue,
    TalkLine,
)


@given(st.lists(st.binary(max_size=3000).filter(lambda pcm: len(pcm) % 2 == 0), max_size=20))
def test_the_newest_second_is_kept_in_order(pieces):
    queue, dropped = SoundQueue(), 0
    for piece in pieces:
        dropped += queue.put(piece)
        assert len(queue) <= MAX_BYTES
    whole = b"".join(pieces)
    assert dropped == max(0, len(whole) - MAX_BYTES) // 2
    kept = whole[len(whole) - len(queue) :]
    assert queue.take(100) + queue.take(len(whole) + 1) == kept
    assert len(queue) == 0


@given(st.lists(st.tuples(st.integers(1, 9000), st.floats(0, 2)), max_size=40))
def test_no_more_is_taken_than_is_heard_meanwhile(pieces):
    budget, now, taken = SampleBudget(), 0.0, 0
    for samples, pause in pieces:
        now += pause
        if budget.take(samples, now):
            taken += samples
        assert taken <= RESERVE_SAMPLES + now * SAMPLES_PER_SECOND + 1


def test_who_speaks_as_fast_as_one_hears_is_heard():
    budget = SampleBudget()
    assert all(budget.take(320, number * 0.04) for number in range(1000))


def test_a_line_ends_once_and_notes_when_something_was_said():
    now = 5.0
    line = TalkLine(1, "Ann", lambda: now)
    line.join()
    assert (line.joined_at, line.spoke_at) == (5.0, 5.0)
    now = 8.0
    line.join()
    line.speak(bytes(4), is_silent=True)
    assert (line.joined_at, line.spoke_at) == (5.0, 5.0)
    line.speak(b"\1\1", is_silent=False)
    assert line.spoke_at == 8.0
    line.end("first")
    line.end("second")
    assert line.ended.is_set()
    assert line.reason == "first"
