"""Where the keys of secrets come from, and that servers whose keys do not fit do not start."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from motorpool.storage.accounts import users
from motorpool.storage.cluster.membership import open_membership
from motorpool.storage.database import encryption_keys, nodes
from motorpool.storage.database.database import open_database
from motorpool.storage.database.encryption_keys import FILE, make_key, read_keys
from motorpool.storage.encryption import new_key, parse_key
from motorpool.storage.errors import SetupFailed
from motorpool.storage.records import User
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FIRST, SECOND = new_key(), new_key()
ID = {text: parse_key(text).id for text in (FIRST, SECOND)}


@pytest.fixture
def opened(database_url, tmp_path):
    @asynccontextmanager
    async def open_(*keys, data=tmp_path, **more):
        settings = DatabaseSettings(url=database_url, data=data, keys=keys)
        async with open_database(settings, clock_now=lambda: NOW, **more) as database:
            yield database

    return open_


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(encryption_keys, "_SERVERS_SECONDS", 0.0)


def test_a_key_file_is_made_once_and_nobody_else_may_read_it(tmp_path):
    made = make_key(tmp_path)
    path = tmp_path / FILE
    assert path.stat().st_mode & 0o777 == 0o600
    assert [key.id for key in read_keys((), tmp_path)] == [made.id]
    # Of two programs that make one at once the second takes what the first has made.
    assert make_key(tmp_path).id == made.id
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


def test_keys_of_the_settings_come_before_those_of_the_file(tmp_path):
    assert read_keys((), tmp_path) == []
    (tmp_path / FILE).write_text(f"# old\n\n{SECOND}\n")
    assert [key.id for key in read_keys((FIRST,), tmp_path)] == [ID[FIRST], ID[SECOND]]


def test_what_is_no_key_is_refused_and_not_repeated(tmp_path):
    (tmp_path / FILE).write_text(f"{FIRST}\nsecret\n")
    with pytest.raises(SetupFailed, match=r"encryption\.key holds something that is not") as error:
        read_keys((), tmp_path)
    assert "secret" not in str(error.value)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    with pytest.raises(SetupFailed, match="cannot be read"):
        read_keys((), tmp_path)


async def test_no_key_is_made_for_a_database_elsewhere_and_nothing_is_encrypted(opened, tmp_path):
    async with opened() as database:
        assert database.keyring.ids == ()
        await users.TABLE.insert(database, User(email="a", totp_key="KEY"))
        assert await database.fetch_value("select totp_key from users") == "KEY"
    assert not (tmp_path / FILE).exists()


async def test_a_server_without_the_key_does_not_start_and_says_which_is_missing(opened, tmp_path):
    async with opened(FIRST) as database:
        await users.TABLE.insert(database, User(email="a", totp_key="KEY"))
    for keys in ((), (SECOND,)):
        with pytest.raises(SetupFailed, match=f"with the key {ID[FIRST]}, which is not here: put it"):
            async with opened(*keys):
                pass
    # In the file it counts as well.
    (tmp_path / FILE).write_text(FIRST)
    async with opened() as database:
        assert (await users.TABLE.fetch(database, 1)).totp_key == "KEY"


async def join(database, cluster="fleet"):
    async with database.session() as session:
        return await nodes.join(session, cluster, "here", "1")


async def test_a_key_that_a_running_server_lacks_does_not_encrypt(opened, impatient):
    async with opened() as old:
        await join(old)
        with pytest.raises(SetupFailed, match=f"on here uses this database without the key {ID[FIRST]}"):
            async with opened(FIRST):
                pass
        await nodes.leave(old, 1)
        async with opened(FIRST) as database:
            assert database.keyring.ids == (ID[FIRST],)


async def test_servers_take_another_key_one_after_the_other(opened, impatient):
    first, second = ID[FIRST], ID[SECOND]
    async with opened(FIRST) as one:
        await join(one)
        # Each gets the new key as its last one, and is started again; then as its first one.
        async with opened(FIRST, SECOND) as two:
            await join(two)
            with pytest.raises(SetupFailed, match=f"without the key {second}"):
                async with opened(SECOND, FIRST):
                    pass
            await nodes.leave(one, 1)
            async with opened(SECOND, FIRST) as three:
                await join(three)
                await users.TABLE.insert(three, User(email="a", totp_key="KEY"))
                assert (await users.TABLE.fetch(two, 1)).totp_key == "KEY"
                # The other one still encrypts with the first key.
                assert await encryption_keys.end_use(three, three.keyring) == []
                await nodes.leave(two, 2)
                assert await encryption_keys.end_use(three, three.keyring) == [first]


async def test_a_key_that_came_into_use_since_the_database_was_opened_keeps_a_server_from_joining(opened):
    async with opened() as late:
        async with opened(FIRST):
            pass
        with pytest.raises(SetupFailed, match=f"with the key {ID[FIRST]}, which is not here"):
            async with open_membership(late, "fleet", "1", on_dead=lambda: None):
                pass
        assert await nodes.living(late) == frozenset()
