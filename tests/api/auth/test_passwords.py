import threading

import pytest
import trio
import trio.testing

from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.http.errors import Unavailable
from motorpool.api.login_settings import LoginSettings

CHEAP = LoginSettings(hash_memory_kib=8192, hash_rounds=1)


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


@pytest.fixture
def held():
    """An event that hashes wait for, in their threads, and the passwords that were begun."""

    class Held:
        def __init__(self):
            self.event = threading.Event()
            self.begun = []

        def hash(self, password):
            self.begun.append(password)
            assert self.event.wait(30)
            return f"hash of {password}"

        def verify(self, stored, password):
            self.begun.append(password)
            return stored == f"hash of {password}"

    held = Held()
    yield held
    held.event.set()


async def test_new_passwords_do_not_delay_logins_and_only_so_many_wait(held):
    passwords = PasswordHasher(CHEAP)
    passwords._hasher = held
    refused = []

    async def register(number):
        try:
            await passwords.hash(str(number))
        except Unavailable as error:
            refused.append((number, error.status, error.headers))

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(register, number)
        await trio.testing.wait_all_tasks_blocked()
        # One is being hashed, eight wait.
        assert len(refused) == 21
        assert {status for _, status, _ in refused} == {503}
        assert all("Retry-After" in headers for _, _, headers in refused)
        assert passwords.threads_busy == 1
        with trio.fail_after(120):
            assert await passwords.verify("hash of secret", "secret")
        assert not held.event.is_set()
        held.event.set()
    assert len(held.begun) == 1 + 8 + 1


async def test_only_so_many_logins_wait(held):
    settings = LoginSettings(hash_memory_kib=8192, hashes_at_once=2, hashes_waiting=3)
    passwords = PasswordHasher(settings)
    passwords._hasher = held
    held.verify = lambda stored, password: bool(held.hash(password)) and False
    answers = []

    async def log_in(number):
        try:
            answers.append(await passwords.verify("stored", str(number)))
        except Unavailable:
            answers.append("refused")

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(log_in, number)
        await trio.testing.wait_all_tasks_blocked()
        assert answers == ["refused"] * 15
        held.event.set()
    assert answers[15:] == [False] * 5


async def test_who_leaves_while_waiting_costs_no_hash(held):
    passwords = PasswordHasher(CHEAP)
    passwords._hasher = held
    async with trio.open_nursery() as nursery:
        nursery.start_soon(passwords.hash, "first")
        await trio.testing.wait_all_tasks_blocked()
        with trio.CancelScope() as waiting:
            nursery.start_soon(_cancel_once_blocked, waiting)
            await passwords.hash("second")
        assert waiting.cancelled_caught
        held.event.set()
    assert held.begun == ["first"]


async def _cancel_once_blocked(scope):
    await trio.testing.wait_all_tasks_blocked()
    scope.cancel()
