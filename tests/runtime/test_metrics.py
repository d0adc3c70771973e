from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from tests.runtime.actor_testing import Broken, Probe, open_tree
from trio.testing import MockClock

from motorpool.runtime import DynamicSpec, Kind, TopicName
from motorpool.runtime.metrics import SystemCollector

DEVICE: Kind[int, Any] = Kind("device")
POSITIONS: TopicName[int] = TopicName("positions")


async def test_metrics_are_a_few_numbers_for_each_kind_and_topic(mock_clock: MockClock) -> None:
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe(), mailbox_size=1)
    async with open_tree(devices) as system:
        registry = CollectorRegistry()
        registry.register(SystemCollector(system, "motorpool"))
        for key in range(100):
            await system.ref(DEVICE, key).tell("hello")
        await system.ref(DEVICE, 0).tell(Broken("once"))
        topic = system.topic(POSITIONS)
        topic.forward(system.ref(DEVICE, 0), str)
        topic.subscribe()
        topic.publish(1)  # waits for the restart
        topic.publish(2)  # finds no room
        lines = set(generate_latest(registry).decode().splitlines())
        assert lines >= {
            'motorpool_alive{kind="device"} 99.0',
            'motorpool_mailbox_depth{kind="device"} 1.0',
            'motorpool_handled_total{kind="device"} 100.0',
            'motorpool_restarts_total{kind="device"} 1.0',
            'motorpool_given_up_total{kind="device"} 0.0',
            'motorpool_topic_subscriptions{topic="positions"} 1.0',
            'motorpool_topic_published_total{topic="positions"} 2.0',
            'motorpool_topic_lost_total{topic="positions"} 0.0',
            'motorpool_topic_dropped_total{topic="positions"} 1.0',
            "motorpool_dead_letters_total 0.0",
        }
        assert sum(not line.startswith("#") for line in lines) == 10
