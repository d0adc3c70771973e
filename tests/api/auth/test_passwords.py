import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.auth.passwords import Attempts, Passwords
from motorpool.api.http.errors import TooManyFailures
from motorpool.api.program.settings import LoginSettings

CHEAP = LoginSettings(hash_memory_kib=8192, hash_rounds=1, failures_per_account=3, failures_per_address=5)


async def test_a_password_matches_its_own_hash_only():
    passwords = Passwords(CHEAP)
    stored = await passwords.hash("correct horse")
    assert stored.startswith("$argon2id$")
    assert await passwords.verify(stored, "correct horse")
    assert not await passwords.verify(stored, "correct horse ")
    assert not await passwords.verify(None, "correct horse")
    assert not await passwords.verify("", "correct horse")


async def test_a_verified_credential_is_remembered_until_the_stored_hash_changes():
    passwords = Passwords(CHEAP)
    stored = await passwords.hash("one")
    assert not passwords.remembers(stored, "one")
    assert await passwords.verify(stored, "one")
    assert passwords.remembers(stored, "one")
    assert not passwords.remembers(stored, "two")
    assert not passwords.remembers(await passwords.hash("one"), "one")


async def test_a_failed_password_is_not_remembered():
    passwords = Passwords(CHEAP)
    stored = await passwords.hash("one")
    assert not await passwords.verify(stored, "two")
    assert not passwords.remembers(stored, "two")


async def test_only_so_many_hashes_run_at_once_and_the_loop_goes_on():
    passwords = Passwords(LoginSettings(hash_memory_kib=8192, hash_rounds=2, hashes_at_once=1))
    ticks = 0
    async with trio.open_nursery() as nursery:

        async def hash_all() -> None:
            async with trio.open_nursery() as inner:
                for _ in range(4):
                    inner.start_soon(passwords.hash, "x")
            nursery.cancel_scope.cancel()

        nursery.start_soon(hash_all)
        while True:
            await trio.lowlevel.checkpoint()
            ticks += 1
            assert passwords.threads_busy <= 1
    assert ticks > 0


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_after_the_limit_of_an_account_every_attempt_is_refused_until_the_window_has_passed():
    watch = Watch()
    attempts = Attempts(CHEAP, watch)
    for number in range(3):
        attempts.begin("Admin@Example.org", f"10.0.0.{number}")
    with pytest.raises(TooManyFailures) as caught:
        attempts.begin("admin@example.org ", "10.0.0.9")
    assert caught.value.headers == {"Retry-After": "300"}
    attempts.begin("other@example.org", "10.0.0.9")
    watch.now = 299.0
    with pytest.raises(TooManyFailures):
        attempts.begin("admin@example.org", "10.0.0.9")
    watch.now = 300.0
    attempts.begin("admin@example.org", "10.0.0.9")


def test_an_account_is_forgiven_and_the_address_is_not():
    attempts = Attempts(CHEAP, Watch())
    for _ in range(3):
        attempts.begin("ann", "10.0.0.1")
    attempts.reset_failures(" ANN")
    for _ in range(2):
        attempts.begin("ann", "10.0.0.1")
    with pytest.raises(TooManyFailures):
        attempts.begin("ben", "10.0.0.1")
    attempts.reset_failures("nobody")


def test_the_limit_of_an_address_holds_over_all_accounts():
    attempts = Attempts(CHEAP, Watch())
    for number in range(5):
        attempts.begin(f"user{number}", "10.0.0.1")
    with pytest.raises(TooManyFailures):
        attempts.begin("user9", "10.0.0.1")
    attempts.begin("user9", "10.0.0.2")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), max_size=60))
def test_successes_never_count(logins):
    attempts = Attempts(CHEAP, Watch())
    for account, address in logins:
        attempts.begin(account, address)
        attempts.succeeded(account, address)


def test_attempts_under_way_count_so_that_parallel_guesses_are_no_way_around():
    attempts = Attempts(CHEAP, Watch())
    for _ in range(3):
        attempts.begin("a", "x")
    with pytest.raises(TooManyFailures):
        attempts.begin("a", "x")
    attempts.succeeded("a", "x")
    attempts.begin("a", "x")


def test_what_is_counted_is_bounded():
    attempts = Attempts(CHEAP, Watch())
    for number in range(60_000):
        attempts.begin(f"user{number}", f"{number >> 8}.{number & 255}")
    assert len(attempts) <= 50_000
