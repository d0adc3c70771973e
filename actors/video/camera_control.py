"""Starts and stops the camera of one channel for the readers of its live stream."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.messages.uplink import DEVICE, CommandSent, SendCommand
from motorpool.codecs.numbers import whole_number
from motorpool.runtime import ActorError
from motorpool.runtime.actor import Context
from motorpool.storage.errors import StorageError


def requested_channel(attributes: Mapping[str, Any]) -> int:
    """Return the camera channel that a video command names: `channel`, else `index`, else 1
    (docs/decisions/0023).
    """
    for key in ("channel", "index"):
        if attributes.get(key) is not None:
            number = whole_number(attributes[key])
            return number if number is not None else 1
    return 1


class CameraControl:
    """Whether a start was sent to the device, and the commands that start and stop it."""

    def __init__(self, context: Context[Any], device_id: int, channel: int, start_seconds: float) -> None:
        """`start_seconds` is how long the device may take from the command to its first media."""
        self._context = context
        self._device_id = device_id
        self._channel = channel
        self._start_seconds = start_seconds
        self.started_at: float | None = None
        """When the last start was sent to the device, in monotonic seconds; None once a stop was sent."""
        self.close_at: float | None = None
        """When the media connection is closed if the device does not close it; monotonic seconds."""
        self.is_held = False
        """By `videoStart`, until `videoStop`."""

    @property
    def is_starting(self) -> bool:
        """Whether a start was sent so recently that media may still arrive."""
        started_at = self.started_at
        if started_at is None:
            return False
        return self._context.clock.monotonic() - started_at < self._start_seconds

    def note_started(self) -> None:
        """Note that a start was sent to the device, by this stream or otherwise."""
        self.started_at = self._context.clock.monotonic()
        self.close_at = None

    def note_stopped(self) -> None:
        """Note that a stop was sent to the device, or that it has gone."""
        self.started_at = None

    async def start(self) -> bool:
        """Send a start to the device; return whether it was sent, as the device may refuse or be offline."""
        if not await self._send("videoStart"):
            return False
        self.note_started()
        return True

    async def stop(self) -> None:
        """Tell the device to stop."""
        self.note_stopped()
        await self._send("videoStop")

    async def _send(self, kind: str) -> bool:
        device = self._context.system.ref(DEVICE, self._device_id)
        command = SendCommand(type=kind, attributes={"channel": self._channel}, no_queue=True, by_reader=True)
        try:
            outcome = await device.ask(command)
        except (ActorError, StorageError) as error:
            self._context.log.warning("%s: the device does not answer: %s", kind, error)
            return False
        return isinstance(outcome, CommandSent)
