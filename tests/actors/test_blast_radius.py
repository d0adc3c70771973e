"""Crashes each actor of the whole tree, and compares what else was restarted with docs/supervision.md."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runtime.actor_testing import Broken, Probe

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.settings import FleetSettings
from motorpool.actors.tree import fleet_tree
from motorpool.api.auth.password_resets import PASSWORD_RESETS
from motorpool.codecs.devices import CODECS
from motorpool.runtime import ChildSpec, DynamicSpec, SupervisorSpec, TaskSpec, open_system

PAGE = Path(__file__).parent.parent.parent / "docs" / "supervision.md"
ROW = re.compile(r"\| `(\w+)` \| (.*?) \|")
DYNAMIC_KEY = {
    "devices": 1,
    "connections": 1,
    "streams": (1, 1),
    "snapshots": (1, 1),
    "playbacks": (1, 1),
}
"""Actors on demand that are crashed; a capture needs a stream and crashes in its own tests."""
WITNESSES = frozenset({"devices", "connections"})
"""Of the actors on demand, these stand for all: they are seen to end with what stands above them."""
POISON = "poison"
PERIOD_SECONDS = 61
"""After this a crash no longer counts."""


def documented():
    """Name -> the second cell of its row."""
    found = dict(ROW.findall(PAGE.read_text(encoding="utf-8")))
    assert found, "docs/supervision.md has no table"
    return found


def fragile(build):
    """A factory whose actors break on POISON."""

    def built(*key):
        actor = build(*key)
        kind = type(actor)

        def handle(self, message):
            if message == POISON:
                raise Broken
            return kind.handle(self, message)

        actor.__class__ = type(kind.__name__, (kind,), {"handle": handle, "__slots__": ()})
        return actor

    return built


def poisonable(spec):
    """The same tree of fragile actors."""
    if isinstance(spec, SupervisorSpec):
        return replace(spec, children=tuple(poisonable(child) for child in spec.children))
    return replace(spec, factory=fragile(spec.factory)) if spec.factory is not None else spec


def leaves(spec):
    """(name in the page, spec) of all actors, in the order of the tree."""
    if isinstance(spec, SupervisorSpec):
        return [leaf for child in spec.children for leaf in leaves(child)]
    name = spec.name if isinstance(spec, DynamicSpec) else spec.kind.name.partition(":")[0]
    return [(name, spec)]


@pytest.fixture
def whole_tree(tmp_path, free_port):
    """`whole_tree(database)`: the spec of the tree of a server, all of whose actors break on POISON."""
    codec = CODECS["osmand"]
    settings = FleetSettings(
        data=tmp_path,
        device=DeviceSettings(host="127.0.0.1"),
        port=PortSettings(offset=free_port() - codec.port),
        protocols=("osmand",),
        forward=ForwardSettings(url="http://127.0.0.1:9/"),
    )
    services = (ChildSpec(kind=PASSWORD_RESETS, factory=Probe), TaskSpec(name="http", factory=Probe))
    outgoing = OutgoingServices(
        geocoder=GeocoderSettings(type="nominatim", url="http://127.0.0.1:9/", positions=True)
    )
    record = tmp_path / "traffic"
    return lambda database: poisonable(
        fleet_tree(database, settings, outgoing=outgoing, services=services, record=record)
    )


def error_of(record):
    """The exception that a log record carries, if any."""
    return record.exc_info[1] if record.exc_info else None


class Restarts:
    """How often each actor has been started again, seen from outside."""

    def __init__(self, system, specs):
        self.system, self.specs = system, specs

    def now(self):
        """Name -> what changes when it is restarted."""
        singletons = {}

        def collect(state):
            singletons[state.path] = state.restarts
            for child in state.children:
                collect(child)

        (root,) = self.system.snapshot()
        collect(root)
        by_name = {path.rpartition("/")[2].partition(":")[0]: count for path, count in singletons.items()}
        found = {}
        for name, spec in self.specs:
            if not isinstance(spec, DynamicSpec):
                found[name] = by_name[name]
            elif name in WITNESSES:
                found[name] = self.system.count(spec.kind) == 0
        return found


async def start_witnesses(system, specs):
    """One device and one connection, as witnesses; new ones, because idle devices end."""
    for name, spec in specs:
        if name == "devices":
            if system.count(spec.kind):
                await system.ref(spec.kind, DYNAMIC_KEY[name]).stop()
            await system.start(spec.kind, DYNAMIC_KEY[name])
        if name == "connections" and not system.count(spec.kind):
            await system.start(spec.kind, DYNAMIC_KEY[name], fragile(Probe))


def test_every_actor_of_the_tree_has_its_row(whole_tree):
    assert [name for name, _ in leaves(whole_tree(None))] == list(documented())


async def test_a_crash_restarts_what_the_page_says_and_nothing_else(
    whole_tree, database, make_device, clock, time, caplog
):
    await make_device()
    tree = whole_tree(database)
    specs = leaves(tree)
    names = [name for name, _ in specs]
    rows, wrong = documented(), []
    time.hold()
    async with open_system(tree, clock=clock) as system:
        restarts = Restarts(system, specs)
        for name, spec in specs:
            if isinstance(spec, DynamicSpec) and name not in DYNAMIC_KEY:
                continue
            await start_witnesses(system, specs)
            if isinstance(spec, DynamicSpec) and name not in WITNESSES:
                await system.start(spec.kind, DYNAMIC_KEY[name])
            await time.settle()
            before = restarts.now()
            caplog.clear()
            system.ref(spec.kind, DYNAMIC_KEY.get(name)).offer(POISON)
            await time.passes(PERIOD_SECONDS, step=1)
            assert [record for record in caplog.records if isinstance(error_of(record), Broken)], name
            after = restarts.now()
            seen = {each for each in names if each in before and before[each] != after[each]}
            below = names[names.index(name) + 1 :]
            also = {"nothing": [], "on": below}.get(rows[name]) or re.findall(r"`(\w+)`", rows[name])
            expected = {each for each in also if each in before}
            if name not in DYNAMIC_KEY:
                expected.add(name)
            if seen - {name} != expected - {name} or (name not in DYNAMIC_KEY and name not in seen):
                wrong.append(f"{name}: restarted {sorted(seen)}, documented {sorted(expected)}")
        time.let_go()
    assert not wrong, "\n".join(wrong)


async def test_what_no_other_depends_on_may_crash_without_end(whole_tree, database, clock, time):
    """Far more often within a minute than any supervisor that gives up would allow."""
    tree = whole_tree(database)
    specs = leaves(tree)
    alone = [
        (name, spec)
        for name, spec in specs
        if not isinstance(spec, DynamicSpec) and documented()[name] != "on"
    ]
    assert len(alone) > 12
    time.hold()
    async with open_system(tree, clock=clock) as system:
        restarts = Restarts(system, specs)
        before = restarts.now()
        for _ in range(12):
            for _, spec in alone:
                system.ref(spec.kind).offer(POISON)
            await time.passes(31, step=1)
        after = restarts.now()
        for name, _ in alone:
            assert after[name] - before[name] >= 6, name
        untouched = [name for name, _ in specs if name in after and documented()[name] == "on"]
        assert [after[name] for name in untouched] == [before[name] for name in untouched]
        time.let_go()
