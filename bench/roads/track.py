"""The true motion of a vehicle, second by second."""

from array import array
from bisect import bisect_right
from enum import IntEnum

from motorpool.bench.roads.globe import Place


class Sky(IntEnum):
    """What a receiver sees of the satellites."""

    OPEN = 0
    CANYON = 1
    """A street between high buildings: fixes drift."""
    CAR_PARK = 2
    """Beside or under a building: fixes drift."""
    COVERED = 3
    """A tunnel or a garage: no fix."""


class Track:
    """Where a vehicle is at each second of a day, from second 0 on; grows at its end."""

    def __init__(self, start: Place) -> None:
        self._latitudes = array("d", [start.latitude])
        self._longitudes = array("d", [start.longitude])
        self.speeds = array("d", [0.0])
        """Metres a second."""
        self.courses = array("d", [0.0])
        """Degrees from north, clockwise, 0 to 360; while it stands that of its arrival."""
        self.metres = array("d", [0.0])
        """Length of the path since second 0."""
        self.ignition = bytearray(1)
        self.sky = bytearray(1)

    def __len__(self) -> int:
        """Return the number of seconds, second 0 included."""
        return len(self.speeds)

    @property
    def last(self) -> int:
        """The newest second."""
        return len(self.speeds) - 1

    def place(self, second: int) -> Place:
        """Return where the vehicle is at a second."""
        return Place(self._latitudes[second], self._longitudes[second])

    def place_at(self, seconds: float) -> Place:
        """Return where it is at a time between two seconds; before the first and after the last it stands."""
        seconds = max(0.0, min(float(self.last), seconds))
        second = int(seconds)
        share = seconds - second
        if share == 0.0:
            return self.place(second)
        start, end = self.place(second), self.place(second + 1)
        east, north = start.offset_to(end)
        return start.moved(share * east, share * north)

    def move(
        self, place: Place, metres: float, speed: float, course: float, *, ignition: bool, sky: Sky
    ) -> None:
        """Add a second at whose end the vehicle is at `place`, `metres` of path further."""
        self._latitudes.append(place.latitude)
        self._longitudes.append(place.longitude)
        self.speeds.append(speed)
        self.courses.append(course)
        self.metres.append(self.metres[-1] + metres)
        self.ignition.append(ignition)
        self.sky.append(sky)

    def stand(self, seconds: int, *, ignition: bool, sky: Sky) -> None:
        """Add seconds at the present place."""
        self._latitudes.extend(array("d", [self._latitudes[-1]]) * seconds)
        self._longitudes.extend(array("d", [self._longitudes[-1]]) * seconds)
        self.speeds.extend(array("d", [0.0]) * seconds)
        self.courses.extend(array("d", [self.courses[-1]]) * seconds)
        self.metres.extend(array("d", [self.metres[-1]]) * seconds)
        self.ignition.extend(bytes([ignition]) * seconds)
        self.sky.extend(bytes([sky]) * seconds)

    def cut(self, seconds: int) -> None:
        """Drop what is after this second."""
        columns = (self._latitudes, self._longitudes, self.speeds, self.courses, self.metres)
        for column in columns:
            del column[seconds + 1 :]
        del self.ignition[seconds + 1 :]
        del self.sky[seconds + 1 :]

    def halts(self) -> list[tuple[int, int]]:
        """Return the spans in which the vehicle stands: from its arrival to its departure, in seconds."""
        found: list[tuple[int, int]] = []
        second = 0
        while second < len(self.metres) - 1:
            # The seconds with the path's present length are those at which it stands here.
            end = bisect_right(self.metres, self.metres[second], second) - 1
            if end > second:
                found.append((second, end))
            second = max(end, second) + 1
        return found
