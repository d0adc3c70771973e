"""Checks attributes of devices, groups and the server before they are stored."""

from collections.abc import Mapping
from typing import Any

from motorpool.api.engine.call import Call
from motorpool.api.engine.camera_name_attributes import require_camera_names
from motorpool.api.engine.identity_attributes import require_identity_attributes
from motorpool.api.engine.sensor_limit_attributes import require_sensor_limits
from motorpool.api.engine.severity_attributes import require_severities


def require_usable_attributes(call: Call, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if one of them was changed to a value that cannot be used."""
    require_identity_attributes(new, old)
    require_sensor_limits(call, new, old)
    require_camera_names(new, old)
    require_severities(new, old)
