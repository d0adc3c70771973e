"""Which device a peer is, and how unknown ones are registered."""

from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.runtime.actor_testing import open_tree

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.gateway.identity import IDENTIFICATION, Identification, Identify
from motorpool.actors.gateway.settings import RegisterSettings
from motorpool.actors.messages.changes import CHANGES, DeviceChanged
from motorpool.actors.work.batching import BATCH
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import links, users
from motorpool.storage.database.database import open_database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StatementRejected, StorageError
from motorpool.storage.records import Device, User
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
REGISTER = RegisterSettings(unknown=True)


async def make_user(database, name, **fields):
    return await users.TABLE.insert(database, User(name=name, email=f"{name}@example.org", **fields))


@pytest.fixture
async def administrator(database):
    return await make_user(database, "admin", administrator=True)


@pytest.fixture
def identify(database, tree):
    """`async with identify(settings) as ask:` then `await ask("0cab-7", "cab-7")` is the device or None."""

    class Running:
        def __init__(self, settings=REGISTER):
            self._tree = tree(
                ChildSpec(kind=IDENTIFICATION, factory=lambda: Identification(database, settings))
            )

        async def __aenter__(self):
            self.system = await self._tree.__aenter__()
            return self

        async def __aexit__(self, *error):
            return await self._tree.__aexit__(*error)

        async def __call__(self, *unique_ids):
            return await self.system.ref(IDENTIFICATION).ask(Identify(unique_ids))

        async def all(self, logins):
            """The answers to logins that come at once, in their order; an error in place of an answer."""
            found = {}

            async def one(place, unique_ids):
                try:
                    found[place] = await self(*unique_ids)
                except StorageError as error:
                    found[place] = error

            async with trio.open_nursery() as nursery:
                for place, unique_ids in enumerate(logins):
                    nursery.start_soon(one, place, unique_ids)
            return [found[place] for place in range(len(logins))]

    return Running


async def test_the_exact_name_counts_before_the_others(identify, make_device):
    async with identify(RegisterSettings()) as ask:
        other = await make_device("cab-7")
        assert await ask("0cab-7", "cab-7") == other
        exact = await make_device("0cab-7")
        assert await ask("0cab-7", "cab-7") == exact
        assert await ask("cab-7", "0cab-7") == other
        assert await ask("999") is None


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (Device(), True),
        (Device(disabled=True), False),
        (Device(expiration_time=NOW + timedelta(seconds=1)), True),
        (Device(expiration_time=NOW), False),
        (Device(expiration_time=NOW - timedelta(days=1)), False),
    ],
)
def test_disabled_and_expired_devices_are_not_served(device, expected):
    assert may_report(device, NOW) is expected


async def test_a_new_device_gets_its_number_as_name_and_belongs_to_the_oldest_administrator(
    database, identify
):
    await make_user(database, "ordinary")
    oldest = await make_user(database, "oldest", administrator=True)
    await make_user(database, "younger", administrator=True)
    async with identify() as ask:
        made = await ask("013912345678", "13912345678")
    assert made == Device(id=made.id, name="13912345678", unique_id="13912345678")
    assert await devices.TABLE.fetch(database, made.id) == made
    assert await links.owners(database, links.USER_DEVICE, made.id) == [oldest.id]


async def test_no_device_is_registered_before_there_is_an_administrator(database, identify):
    await make_user(database, "ordinary")
    async with identify() as ask:
        assert await ask("1") is None
    assert await devices.TABLE.count(database) == 0


async def test_logins_that_come_at_once_share_statements_and_each_gets_its_own_device(
    database, identify, administrator, make_device
):
    known = await make_device("cab-7")
    logins = [(f"0{number}", str(number)) for number in range(1, 2 * BATCH + 50)]
    logins.insert(300, ("cab-7",))
    async with identify() as ask, ask.system.topic(CHANGES).subscribe() as subscription:
        found = await ask.all(logins)
        published = await subscription.receive_batch()
    assert [device.unique_id for device in found] == [unique_ids[-1] for unique_ids in logins]
    assert found[300] == known
    created = [change.id for changes in published for change in changes]
    assert sorted(created) == sorted(device.id for device in found if device != known)
    assert all(change == DeviceChanged(change.id, "created") for changes in published for change in changes)
    # The first comes alone; all others wait for it and share what is done next.
    assert len(published) <= 4
    assert sorted(await links.properties(database, links.USER_DEVICE, administrator.id)) == sorted(created)


async def test_connections_that_bring_the_same_number_at_once_get_the_same_device(
    database, identify, administrator
):
    async with identify() as ask:
        found = await ask.all([("0777", "777")] * 6)
    assert len({device.id for device in found}) == 1
    assert await devices.TABLE.count(database) == 1


async def test_two_servers_that_register_the_same_numbers_at_once_make_each_device_once(
    database, database_url, administrator, time
):
    numbers = [(str(number),) for number in range(100, 160)]
    settings = DatabaseSettings(url=database_url, pool_size=4)
    found = []
    async with open_database(settings, clock_now=lambda: NOW) as other:

        async def register(each):
            async with open_tree(
                ChildSpec(kind=IDENTIFICATION, factory=lambda: Identification(each, REGISTER))
            ) as system:
                identification = system.ref(IDENTIFICATION)
                found.extend([await identification.ask(Identify(unique_ids)) for unique_ids in numbers])

        time.let_go()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(register, database)
            nursery.start_soon(register, other)
    assert len(found) == 2 * len(numbers)
    assert len({device.id for device in found}) == len(numbers) == await devices.TABLE.count(database)


async def test_an_identity_that_cannot_be_stored_costs_only_its_own_login(identify, administrator):
    logins = [("1",), ("2",), ("a\0b",), ("x" * 129,), ("3",)]
    async with identify() as ask:
        found = await ask.all(logins)
    assert [getattr(each, "unique_id", type(each)) for each in found] == [
        "1",
        "2",
        StatementRejected,
        StatementRejected,
        "3",
    ]


async def test_no_more_are_registered_than_the_limit_allows(database, identify, administrator, caplog):
    async with identify(RegisterSettings(unknown=True, max_devices=3)) as ask:
        assert (await ask("1")).unique_id == "1"
        found = await ask.all([(str(number),) for number in range(1, 9)])
        assert await ask("100") is None
    assert found[0] is not None
    assert sum(device is not None for device in found) == 3 == await devices.TABLE.count(database)
    assert caplog.text.count("register.max_devices is 3") == 1


async def test_what_could_be_no_name_is_not_registered(database, identify, administrator, make_device):
    async with identify(REGISTER) as ask:
        for text in ("1\n2", "1\x1b[2J", "\u202e21"):
            assert await ask(text) is None
        # One that was made before is known.
        old = await make_device("3\n4")
        assert await ask("3\n4") == old
    assert await devices.TABLE.count(database) == 1


async def test_an_outage_fails_the_login_and_ends_with_it(identify, administrator, outage):
    async with identify() as ask:
        assert (await ask("1")).unique_id == "1"
        with outage():
            (failed,) = await ask.all([("2",)])
            assert isinstance(failed, StorageError)
        assert (await ask("2")).unique_id == "2"
