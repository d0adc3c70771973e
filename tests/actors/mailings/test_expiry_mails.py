from datetime import timedelta

import msgspec
import pytest
from tests.actors.schedules.icalendar import NOW

from motorpool.actors.mailings.expiry_mails import ExpiryMails
from motorpool.actors.mailings.settings import ExpirationSettings
from motorpool.runtime import TaskSpec
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import Device, Group

HOUR = timedelta(hours=1)
EVERYTHING = ExpirationSettings(users=True, devices=True, reminder_days=1)


@pytest.fixture
def spec(database, outgoing):
    return lambda settings=EVERYTHING: TaskSpec(
        name="expiry_mails", factory=lambda: ExpiryMails(database, outgoing, settings)
    )


@pytest.fixture
def device(database):
    async def make(expires, *readers, **fields):
        row = Device(name="Bus", unique_id=f"{expires}", expiration_time=expires, **fields)
        row = await devices.TABLE.insert(database, row)
        for reader in readers:
            await links.add(database, links.USER_DEVICE, reader.id, row.id)
        return row

    return make


async def run_once(tree, time, *specs):
    async with tree(*specs):
        await time.passes(1)


async def test_users_and_those_who_see_a_device_are_told_once_over_restarts(
    database, tree, time, spec, person, device, mails
):
    ann, bob = await person("ann"), await person("bob", expiration_time=NOW - HOUR)
    group = await groups.TABLE.insert(database, Group(name="g"))
    await links.add(database, links.USER_GROUP, ann.id, group.id)
    await device(NOW - HOUR, ann, bob, group_id=group.id)
    for _ in range(2):
        await run_once(tree, time, spec())
    told = [(mail.to, mail.subject, mail.user_id) for mail in await mails()]
    assert told == [
        ("bob@example.org", "Account expired", bob.id),
        ("ann@example.org", "Device expired: Bus", ann.id),
    ]
    assert "The device Bus expired on 2026-06-15 11:00 UTC." in (await mails())[1].text


async def test_a_reminder_comes_before_and_the_expiration_at_its_hour(
    tree, time, spec, person, device, mails
):
    ann = await person(attributes={"language": "fr", "timezone": "Europe/Paris"})
    await device(NOW + timedelta(hours=25.5), ann)
    async with tree(spec()):
        await time.passes(3600)
        assert await mails() == []
        await time.passes(3600)
        assert [mail.subject for mail in await mails()] == ["Expiration prochaine : Bus"]
        assert "2026-06-16 15:30 CEST" in (await mails())[0].text
        await time.passes(23 * 3600, step=3600)
        assert len(await mails()) == 1
        await time.passes(3600)
        assert [mail.subject for mail in await mails()][1:] == ["Appareil expiré : Bus"]
        await time.passes(48 * 3600, step=3600)
    assert len(await mails()) == 2


async def test_an_expiration_that_is_moved_counts_anew(database, tree, time, spec, person, mails):
    ann = await person(expiration_time=NOW + HOUR)
    await run_once(tree, time, spec())
    moved = msgspec.structs.replace(ann, expiration_time=NOW + 2 * HOUR)
    await users.TABLE.update(database, moved)
    await run_once(tree, time, spec())
    assert [mail.subject for mail in await mails()] == ["Account expires"] * 2


@pytest.mark.parametrize(
    ("settings", "subjects"),
    [
        (ExpirationSettings(), []),
        (ExpirationSettings(reminder_days=1), []),
        (ExpirationSettings(users=True), ["Account expired"]),
        (ExpirationSettings(devices=True), ["Device expired: Bus"]),
        (ExpirationSettings(users=True, reminder_days=1), ["Account expired", "Account expires"]),
    ],
)
async def test_only_what_is_set_is_mailed(tree, time, spec, person, device, mails, settings, subjects):
    ann = await person()
    await person("bob", expiration_time=NOW - HOUR)
    await person("eve", expiration_time=NOW + HOUR)
    await device(NOW - HOUR, ann)
    await run_once(tree, time, spec(settings))
    assert sorted(mail.subject for mail in await mails()) == subjects


async def test_what_is_disabled_shared_or_long_ago_is_left_out(
    database, tree, time, spec, person, device, mails
):
    ann = await person()
    off = await person("off", disabled=True, expiration_time=NOW - HOUR)
    guest = await person("guest", temporary=True, expiration_time=NOW - HOUR)
    await person("old", expiration_time=NOW - 30 * HOUR)
    await device(NOW - HOUR, off, guest)
    await device(NOW - 2 * HOUR, ann, disabled=True)
    await run_once(tree, time, spec())
    assert await mails() == []


async def test_many_expire_at_once_and_two_servers_mail_each_once(
    database, tree, time, spec, person, device, mails
):
    ann = await person()
    for number in range(45):
        await device(NOW - timedelta(minutes=number), ann)
    async with tree(spec()), tree(spec()):
        await time.passes(1)
    assert len(await mails()) == 45
    assert await database.fetch_value("select count(*) from mailed_expirations") == 45


async def test_what_was_mailed_is_forgotten_once_it_is_no_longer_due(
    database, tree, time, spec, person, mails
):
    await person(expiration_time=NOW - HOUR)
    async with tree(spec()):
        await time.passes(50 * 3600, step=3600)
    assert len(await mails()) == 1
    assert await database.fetch_value("select count(*) from mailed_expirations") == 0
