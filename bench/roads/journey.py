"""A vehicle's day as a script: drives, stays, ferries and tows on its track, and which spans are stays."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import pi

from motorpool.bench.roads.conditions import Conditions, log_uniform
from motorpool.bench.roads.driving import Vehicle, drive
from motorpool.bench.roads.globe import Place, heading_of
from motorpool.bench.roads.road import CITY, Piece, Style, back, lay, length, reach
from motorpool.bench.roads.track import Sky, Track
from motorpool.bench.roads.traffic import with_canyon, with_halts, with_jam, with_tunnel
from motorpool.bench.roads.truth import Stay

DAY_SECONDS = 86_400
MIN_REACH = 350.0
"""Metres between two stays, as the crow flies: with less it is a matter of opinion whether it left at all."""
LIGHT_SECONDS = 5, 90
TUNNEL_SECONDS = 20.0, 480.0
TUNNEL_ROAD = 2000.0
"""Metres of a road that may have a tunnel."""
LONG_JAM_SHARE = 0.15
"""Of the jams, those with one halt that is long enough for a stop."""
MANOEUVRE_METRES = 70.0
"""Farthest from the middle of a yard: no two places are 150 m apart."""
ENGINE_SECONDS = 120
"""The shortest stay for which the engine is stopped, unless it idles."""
TOWED_SECONDS = 1800
"""The shortest stay in which a vehicle is towed away."""
SHIP = Vehicle(0.1, 0.1)


class Journey:
    """Grows second by second until the day is over."""

    def __init__(self, start: Place, conditions: Conditions, vehicle: Vehicle, rng: random.Random) -> None:
        self.track = Track(start)
        self.stays: list[Stay] = []
        self.rng = rng
        self._conditions = conditions
        self._vehicle = vehicle
        self._heading = rng.uniform(0.0, 2 * pi)
        self._ferry_due = rng.random() < conditions.ferries
        self._tow_due = rng.random() < conditions.tows

    @property
    def now(self) -> int:
        """The present second."""
        return self.track.last

    def until(self, hour: float) -> int:
        """Return the seconds until this hour, 0 if it is past."""
        return max(0, round(hour * 3600) - self.now)

    def road(self, metres: float, style: Style, *, top: float = 130.0) -> list[Piece]:
        """Lay a road of about this length, a long one in town at both ends; `top` is the vehicle's km/h."""
        rng = self.rng
        while True:
            if style.is_urban or metres < 4000.0:
                pieces = lay(rng, style if style.is_urban else CITY, metres, top=top)
            else:
                town = min(3000.0, 0.15 * metres)
                pieces = lay(rng, CITY, town, top=top)
                pieces += lay(rng, style, metres - 2 * town, top=top)
                pieces += lay(rng, CITY, town, top=top)
            if reach(pieces) >= MIN_REACH:
                return pieces
            metres *= 1.2

    def travel(self, metres: float, style: Style, *, top: float = 130.0) -> list[Piece]:
        """Drive a new road with what happens on the way; return it, so that the vehicle can come back."""
        pieces = self.road(metres, style, top=top)
        self.follow(pieces)
        return pieces

    def travel_back(self, pieces: Sequence[Piece]) -> None:
        """Drive a road in the other direction."""
        self.turn()
        self.follow(back(pieces))

    def turn(self) -> None:
        """Turn round where it stands."""
        self._heading += pi

    def follow(self, pieces: Sequence[Piece]) -> None:
        """Drive a road with what happens on the way."""
        rng, conditions = self.rng, self._conditions
        road = with_halts(rng, pieces, conditions.lights, LIGHT_SECONDS)
        if rng.random() < conditions.canyons:
            road = with_canyon(rng, road)
        if length(road) > TUNNEL_ROAD and rng.random() < conditions.tunnels:
            seconds = log_uniform(rng, *TUNNEL_SECONDS)
            road = with_tunnel(rng, road, seconds)
        if rng.random() < conditions.jams:
            long_halt = rng.randint(180, 290) if rng.random() < LONG_JAM_SHARE else 0
            road = with_jam(rng, road, long_halt=long_halt)
        self.drive(road)
        if self._ferry_due and 6 * 3600 < self.now < 18 * 3600:
            self._ferry_due = False
            self.ferry()

    def drive(self, pieces: Sequence[Piece]) -> None:
        """Drive a road as it is."""
        self._heading = drive(self.track, pieces, self._vehicle, self._heading)

    def halt(self, seconds: int) -> None:
        """Halt for less than a stop takes, with the engine on or, if there is time for it, off."""
        is_on = seconds < ENGINE_SECONDS / 2 or self.rng.random() < 0.5
        with self._staying("halt"):
            self._stand(seconds, engine=is_on, sky=Sky.OPEN)

    def park(self, seconds: int, kind: str = "parked") -> None:
        """Stay for a while; in a yard, a garage or a car park if it happens, perhaps towed away meanwhile."""
        rng, conditions = self.rng, self._conditions
        sky, is_on = Sky.OPEN, False
        if rng.random() < conditions.garages:
            sky, kind = Sky.COVERED, "garage"
        elif rng.random() < conditions.car_parks:
            sky = Sky.CAR_PARK
        elif seconds > 900 and rng.random() < conditions.yards:
            self._park_in_yard(seconds)
            return
        elif seconds < 3600 and rng.random() < conditions.idling:
            kind, is_on = "idle", True
        if self._tow_due and seconds > TOWED_SECONDS and not is_on:
            self._tow_due = False
            self._park_towed(seconds, sky)
            return
        with self._staying(kind):
            self._stand(seconds, engine=is_on, sky=sky)

    def wait_in_rank(self, seconds: int) -> None:
        """Stay with the engine on and creep forward now and then, less than 150 m in all."""
        rng, end, left = self.rng, self.now + seconds, 2 * MANOEUVRE_METRES
        with self._staying("rank"):
            while self.now < end:
                self._stand(min(end - self.now, rng.randint(60, 400)), engine=True, sky=Sky.OPEN)
                metres = rng.uniform(5.0, 12.0)
                if self.now < end and metres < left:
                    left -= metres
                    self.drive([Piece(metres, 1.5)])

    def work(self, seconds: int) -> None:
        """Work on a site with the engine on: move up to 40 m at a time, pause, never leave the place."""
        rng, end, middle = self.rng, self.now + seconds, self.track.place(self.now)
        with self._staying("site"):
            while self.now < end:
                pause = rng.randint(120, 1200) if rng.random() < 0.15 else rng.randint(5, 120)
                self._stand(min(end - self.now, pause), engine=True, sky=Sky.OPEN)
                if self.now < end:
                    self._manoeuvre(middle, 40.0)

    def ferry(self) -> None:
        """Wait at a pier, go on board, cross 10 to 40 km with the ignition off, and land."""
        rng, track = self.rng, self.track
        sky = Sky.COVERED if rng.random() < 0.4 else Sky.OPEN
        middle = track.place(self.now)
        with self._staying("ferry"):
            self._stand(rng.randint(600, 2400), engine=False, sky=Sky.OPEN)
            self._manoeuvre(middle, MANOEUVRE_METRES)
            self._stand(rng.randint(180, 480), engine=False, sky=sky)
        metres = rng.uniform(10_000.0, 40_000.0)
        crossing = [
            Piece(metres / 4, rng.uniform(6.0, 11.0), rng.uniform(-1e-4, 1e-4), sky=sky) for _ in range(4)
        ]
        self._heading = drive(track, crossing, SHIP, self._heading, ignition=False)
        with self._staying("ferry"):
            self._stand(rng.randint(60, 480), engine=False, sky=sky)
        self.travel(rng.uniform(1000.0, 5000.0), CITY, top=50.0)

    def tow(self, metres: float, style: Style) -> None:
        """Be brought to another place with the ignition off."""
        road = self.road(metres, style, top=80.0)
        road = with_halts(self.rng, road, self._conditions.lights, LIGHT_SECONDS)
        self._heading = drive(self.track, road, Vehicle(1.0, 1.2), self._heading, ignition=False)

    def load(self, seconds: int) -> None:
        """Drive onto a lowloader that stands beside, and wait there with the engine off."""
        with self._staying("tow"):
            self._stand(60, engine=True, sky=Sky.OPEN)
            self.drive([Piece(self.rng.uniform(15.0, 60.0), 1.5)])
            self._stand(seconds, engine=False, sky=Sky.OPEN)

    def finish(self) -> None:
        """Drop what is after the end of the day."""
        self.track.cut(DAY_SECONDS)
        self.stays = [
            Stay(stay.start, min(stay.end, DAY_SECONDS), stay.kind)
            for stay in self.stays
            if stay.start < DAY_SECONDS
        ]

    def _park_towed(self, seconds: int, sky: Sky) -> None:
        before = self.rng.randint(600, seconds - 900)
        with self._staying("tow"):
            self._stand(before, engine=False, sky=sky)
        self.tow(self.rng.uniform(3000.0, 20_000.0), CITY)
        with self._staying("tow"):
            self._stand(max(600, seconds - before), engine=False, sky=Sky.OPEN)

    def _park_in_yard(self, seconds: int) -> None:
        rng, end, middle = self.rng, self.now + seconds, self.track.place(self.now)
        with self._staying("yard"):
            self._stand(rng.randint(180, 600), engine=False, sky=Sky.OPEN)
            for _ in range(rng.randint(1, 5)):
                if self.now < end - 300:
                    self._manoeuvre(middle, MANOEUVRE_METRES)
                    self._stand(rng.randint(20, 600), engine=rng.random() < 0.5, sky=Sky.OPEN)
            self._stand(max(180, end - self.now), engine=False, sky=Sky.OPEN)

    def _manoeuvre(self, middle: Place, metres: float) -> None:
        """Drive straight to a place within `metres` of the middle."""
        rng = self.rng
        target = middle.moved(*(rng.uniform(-0.7, 0.7) * metres for _ in range(2)))
        place = self.track.place(self.now)
        self._heading = heading_of(*place.offset_to(target))
        self.drive([Piece(max(2.0, place.metres_to(target)), rng.uniform(1.0, 3.0))])

    def _stand(self, seconds: int, *, engine: bool, sky: Sky) -> None:
        """Stand with the engine on, or stop it after some seconds and start it again before the end."""
        rng, track = self.rng, self.track
        if engine or seconds < 30:
            track.stand(seconds, ignition=True, sky=sky)
            return
        after, before = rng.randint(1, 10), rng.randint(2, 20)
        track.stand(after, ignition=True, sky=sky)
        track.stand(seconds - after - before, ignition=False, sky=sky)
        track.stand(before, ignition=True, sky=sky)

    @contextmanager
    def _staying(self, kind: str) -> Iterator[None]:
        start = self.now
        yield
        self.stays.append(Stay(start, self.now, kind))
