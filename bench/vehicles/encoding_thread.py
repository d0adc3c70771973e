"""One thread for the cameras of a fleet: drawing and encoding must not block the vehicles."""

from datetime import datetime

import trio

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.scenery import Scenery
from motorpool.codecs.media.units import AccessUnit


class EncodingThread:
    """Encodes one picture at a time; callers wait for their turn."""

    def __init__(self) -> None:
        self._one = trio.CapacityLimiter(1)

    async def open_camera(self, vehicle: str, channel: int, video: VideoFormat) -> Camera:
        """Create a camera; only this object may use it."""
        return await trio.to_thread.run_sync(Camera, vehicle, channel, video, limiter=self._one)

    async def encode_frame(self, camera: Camera, moment: VehicleState, instant: datetime) -> list[AccessUnit]:
        """Encode one picture, and the sound since the last one."""
        return await trio.to_thread.run_sync(camera.encode_frame, moment, instant, limiter=self._one)

    async def take_photo(
        self, vehicle: str, channel: int, moment: VehicleState, instant: datetime, *, squares: bool = True
    ) -> bytes:
        """Draw a photo and encode it as JPEG."""

        def take() -> bytes:
            return Scenery(vehicle, channel, squares=squares).take_photo(moment, instant)

        return await trio.to_thread.run_sync(take, limiter=self._one)
