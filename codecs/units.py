"""Units and coordinates of device protocols (docs/protocols/common.md#units-and-times)."""

from typing import Final

from motorpool.codecs.errors import CodecError

KNOTS_PER_KMH: Final = 0.539957
KNOTS_PER_MPH: Final = 0.868976
KNOTS_PER_METRE_PER_SECOND: Final = 1.94384


def checked_coordinates(latitude: float, longitude: float) -> tuple[float, float]:
    """Return the coordinates, in degrees.

    Raises:
        CodecError: out of range, or not a number.
    """
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise CodecError("no such latitude and longitude")
    return latitude, longitude


def degrees(text: str, hemisphere: str = "") -> float:
    """Return a coordinate as degrees, south and west negative, from `ddmm.mmmm` or `dddmm.mmmm`.

    The last two digits before the point are minutes, what stands before them degrees; there may be none.

    Raises:
        CodecError: not such a text, minutes of 60 or more, or a hemisphere that is not N, S, E, W or empty.
    """
    whole, _, fraction = text.strip().partition(".")
    if (
        not whole.isascii()
        or not whole.isdigit()
        or not (fraction.isdigit() or not fraction)
        or len(text) > 20
    ):
        raise CodecError(f"{text[:20]!r} is no coordinate")
    minutes = float(f"{whole[-2:]}.{fraction or 0}")
    if minutes >= 60:
        raise CodecError(f"{text[:20]!r} has 60 minutes or more")
    value = int(whole[:-2] or 0) + minutes / 60
    match hemisphere.upper():
        case "" | "N" | "E":
            return value
        case "S" | "W":
            return -value
        case _:
            raise CodecError(f"{hemisphere[:20]!r} is no hemisphere")
