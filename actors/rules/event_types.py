"""What can happen to a device: the types of events (docs/events.md)."""

__all__ = ["EVENT_TYPES"]

EVENT_TYPES = (
    "commandResult",
    "deviceOnline",
    "deviceUnknown",
    "deviceOffline",
    "deviceInactive",
    "queuedCommandSent",
    "queuedCommandFailed",
    "deviceMoving",
    "deviceStopped",
    "deviceOverspeed",
    "deviceFuelDrop",
    "deviceFuelIncrease",
    "geofenceEnter",
    "geofenceExit",
    "geofenceCrossed",
    "proximityEnter",
    "proximityExit",
    "unaccompaniedMotion",
    "alarm",
    "ignitionOn",
    "ignitionOff",
    "maintenance",
    "driverChanged",
    "media",
)
