"""Limits that all device ports, or all media ports, share against peers that ask too much."""

import resource
from dataclasses import dataclass, field

from motorpool.actors.gateway.peer_log import PeerLog
from motorpool.actors.gateway.traffic_log import TrafficLog
from motorpool.actors.work.connection_limits import ConnectionLimits, MemoryBudget

RESERVED_DESCRIPTORS = 1024
"""Open files that connections leave to the database, files and worker processes; at most a quarter of all."""

DEVICE_SHARE, MEDIA_SHARE, HTTP_SHARE = 5, 1, 2
"""Eighths of the rest that each kind of connection may take."""

DEVICE_MEMORY = 128 << 20
MEDIA_MEMORY = 256 << 20
"""Bytes of incomplete messages, or of incomplete frames of video, in all; one address gets half of it."""


@dataclass(frozen=True)
class PortGuard:
    """Limits of connections, memory and log lines; the defaults limit nothing but log lines."""

    connections: ConnectionLimits = field(
        default_factory=lambda: ConnectionLimits(total=1 << 30, per_client=1 << 30)
    )
    memory: MemoryBudget = field(default_factory=lambda: MemoryBudget(1 << 40, 1 << 40))
    """Memory of incomplete messages."""
    log: PeerLog = field(default_factory=PeerLog)
    traffic: TrafficLog = field(default_factory=TrafficLog)


def descriptor_share(eighths: int) -> int:
    """Return the number of connections that use `eighths` eighths of the process's limit of open files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return 1 << 30
    return (limit - min(RESERVED_DESCRIPTORS, limit // 4)) * eighths // 8


def _guard(total: int, per_client: int, memory: int) -> PortGuard:
    return PortGuard(
        ConnectionLimits(total=total, per_client=per_client, reserve=total // 10),
        MemoryBudget(memory, memory // 2),
    )


def device_guard(connections: int, per_client: int) -> PortGuard:
    """Return the guard of the ports of device protocols."""
    return _guard(min(connections, descriptor_share(DEVICE_SHARE)), per_client, DEVICE_MEMORY)


def datagram_guard(addresses: int, per_client: int) -> PortGuard:
    """Return the guard of the UDP ports: source addresses can be forged, and must not take places of TCP."""
    return _guard(addresses, per_client, DEVICE_MEMORY)


def media_guard(connections: int, per_client: int) -> PortGuard:
    """Return the guard of the media ports."""
    return _guard(min(connections, descriptor_share(MEDIA_SHARE)), per_client, MEDIA_MEMORY)
