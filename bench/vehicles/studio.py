"""One thread in which all cameras of a fleet film: drawing and encoding must not hold up the vehicles."""

from datetime import datetime

import trio

from motorpool.bench.vehicles.camera import Camera, Film
from motorpool.bench.vehicles.route import Moment
from motorpool.bench.vehicles.scenery import Scenery
from motorpool.codecs.media.units import AccessUnit


class Studio:
    """Films one picture after the other; who comes while it is busy waits in line."""

    def __init__(self) -> None:
        self._one = trio.CapacityLimiter(1)

    async def open_camera(self, vehicle: str, channel: int, film: Film) -> Camera:
        """Set up a camera; only `film_moment` of the studio may use it."""
        return await trio.to_thread.run_sync(Camera, vehicle, channel, film, limiter=self._one)

    async def film_moment(self, camera: Camera, moment: Moment, instant: datetime) -> list[AccessUnit]:
        """Film one picture of that moment."""
        return await trio.to_thread.run_sync(camera.film_moment, moment, instant, limiter=self._one)

    async def photograph(self, vehicle: str, channel: int, moment: Moment, instant: datetime) -> bytes:
        """Take a photo, as JPEG."""

        def take() -> bytes:
            return Scenery(vehicle, channel).photograph(moment, instant)

        return await trio.to_thread.run_sync(take, limiter=self._one)
