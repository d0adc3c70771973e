"""Tables of plain resources: rows that users write, visible to the users linked to them."""

from motorpool.storage.accounts import links
from motorpool.storage.database.tables import Table
from motorpool.storage.records import (
    Calendar,
    ComputedAttribute,
    Driver,
    Geofence,
    Maintenance,
    Notification,
    Order,
)

# Sort and keyword columns: docs/http-api.md#lists.
DRIVERS = Table(
    "drivers", Driver, keywords=("name", "unique_id"), access=links.access_by_link(links.USER_DRIVER)
)
ORDERS = Table(
    "orders",
    Order,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_ORDER),
)
CALENDARS = Table("calendars", Calendar, access=links.access_by_link(links.USER_CALENDAR))
GEOFENCES = Table("geofences", Geofence, access=links.access_by_link(links.USER_GEOFENCE))
MAINTENANCE = Table("maintenance", Maintenance, access=links.access_by_link(links.USER_MAINTENANCE))
COMPUTED_ATTRIBUTES = Table(
    "computed_attributes",
    ComputedAttribute,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_ATTRIBUTE),
)
NOTIFICATIONS = Table(
    "notifications",
    Notification,
    sort="description",
    keywords=("description",),
    access=links.access_by_link(links.USER_NOTIFICATION),
)
