"""The address of a place (docs/server.md#health-and-diagnostics)."""

from http import HTTPStatus
from typing import Annotated, ClassVar

import msgspec
from quart import Response

from motorpool.actors.http.errors import OutgoingError
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import HttpError, Unavailable
from motorpool.api.http.responses import as_text

OPERATIONS = Operations("server")


class NoGeocoder(HttpError):
    """500: no geocoder is configured (specification, `/server/geocode`)."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR


class PlaceQuery(msgspec.Struct):
    """A place, in degrees."""

    latitude: Annotated[float, msgspec.Meta(ge=-90, le=90)]
    longitude: Annotated[float, msgspec.Meta(ge=-180, le=180)]


@OPERATIONS.operation(
    "GET",
    "/server/geocode",
    query=PlaceQuery,
    answers={200: Content(media_type="text/plain", text="The address; empty where there is none")},
    errors=(500,),
)
async def find_address(call: Call) -> Response:
    """The address of a place; 503 while the geocoder gives no answer."""
    place = call.query(PlaceQuery)
    geocoder = call.context.outgoing.geocoder
    if geocoder is None:
        raise NoGeocoder("reverse geocoding is not enabled")
    try:
        return as_text(await geocoder.address(place.latitude, place.longitude))
    except OutgoingError as error:
        raise Unavailable(str(error)) from None
