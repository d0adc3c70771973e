"""A server that a supervisor has started, as it sees itself."""

import logging
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import trio

from motorpool.actors.gateway.machine_load import DEVICES, HTTP, MachineLoad, ServerLoad
from motorpool.actors.gateway.shared_ports import SharedPorts
from motorpool.api.nodes.control import Channel, Joined, Leave, Plan, Ready, RestartAsked, Siblings
from motorpool.api.nodes.machine import Machine
from motorpool.api.settings import Settings

_log = logging.getLogger(__name__)


class Supervised:
    """What the supervisor has given to this server, and the way back to it."""

    def __init__(self, plan: Plan, connection: socket.socket) -> None:
        self._plan = plan
        self._channel = Channel(connection)
        self.http = tuple(socket.socket(fileno=each) for each in plan.http)
        """The sockets of HTTP, which all servers of the machine accept from."""
        listening = {number: socket.socket(fileno=each) for number, each in plan.devices.items()}
        self._siblings = Siblings((), 0)
        self.machine = Machine(index=plan.index, siblings=lambda: self._siblings)
        load = MachineLoad(plan.load)
        device_load = ServerLoad(load, plan.index, DEVICES)
        self.ports = SharedPorts(index=plan.index, listening=listening, load=device_load)
        self.http_load = ServerLoad(load, plan.index, HTTP)
        self.loads = device_load, self.http_load
        """What other servers see of the connections of this one."""
        self.leave_asked = trio.Event()
        """Set to leave (`Leave`)."""
        for each in (connection, *self.http, *listening.values()):
            each.set_inheritable(False)

    def settings(self, settings: Settings) -> Settings:
        """Return the settings with what the supervisor says in place of the operator's."""
        plan = self._plan
        return replace(
            settings,
            data=Path(plan.data),
            database=plan.database,
            cluster=replace(settings.cluster, name=plan.cluster),
            node=replace(settings.node, address=plan.address, roles=plan.roles),
            device=replace(settings.device, host=plan.device_host),
            port=replace(settings.port, offset=plan.port_offset),
            protocols=plan.protocols,
        )

    async def tell_joined(self, node: int, url: str, key: str) -> None:
        """Tell the number of this server in the database, and where others reach it."""
        await self._channel.send(Joined(node, url, key))

    async def tell_ready(self) -> None:
        """Tell that this server serves devices and HTTP."""
        await self._channel.send(Ready())

    async def ask_for_restart(self) -> None:
        """Have all servers of the machine replaced."""
        await self._channel.send(RestartAsked())

    async def follow(self, on_end: Callable[[], None]) -> None:
        """Do what the supervisor says; call `on_end` once if it has ended."""
        try:
            async for message in self._channel.messages():
                if isinstance(message, Siblings):
                    self._siblings = message
                elif isinstance(message, Leave):
                    self.leave_asked.set()
        except ValueError as error:
            _log.error("the supervisor is not understood, so this process ends: %s", error)
        on_end()
