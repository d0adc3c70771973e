"""Changes of one server reach the other servers of its database."""

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.cluster import broadcasts, change_relay
from motorpool.actors.cluster.change_relay import ChangeRelay, texts_of
from motorpool.actors.messages.changes import (
    COMMITTED_CHANGES,
    Change,
    DeviceChanged,
    EverythingChanged,
    LinkChanged,
    ServerEnded,
    SessionEnded,
)
from motorpool.actors.messages.homes import LIVING_SERVERS
from motorpool.runtime import SupervisorSpec, TaskSpec, open_system
from motorpool.storage.cluster.broadcast import MAX_BYTES, notify
from motorpool.storage.database import nodes


class Server:
    """A system with a relay, and the commits that its caches followed."""

    def __init__(self, system):
        self.system = system
        self.seen = []
        system.topic(COMMITTED_CHANGES).listen(self.seen.extend)
        self.living = frozenset()
        system.topic(LIVING_SERVERS).listen(self._note_living)

    def _note_living(self, message):
        self.living = message.numbers

    async def until_seen(self, fact):
        with trio.fail_after(120):
            while fact not in self.seen:  # noqa: ASYNC110 - a list of the test
                await trio.sleep(0.01)

    async def until_known(self, node):
        with trio.fail_after(120):
            while node not in self.living:  # noqa: ASYNC110 - as above
                await trio.sleep(0.01)


@pytest.fixture
async def servers(database, monkeypatch):
    """Two servers on one database whose relays are connected."""
    monkeypatch.setattr(change_relay, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(broadcasts, "RETRY_SECONDS", 0.05)

    def tree():
        return SupervisorSpec(
            name="system",
            intensity=None,
            children=(TaskSpec(name="change_relay", factory=lambda: ChangeRelay(database)),),
        )

    async with open_system(tree()) as first, open_system(tree()) as second:
        found = Server(first), Server(second)
        for number, (one, other) in enumerate((found, found[::-1])):
            fact = SessionEnded(f"hello {number}")
            with trio.fail_after(120):
                while fact not in other.seen:
                    await publish_changes(one.system, fact)
                    await trio.sleep(0.05)
        for each in found:
            each.seen.clear()
        yield found


async def test_a_commit_of_one_is_followed_by_the_other_in_order_and_once(servers):
    one, other = servers
    for number in range(50):
        await publish_changes(
            one.system, DeviceChanged(number, "updated", ("name",)), SessionEnded(str(number))
        )
    await other.until_seen(SessionEnded("49"))
    expected = [
        fact
        for number in range(50)
        for fact in (DeviceChanged(number, "updated", ("name",)), SessionEnded(str(number)))
    ]
    assert [fact for fact in other.seen if fact in expected] == expected
    # And nothing comes back.
    await publish_changes(other.system, LinkChanged("user", 1, "device", 2))
    await one.until_seen(LinkChanged("user", 1, "device", 2))
    assert [fact for fact in one.seen if fact in expected] == expected


async def test_after_a_lost_connection_everything_is_read_again(servers, database):
    one, other = servers
    rows = await database.fetch(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
        " and (query like '%pg_notify%' or query ilike 'listen%')"
    )
    assert rows
    await one.until_seen(EverythingChanged())
    await other.until_seen(EverythingChanged())
    for each in servers:
        each.seen.clear()
    with trio.fail_after(120):
        while SessionEnded("again") not in other.seen:
            await publish_changes(one.system, SessionEnded("again"))
            await trio.sleep(0.05)


async def test_the_death_of_a_server_may_have_cut_off_what_it_committed(servers, database):
    async with database.session() as session:
        gone = await nodes.join(session, "north", "elsewhere", "0")
    for each in servers:
        await each.until_known(gone)
        each.seen.clear()
    await nodes.leave(database, gone)
    for each in servers:
        await each.until_seen(EverythingChanged())


async def test_facts_of_another_release_that_are_unknown_change_everything(servers, database):
    one, _ = servers
    await database.execute("select pg_notify('motorpool_changes', '[{\"type\": \"WheelsChanged\"}]')")
    await one.until_seen(EverythingChanged())


@given(st.lists(st.text(max_size=3_000), max_size=40))
def test_texts_hold_all_facts_and_are_short_enough(names):
    facts = [SessionEnded(name) for name in names]
    texts = texts_of(facts)
    assert all(len(text.encode()) <= MAX_BYTES for text in texts)
    unpacked = [fact for text in texts for fact in msgspec.json.decode(text, type=tuple[Change, ...])]
    assert len(unpacked) == len(facts)
    for fact, sent in zip(facts, unpacked, strict=True):
        assert sent == fact or (
            sent == EverythingChanged() and len(msgspec.json.encode(fact)) > MAX_BYTES - 2
        )


async def test_a_server_that_is_said_to_be_dead_is_looked_at_at_once(database, monkeypatch):
    monkeypatch.setattr(change_relay, "LOOK_SECONDS", 3600.0)
    async with database.session() as session:
        node = await nodes.join(session, "north", "here", "0")
    relay = SupervisorSpec(
        name="system",
        intensity=None,
        children=(TaskSpec(name="change_relay", factory=lambda: ChangeRelay(database)),),
    )
    async with open_system(relay) as system:
        server = Server(system)
        await server.until_known(node)
        await nodes.note_end(database, node)
        text = texts_of([ServerEnded(node)])
        await notify(database, change_relay.CHANNEL, text)
        with trio.fail_after(120):
            while node in server.living:  # noqa: ASYNC110 - a set of the test
                await trio.sleep(0.01)
        await server.until_seen(EverythingChanged())
