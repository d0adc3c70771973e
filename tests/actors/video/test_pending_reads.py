from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.video.pending_reads import PendingReads


class Asker:
    """Hears what a reply answers."""

    def __init__(self, reply):
        self.heard = []
        reply.bind(self)

    def answer(self, value):
        self.heard.append(value)


def test_who_waits_is_answered_when_it_is_there_and_the_others_wait_on():
    there = set()
    readers = PendingReads()
    askers = {
        name: Asker(readers.add(10.0, lambda name=name: name in there, lambda name=name: f"{name}!"))
        for name in "abc"
    }
    readers.settle(1.0)
    there |= {"a", "c"}
    readers.settle(2.0)
    assert {name: asker.heard for name, asker in askers.items()} == {"a": ["a!"], "b": [], "c": ["c!"]}
    assert (len(readers), readers.earliest_timeout()) == (1, 10.0)


def test_whose_time_is_over_gets_what_was_agreed_unless_it_has_come_by_then():
    readers, there = PendingReads(), set()

    def ask(until, name):
        return Asker(readers.add(until, lambda: name in there, lambda: "it" if name in there else "sorry"))

    late, lucky, patient = ask(5.0, "late"), ask(5.0, "lucky"), ask(7.0, "patient")
    readers.settle(4.9)
    assert len(readers) == 3
    there.add("lucky")
    readers.settle(5.0)
    assert (late.heard, lucky.heard, patient.heard) == (["sorry"], ["it"], [])
    there.add("patient")
    readers.answer_all()
    assert patient.heard == ["it"]
    assert (len(readers), readers.earliest_timeout()) == (0, None)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 50)), max_size=20), st.lists(st.integers(0, 3)))
def test_nobody_is_answered_twice_or_waits_beyond_his_time(waits, steps):
    readers, now, there = PendingReads(), 0.0, [0]
    askers = [
        (
            until,
            Asker(readers.add(until, lambda n=number: there[0] > n, lambda: "it")),
        )
        for until, number in waits
    ]
    for step in steps:
        now += 10.0
        there[0] += step
        readers.settle(now)
        for until, asker in askers:
            assert len(asker.heard) <= 1
            assert asker.heard or until > now
    readers.answer_all()
    assert all(len(asker.heard) == 1 for _, asker in askers)
