from tests.runtime.actor_testing import EPOCH, TestClock

from motorpool.runtime.dead_letters import REMEMBERED, DeadLetter, DeadLetters


async def test_all_are_counted_and_the_last_few_remembered_without_their_content() -> None:
    letters = DeadLetters(TestClock())
    for number in range(100):
        letters.add(f"devices/{number}", "a secret" if number % 2 else number)
    assert letters.count == 100
    assert len(letters.recent) == REMEMBERED
    assert letters.recent[-1] == DeadLetter("devices/99", "str", letters.recent[-1].time)
    assert letters.recent[-1].time >= EPOCH
    assert "secret" not in repr(letters.recent)
