"""The queue against a list that is cut from the front."""

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.forwarding.queue import ForwardMessage, ForwardQueue


def made(number, device_id, size=1):
    return ForwardMessage(number, "position", device_id, "x", b"x" * size, 0.0)


@given(
    parts=st.integers(1, 4),
    most=st.integers(1, 6),
    most_bytes=st.integers(1, 40),
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(0, 8), st.integers(0, 30)),
            st.tuples(st.just("take"), st.integers(0, 3), st.just(0)),
        ),
        max_size=40,
    ),
)
def test_it_holds_the_newest_and_gives_each_part_in_order(parts, most, most_bytes, steps):
    queue = ForwardQueue(parts=parts, max_messages=most, max_bytes=most_bytes)
    model, taken = [], 0
    for number, (step, value, size) in enumerate(steps):
        if step == "append":
            model.append(made(number, value, size))
            dropped = 0
            while len(model) > most or (len(model) > 1 and sum(len(m.content) for m in model) > most_bytes):
                del model[0]
                dropped += 1
            assert queue.append(made(number, value, size)) == dropped
        else:
            part = value % parts
            expected = next((m for m in model if m.device_id % parts == part), None)
            assert queue.take(part) == expected
            if expected is not None:
                model.remove(expected)
                taken += 1
        assert len(queue) == len(model) + taken
    for _ in range(taken):
        queue.settled()
    assert len(queue) == len(model)
