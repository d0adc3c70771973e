"""How a server leaves its machine to the others, so that nobody notices (docs/servers.md#rolling-restart)."""

import logging
import math
from contextlib import suppress

import trio

from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage, Depart
from motorpool.actors.messages.live_stream import STREAM, IsLive
from motorpool.actors.messages.playback import PLAYBACK, GetPlaybackState
from motorpool.api.http.departure import Departure
from motorpool.runtime import ActorError, Ref, System

LEAVE_SECONDS = 60.0
"""A server has left after this time at the latest."""
SHARE, LEAST = 0.02, 10
"""Connections of devices that are closed each second: this fraction of them, and at least this number."""
LAST_SECONDS = 12.0
"""The last connections that are to be closed are by then (device_connection.py: DEPART_LIMIT_SECONDS)."""
ANSWER_SECONDS = 5.0
"""For clients to ask once more on a connection that is kept alive, and learn that it is the last time."""
LOOK_SECONDS = 0.1
"""Between two looks at streams and at requests in progress."""
PLAYBACK_SECONDS = 45.0
"""The longest time that devices stay whose recordings are played; the rest is for them to move."""

_log = logging.getLogger(__name__)


async def leave(system: System, leaving: trio.Event, loads: tuple[ServerLoad, ...], http: Departure) -> None:
    """Accept no more, send devices away little by little, wait for streams that move, answer all requests.

    `leaving` is set for the device ports, `loads` let the other servers know.
    """
    with trio.move_on_after(LEAVE_SECONDS):
        leaving.set()
        http.begun.set()
        for load in loads:
            load.leave()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send_devices_away, system)
            nursery.start_soon(trio.sleep, ANSWER_SECONDS)
        http.closing.set()
        # Both end in many places.
        while await _streaming(system) or http.in_progress():  # noqa: ASYNC110
            await trio.sleep(LOOK_SECONDS)
    _log.info("left, with %d requests in progress", http.in_progress())


async def _send_devices_away(system: System) -> None:
    """First those with live streams, which take their time to move; last those whose recordings are played,
    which do not move.
    """
    began = trio.current_time()
    keys = system.keys(CONNECTION)
    each_second = max(LEAST, math.ceil(len(keys) * SHARE))
    _log.info("%d connections are closed, %d a second", len(keys), each_second)
    staying = await _playing(system)
    departing: list[Ref[ConnectionMessage]] = []
    if streaming := await _streaming(system):
        for key in keys:
            departing += await _depart(system, [key], Depart(staying, streaming))
            if departing and len(departing) % each_second == 0 and departing[-1].key == key:
                await trio.sleep(1.0)
    gone = {each.key for each in departing}
    keys = [key for key in keys if key not in gone]
    for start in range(0, len(keys), each_second):
        departing += await _depart(system, keys[start : start + each_second], Depart(staying))
        await trio.sleep(1.0)
    if staying:
        until = began + PLAYBACK_SECONDS
        while await _playing(system) and trio.current_time() < until:  # noqa: ASYNC110 - these are asked
            await trio.sleep(1.0)
        departing += await _depart(system, system.keys(CONNECTION), Depart())
    with trio.move_on_after(LAST_SECONDS):
        while any(each.alive for each in departing):  # noqa: ASYNC110 - as in `leave`
            await trio.sleep(LOOK_SECONDS)


async def _depart(system: System, keys: list[int], message: Depart) -> list[Ref[ConnectionMessage]]:
    """Have connections close; return those that will."""
    departing = []
    for key in keys:
        connection = system.ref(CONNECTION, key)
        with suppress(ActorError):
            if connection.alive and await connection.ask(message):
                departing.append(connection)
    return departing


async def _playing(system: System) -> frozenset[int]:
    """Return the devices that send a recording."""
    playing = set()
    for key in system.keys(PLAYBACK):
        with suppress(ActorError):
            state = await system.ref(PLAYBACK, key).ask(GetPlaybackState())
            if state is not None and state.status != "ENDED":
                playing.add(key[0])
    return frozenset(playing)


async def _streaming(system: System) -> frozenset[int]:
    """Return the devices with live streams here that another server may go on with."""
    streaming = set()
    for key in system.keys(STREAM):
        with suppress(ActorError):
            if await system.ref(STREAM, key).ask(IsLive()):
                streaming.add(key[0])
    return frozenset(streaming)
