"""How a server leaves its machine to the others, so that nobody notices (docs/servers.md#rolling-restart)."""

import logging
import math
from contextlib import suppress

import trio

from motorpool.actors.gateway.machine_load import ServerLoad
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage, Depart
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
"""Between two looks at requests in progress."""

_log = logging.getLogger(__name__)


async def leave(system: System, leaving: trio.Event, loads: tuple[ServerLoad, ...], http: Departure) -> None:
    """Accept no more, send the devices away little by little, and answer all requests.

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
        while http.in_progress():  # noqa: ASYNC110 - connections end in many places
            await trio.sleep(LOOK_SECONDS)
    _log.info("left, with %d requests in progress", http.in_progress())


async def _send_devices_away(system: System) -> None:
    keys = system.keys(CONNECTION)
    each_second = max(LEAST, math.ceil(len(keys) * SHARE))
    _log.info("%d connections are closed, %d a second", len(keys), each_second)
    departing: list[Ref[ConnectionMessage]] = []
    for start in range(0, len(keys), each_second):
        for key in keys[start : start + each_second]:
            connection = system.ref(CONNECTION, key)
            with suppress(ActorError):
                if connection.alive and await connection.ask(Depart()):
                    departing.append(connection)
        await trio.sleep(1.0)
    with trio.move_on_after(LAST_SECONDS):
        while any(each.alive for each in departing):  # noqa: ASYNC110 - as in `leave`
            await trio.sleep(LOOK_SECONDS)
