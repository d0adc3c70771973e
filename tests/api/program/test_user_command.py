from dataclasses import replace

import pytest

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.api.login_settings import LoginSettings
from motorpool.api.program.errors import StartFailed
from motorpool.api.program.user_command import UserEdit, edit_user
from motorpool.api.settings import Settings
from motorpool.storage.accounts import links, server, users
from motorpool.storage.records import User


@pytest.fixture
def settings(tmp_path, database_url):
    cheap = LoginSettings(hash_memory_kib=64, hash_rounds=1)
    return Settings(data=tmp_path, database=database_url, login=cheap)


async def test_the_first_user_of_the_command_line_initialises_the_server(settings, database):
    done = await edit_user(settings, UserEdit("ann@example.org", password="secret words", administrator=True))
    assert done == "user ann@example.org created, administrator"
    assert await server.is_initialised(database)


async def test_the_last_administrator_stays_one_on_the_command_line_too(settings, database):
    ann = await users.TABLE.insert(database, User(email="ann@example.org", administrator=True))
    with pytest.raises(StartFailed, match="is the last administrator"):
        await edit_user(settings, UserEdit("ann@example.org", administrator=False))
    assert await users.TABLE.fetch(database, ann.id) == ann
    await users.TABLE.insert(database, User(email="ben@example.org", administrator=True))
    await edit_user(settings, UserEdit("ann@example.org", administrator=False))
    assert not (await users.TABLE.fetch(database, ann.id)).administrator


async def test_who_becomes_administrator_on_the_command_line_has_no_manager(settings, database):
    boss = await users.TABLE.insert(database, User(email="boss@example.org", user_limit=-1))
    ann = await users.TABLE.insert(database, User(email="ann@example.org"))
    await links.add(database, links.USER_USER, boss.id, ann.id)
    await edit_user(settings, UserEdit("ann@example.org", administrator=True))
    assert await links.find(database, links.USER_USER) == []


async def test_one_time_codes_are_switched_off_on_the_command_line_for_who_has_lost_the_key(
    settings, database
):
    ann = await users.TABLE.insert(database, User(email="ann@example.org", totp_key="JBSWY3DPEHPK3PXP"))
    mail = MailSettings(host="mail.example.org", address="fleet@example.org")
    await edit_user(replace(settings, mail=mail), UserEdit("ann@example.org", remove_codes=True))
    account = (await users.accounts(database, [ann.id]))[ann.id]
    assert (account.user.totp_key, account.tokens_since is not None) == (None, True)
    assert await database.fetch_value("select attributes ->> 'totpKey' from audit") == "removed"
    told = await database.fetch_value("select message ->> 'subject' from deliveries")
    assert told == "Your one-time codes were switched off"
