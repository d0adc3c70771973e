import trio

from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.program.settings import LoginSettings

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
