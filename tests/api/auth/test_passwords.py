import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.auth.passwords import LoginThrottle, PasswordHasher
from motorpool.api.http.errors import TooManyRequests
from motorpool.api.program.settings import LoginSettings

CHEAP = LoginSettings(hash_memory_kib=8192, hash_rounds=1, failures_per_account=3, failures_per_address=5)


async def test_a_password_matches_its_own_hash_only():
    passwords = PasswordHasher(CHEAP)
    stored = await passwords.hash("correct horse")
    assert stored.startswith("$argon2id$")
    assert await passwords.verify(stored, "correct horse")
    assert not await passwords.verify(stored, "correct horse ")
    assert not await passwords.verify(None, "correct horse")
    assert not await passwords.verify("", "correct horse")


async def test_a_verified_credential_is_remembered_until_the_stored_hash_changes():
    passwords = PasswordHasher(CHEAP)
    stored = await passwords.hash("one")
    assert not passwords.is_verified(stored, "one")
    assert await passwords.verify(stored, "one")
    assert passwords.is_verified(stored, "one")
    assert not passwords.is_verified(stored, "two")
    assert not passwords.is_verified(await passwords.hash("one"), "one")


async def test_a_failed_password_is_not_remembered():
    passwords = PasswordHasher(CHEAP)
    stored = await passwords.hash("one")
    assert not await passwords.verify(stored, "two")
    assert not passwords.is_verified(stored, "two")


async def test_only_so_many_hashes_run_at_once_and_the_loop_goes_on():
    passwords = PasswordHasher(LoginSettings(hash_memory_kib=8192, hash_rounds=2, hashes_at_once=1))
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
    throttle = LoginThrottle(CHEAP, watch)
    for number in range(3):
        throttle.begin_attempt("Admin@Example.org", f"10.0.0.{number}")
    with pytest.raises(TooManyRequests) as caught:
        throttle.begin_attempt("admin@example.org ", "10.0.0.9")
    assert caught.value.headers == {"Retry-After": "300"}
    throttle.begin_attempt("other@example.org", "10.0.0.9")
    watch.now = 299.0
    with pytest.raises(TooManyRequests):
        throttle.begin_attempt("admin@example.org", "10.0.0.9")
    watch.now = 300.0
    throttle.begin_attempt("admin@example.org", "10.0.0.9")


def test_an_account_is_forgiven_and_the_address_is_not():
    throttle = LoginThrottle(CHEAP, Watch())
    for _ in range(3):
        throttle.begin_attempt("ann", "10.0.0.1")
    throttle.reset_failures(" ANN")
    for _ in range(2):
        throttle.begin_attempt("ann", "10.0.0.1")
    with pytest.raises(TooManyRequests):
        throttle.begin_attempt("ben", "10.0.0.1")
    throttle.reset_failures("nobody")


def test_the_limit_of_an_address_holds_over_all_accounts():
    throttle = LoginThrottle(CHEAP, Watch())
    for number in range(5):
        throttle.begin_attempt(f"user{number}", "10.0.0.1")
    with pytest.raises(TooManyRequests):
        throttle.begin_attempt("user9", "10.0.0.1")
    throttle.begin_attempt("user9", "10.0.0.2")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), max_size=60))
def test_successes_never_count(logins):
    throttle = LoginThrottle(CHEAP, Watch())
    for account, address in logins:
        throttle.begin_attempt(account, address)
        throttle.record_success(account, address)


def test_attempts_under_way_count_so_that_parallel_guesses_are_no_way_around():
    throttle = LoginThrottle(CHEAP, Watch())
    for _ in range(3):
        throttle.begin_attempt("a", "x")
    with pytest.raises(TooManyRequests):
        throttle.begin_attempt("a", "x")
    throttle.record_success("a", "x")
    throttle.begin_attempt("a", "x")


def test_what_is_counted_is_bounded():
    throttle = LoginThrottle(CHEAP, Watch())
    for number in range(60_000):
        throttle.begin_attempt(f"user{number}", f"{number >> 8}.{number & 255}")
    assert len(throttle) <= 50_000
