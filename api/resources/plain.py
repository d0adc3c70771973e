"""Drivers, orders and maintenance: resources that need only a declaration
(docs/http-api.md#drivers-orders-and-maintenance).
"""

from motorpool.actors.messages.changes import DriverChanged, MaintenanceChanged
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.records import Driver, Maintenance, Order

DRIVER_OPERATIONS = Operations("drivers")
ORDER_OPERATIONS = Operations("orders")
MAINTENANCE_OPERATIONS = Operations("maintenance")

DRIVERS = Resource(
    name="driver",
    path="drivers",
    change=DriverChanged,
    policy=LinkedPolicy[Driver](
        plain_tables.DRIVERS,
        links.USER_DRIVER,
        filters=(links.DEVICE_DRIVER, links.GROUP_DRIVER),
        required=("name", "unique_id"),
    ),
)
add_resource_operations(DRIVERS, DRIVER_OPERATIONS)

ORDERS = Resource(
    name="order",
    path="orders",
    policy=LinkedPolicy[Order](plain_tables.ORDERS, links.USER_ORDER, user_id_expands=True),
)
add_resource_operations(ORDERS, ORDER_OPERATIONS)


class MaintenancePolicy(LinkedPolicy[Maintenance]):
    """Refuses negative periods."""

    async def validate(self, sent: Maintenance) -> Maintenance:
        """Check that the period is not negative; 0 means never."""
        if sent.period < 0:
            raise BadRequest("period: is below 0")
        return sent


MAINTENANCE = Resource(
    name="maintenance",
    path="maintenance",
    change=MaintenanceChanged,
    policy=MaintenancePolicy(
        plain_tables.MAINTENANCE,
        links.USER_MAINTENANCE,
        filters=(links.DEVICE_MAINTENANCE, links.GROUP_MAINTENANCE),
        required=("name", "type"),
    ),
)
add_resource_operations(MAINTENANCE, MAINTENANCE_OPERATIONS)

OPERATIONS = (*DRIVER_OPERATIONS, *ORDER_OPERATIONS, *MAINTENANCE_OPERATIONS)
