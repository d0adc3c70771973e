import json
from dataclasses import asdict
from typing import Any

import msgspec
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, Probe, open_tree
from trio.testing import MockClock

from motorpool.runtime import ActorState, ChildSpec, DynamicSpec, Kind, KindTotals, SupervisorSpec

WRITER: Kind[None, Any] = Kind("writer")
DEVICE: Kind[int, Any] = Kind("device")


async def test_the_picture_shows_the_whole_tree_with_its_numbers(autojump_clock: MockClock) -> None:
    writer = ChildSpec(kind=WRITER, factory=Probe, mailbox_size=5)
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe())
    async with open_tree(writer, SupervisorSpec(name="fleet", children=(devices,))) as system:
        await system.ref(DEVICE, 1).tell("a")
        await system.ref(DEVICE, 1).tell(Broken("b"))
        await system.ref(DEVICE, 1).tell("waits for the restart")
        await system.ref(DEVICE, 2).tell("c")
        await system.ref(WRITER).tell("d")
        await trio.testing.wait_all_tasks_blocked()
        one = ActorState(
            path="fleet/devices/1",
            kind="device",
            state="down",
            depth=1,
            size=1000,
            handled=1,
            last_error="Broken: b",
            restarts=1,
            alive=0,
        )
        two = ActorState(path="fleet/devices/2", kind="device", state="running", size=1000, handled=1)
        devices_state = ActorState(
            path="fleet/devices",
            kind="device",
            state="running",
            depth=1,
            size=1000,
            handled=2,
            restarts=1,
            alive=1,
            children=(one, two),
        )
        fleet = ActorState(
            path="fleet",
            kind="supervisor",
            state="running",
            depth=1,
            handled=2,
            alive=1,
            children=(devices_state,),
        )
        first = ActorState(path="writer", kind="writer", state="running", size=5, handled=1)
        assert system.snapshot() == (
            ActorState(
                path="test",
                kind="supervisor",
                state="running",
                depth=1,
                handled=3,
                alive=2,
                children=(first, fleet),
            ),
        )
        assert system.totals() == [
            KindTotals(kind="writer", alive=1, depth=0, handled=1, restarts=0, given_up=0),
            KindTotals(kind="device", alive=1, depth=1, handled=2, restarts=1, given_up=0),
        ]


async def test_the_picture_is_json_and_bounded() -> None:
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe())
    async with open_tree(devices) as system:
        for key in range(50):
            await system.ref(DEVICE, key).tell("hello")
        picture = system.snapshot(limit=3)
        plain = msgspec.json.decode(msgspec.json.encode(picture))
        assert plain == json.loads(json.dumps([asdict(each) for each in picture]))
        children = plain[0]["children"][0]["children"]
        assert [each["path"] for each in children] == ["devices/0", "devices/1", "devices/2"]
        assert plain[0]["children"][0]["alive"] == 50


async def test_what_is_gone_still_counts_in_the_totals() -> None:
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe())
    async with open_tree(devices) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await system.ref(DEVICE, 1).stop()
        assert system.totals() == [
            KindTotals(kind="device", alive=0, depth=0, handled=1, restarts=0, given_up=0)
        ]
