"""Checks the attributes that say how severe events are, before they are stored (docs/events.md#severity)."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.rules.severity import PREFIX, severity_fault
from motorpool.api.http.errors import BadRequest


def require_severities(new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if one of them was changed to what is no severity. Null and an empty text are none."""
    for key, value in new.items():
        is_new = key.startswith(PREFIX) and value not in (None, "") and value != old.get(key)
        if is_new and (problem := severity_fault(key, value)):
            raise BadRequest(f"attributes.{key}: {problem}")
