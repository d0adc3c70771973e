"""A UDP port of a device protocol: one connection actor for each address that sends (docs/decisions/0261).

Datagrams are passed on in the listener's task. Where one address or the database is slow, its datagrams wait,
and are dropped when too many do: the device sends again what was not acknowledged.
"""

import logging
import socket
from collections import OrderedDict
from typing import Never

import trio

from motorpool.actors.gateway.datagram_peer import Address, DatagramPeer
from motorpool.actors.gateway.listener import DevicePort, start_connection
from motorpool.actors.messages.counters import CONNECTIONS_REFUSED, DATAGRAMS_DROPPED, FRAMES_REJECTED
from motorpool.actors.messages.downlink import NOT_KNOWN
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Login
from motorpool.runtime import Actor

MAX_DATAGRAM_BYTES = 65_535
TURN_DATAGRAMS = 128
"""Datagrams received before other tasks run."""
IGNORED_SECONDS = 10.0
"""How long an address is ignored whose device is not known: each look-up costs a query."""
MAX_IGNORED = 10_000
"""Addresses that are ignored at the same time."""


class DatagramListener(Actor[Never]):
    """Receives the datagrams of one port."""

    def __init__(self, codec_type: type[DeviceCodec], port: DevicePort) -> None:
        self._codec_type = codec_type
        self._port = port
        self._socket: socket.socket | None = None
        self._peers: dict[Address, DatagramPeer] = {}
        self._ignored: OrderedDict[Address, float] = OrderedDict()
        """Addresses of unknown devices, with the time until which they are ignored."""

    async def start(self) -> None:
        """Bind the port. Raises OSError."""
        self._socket = self._port.open(self.context, socket.SOCK_DGRAM)

    async def run(self) -> None:
        """Receive until stopped; the peers end then too, since answers leave through the same socket."""
        assert self._socket is not None
        with self._socket as listening:
            try:
                while True:
                    await trio.lowlevel.wait_readable(listening)
                    await self._receive_turn(listening)
            finally:
                for peer in tuple(self._peers.values()):
                    peer.close("the port was closed")

    async def _receive_turn(self, listening: socket.socket) -> None:
        for _ in range(TURN_DATAGRAMS):
            try:
                datagram, address = listening.recvfrom(MAX_DATAGRAM_BYTES)
            except BlockingIOError:
                return
            except OSError as error:  # what the system reports about an earlier answer
                self.context.log.debug("cannot receive: %s", error.strerror or error)
                return
            peer = self._peers.get(address)
            if peer is not None:
                peer.received(datagram)
            elif datagram:
                await self._admit(listening, datagram, address)

    async def _admit(self, listening: socket.socket, datagram: bytes, address: Address) -> None:
        """Serve a new address, if its datagram names a device and there is room."""
        context, port, host = self.context, self._port, address[0]
        now = context.clock.monotonic()
        if self._is_ignored(address, now):
            DATAGRAMS_DROPPED.labels(port.name).inc()
            return
        if not self._names_a_device(datagram):
            FRAMES_REJECTED.labels(port.name).inc()
            text = "dropped a datagram from %s that names no device: %s"
            port.guard.log.write(context.log, logging.INFO, now, host, text, host, datagram[:64].hex())
            return
        refusal = port.guard.connections.admit(host)
        if refusal:
            CONNECTIONS_REFUSED.labels(port.name).inc()
            text = "refused datagrams from %s: %s"
            port.guard.log.write(context.log, logging.WARNING, now, host, text, host, refusal)
            return
        peer = DatagramPeer(listening, address, port.name, port.guard, self._forget)
        self._peers[address] = peer
        peer.received(datagram)
        await start_connection(context.system, port, peer)

    def _names_a_device(self, datagram: bytes) -> bool:
        """Whether the datagram holds an identity: an actor is not started for noise."""
        try:
            reports = self._codec_type().receive_datagram(datagram)
        except CodecError:
            return False
        return any(isinstance(report, Login) for report in reports)

    def _is_ignored(self, address: Address, now: float) -> bool:
        ignored = self._ignored
        while ignored and next(iter(ignored.values())) <= now:
            ignored.popitem(last=False)
        return address in ignored

    def _forget(self, peer: DatagramPeer) -> None:
        self._peers.pop(peer.address, None)
        self._port.guard.connections.release(peer.peer)
        if peer.reason == NOT_KNOWN and len(self._ignored) < MAX_IGNORED:
            self._ignored[peer.address] = self.context.clock.monotonic() + IGNORED_SECONDS
