"""An event that is made up, for words that are tried before anything has happened."""

from datetime import datetime
from typing import Final

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events.matching import wanted_by
from motorpool.storage.records import (
    Device,
    Event,
    Geofence,
    Maintenance,
    Notification,
    Position,
)

EXAMPLE_PLACE: Final = "Lisboa"
_ATTRIBUTES: Final = {
    "result": "OK",
    "reason": "timeout",
    "file": "photo.jpg",
    "protocol": "gt06",
    "host": "192.0.2.7",
    "speed": 50.0,
    "speedLimit": 43.2,
    "before": 50.0,
    "after": 32.0,
    "sensor": "temp1",
    "value": 9.5,
    "limit": 8.0,
    "rule": "driving",
    "left": 900_000,
    "totalDistance": 120_000_000.0,
}


def example_facts(notification: Notification, now: datetime, link: str) -> EventFacts:
    """Return an event that the notification could be about; `link` is the URL of the console, or empty."""
    attributes = {
        **_ATTRIBUTES,
        "lastUpdate": int(now.timestamp() * 1000) - 3_600_000,
        "alarm": min(wanted_by(notification).alarms, default="sos"),
    }
    return EventFacts(
        event=Event(
            type=notification.type, event_time=now, device_id=1, severity="WARNING", attributes=attributes
        ),
        device=Device(id=1, name="Van 12"),
        position=Position(latitude=38.7223, longitude=-9.1393, speed=50.0, address="Rua Augusta 12, Lisboa"),
        geofence=Geofence(id=1, name="Depot"),
        maintenance=Maintenance(id=1, name="Oil", type="totalDistance"),
        driver="Ana Silva",
        link=f"{link}/event/0" if link else "",
    )
