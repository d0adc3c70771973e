"""Checks the attributes that are limits of sensors, before they are stored (docs/events.md#sensors)."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.rules.sensor_limits import (
    PREFIX,
    limit_fault,
    limited_sensors,
    parse_key,
    range_fault,
)
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest


def require_sensor_limits(call: Call, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if one of them was changed to what cannot be followed, or there are too many.

    Null and an empty text stand for none. What was stored before the quota was lowered may stay.
    """
    sensors: set[str] = set()
    for key, value in new.items():
        if not key.startswith(PREFIX) or value in (None, "") or value == old.get(key):
            continue
        if problem := limit_fault(key, value):
            raise BadRequest(f"attributes.{key}: {problem}")
        found = parse_key(key)
        assert found is not None
        sensors.add(found.sensor)
    for sensor in sorted(sensors):
        if problem := range_fault(new, sensor):
            raise BadRequest(f"attributes.{PREFIX}{sensor}.min: {problem}")
    if sensors - limited_sensors(old):
        most, count = call.context.settings.quotas.sensor_limits, len(limited_sensors(new))
        if count > most:
            raise BadRequest(
                f"attributes: limits of {count} sensors, of at most {most} (quotas.sensor_limits)"
            )
