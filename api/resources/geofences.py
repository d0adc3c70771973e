"""Geofences: areas in well-known text, validated before they are stored (docs/geofences.md)."""

from functools import partial

import trio

from motorpool.actors.messages.changes import GeofenceChanged
from motorpool.actors.rules.area import MAX_SAVED_LENGTH, MAX_SAVED_POINTS, read_area
from motorpool.actors.rules.area_shapes import AreaError
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.records import Geofence

OPERATIONS = Operations("geofences")

NUMBERS = ("polylineDistance", "floor", "ceiling", "speedLimit")
"""Attributes that must be numbers: metres, and knots for the last."""
NOT_NEGATIVE = frozenset({"polylineDistance", "speedLimit"})
SHORT = 2000
"""Characters; longer areas are parsed in a thread."""


class GeofencePolicy(LinkedPolicy[Geofence]):
    """Refuses areas and attributes that could not be evaluated."""

    async def validate(self, sent: Geofence) -> Geofence:
        """Refuse an invalid area, and attributes that are not numbers but must be."""
        if len(sent.area) > MAX_SAVED_LENGTH:
            raise BadRequest(f"area: longer than {MAX_SAVED_LENGTH} characters")
        read = partial(read_area, sent.area, most_points=MAX_SAVED_POINTS)
        try:
            if len(sent.area) <= SHORT:
                read()
            else:
                await trio.to_thread.run_sync(read)
        except AreaError as error:
            raise BadRequest(f"area: {error}") from None
        for name in NUMBERS:
            value = sent.attributes.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise BadRequest(f"attributes.{name}: not a number")
            if value is not None and value < 0 and name in NOT_NEGATIVE:
                raise BadRequest(f"attributes.{name}: below 0")
        return sent


GEOFENCES = Resource(
    name="geofence",
    path="geofences",
    change=GeofenceChanged,
    policy=GeofencePolicy(
        plain_tables.GEOFENCES,
        links.USER_GEOFENCE,
        filters=(links.DEVICE_GEOFENCE, links.GROUP_GEOFENCE),
        references={"calendar_id": plain_tables.CALENDARS},
        required=("name", "area"),
        verbatim=("area",),
    ),
)
add_resource_operations(GEOFENCES, OPERATIONS)
