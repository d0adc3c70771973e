"""Those who ask devices from another server, by a link."""

from contextlib import asynccontextmanager

import pytest
import trio
from tests.cluster.fake_pipe import FakeNetwork
from tests.runtime.actor_testing import open_tree

from motorpool.actors.cluster.link_server import LinkServer
from motorpool.actors.devices import far_device
from motorpool.actors.messages.uplink import DEVICE
from motorpool.runtime import DynamicSpec, Link, SharedTime, TaskSpec, Whereabouts

FROM_ANYWHERE = pytest.mark.parametrize(
    "asked_from", ["here", pytest.param("another server", marks=pytest.mark.long)]
)
"""What is tested holds wherever those are who ask the device."""


class AskedFromElsewhere:
    """A device that is asked from another server what can be asked there; all else comes from here."""

    def __init__(self, here, far):
        self._here, self._far = here, far

    def __getattr__(self, name):
        return getattr(self._here, name)

    async def ask(self, message):
        is_carried = type(message) in far_device.CARRIED.messages.values()
        return await (self._far if is_carried else self._here).ask(message)


class AtFirst:
    """All devices are at home at the first server."""

    def known(self, key):
        return Whereabouts(1, 1, responds=True)

    async def locate(self, key):
        return self.known(key)

    def forget(self, key):
        pass


@asynccontextmanager
async def server_of_the_asker(system, clock):
    """A server beside that of `system`, without devices of its own; its system."""

    def linked(number):
        return Link(
            network.pipe(), number, SharedTime(clock), (far_device.CARRIED,), errors=far_device.ERRORS
        )

    def no_device_lives_here(key):
        raise AssertionError(key)

    async with trio.open_nursery() as nursery:
        network = FakeNetwork(nursery, delay=(0.0, 0.0))
        first, second = linked(1), linked(2)
        nursery.start_soon(first.serve, system)
        devices = DynamicSpec(
            kind=DEVICE,
            name="devices",
            factory=lambda key: far_device.far_device(key, second, AtFirst(), no_device_lives_here),
        )
        async with open_tree(
            devices, TaskSpec(name="link", factory=lambda: LinkServer(second)), clock=clock
        ) as asking:
            yield asking
        nursery.cancel_scope.cancel()
