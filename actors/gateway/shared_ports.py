"""The device ports of several servers of one machine (docs/servers.md#all-cores-of-a-machine).

Connections: the ports that devices are set to are bound once, by the program that starts the servers, and all
servers accept from the same sockets. A connection that waits is not lost when one of them ends.

Datagrams: each server binds a socket of its own with SO_REUSEPORT, and the system chooses one by the address
of the sender. So all that a device sends arrives at one server as long as none starts or ends. From one
socket for all, each datagram would be read by any of them, and the device, with its state and its home, would
move with each.

Media and files of alarms: each server has ports of its own, since a terminal has to reach the server that has
asked it. The numbers are higher by the index of the server.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

import trio

from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.gateway.port_binding import bind_port
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.codecs.devices import CODECS


@dataclass(frozen=True, kw_only=True)
class SharedPorts:
    """The part of one server in the ports of its machine."""

    index: int
    """Of the server, from 0."""
    listening: Mapping[int, socket.socket] = field(default_factory=dict)
    """The sockets that all servers accept from, by port number."""
    load: ServerLoad | None = None
    """Counts the connections of devices at these ports."""
    leaving: trio.Event = field(default_factory=trio.Event)
    """Set to accept no more from them."""


def enabled_protocols(protocols: tuple[str, ...] | None) -> frozenset[str]:
    """Return the protocols to listen for, with `jt1078` for media; all where none are named.

    Raises:
        ValueError: one of them is unknown.
    """
    known = {*CODECS, "jt1078"}
    if protocols is None:
        return frozenset(known)
    if unknown := set(protocols) - known:
        raise ValueError(f"no such protocol: {', '.join(sorted(unknown))}")
    return frozenset(protocols)


def bind_shared_ports(
    settings: DeviceSettings,
    offset: int,
    protocols: tuple[str, ...] | None,
    inherited: InheritedSockets | None = None,
) -> dict[int, socket.socket]:
    """Bind the ports of devices that all servers accept from, by number; none of them listens yet.

    A socket that a service manager has opened is taken. That UDP ports are free is looked at, too.

    Raises:
        OSError: a port cannot be bound; the message names it.
        ValueError: a protocol is unknown.
    """
    bound: dict[int, socket.socket] = {}
    try:
        for name in sorted(enabled_protocols(protocols) & CODECS.keys()):
            number = CODECS[name].port + offset
            found = inherited and inherited.find(socket.SOCK_STREAM, settings.host, number)
            bound[number] = found or bind_port(name, settings.host, number, socket.SOCK_STREAM)
            if CODECS[name].udp:
                bind_port(name, settings.host, number, socket.SOCK_DGRAM).close()
    except OSError:
        for each in bound.values():
            each.close()
        raise
    return bound
