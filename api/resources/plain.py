"""Drivers, orders and maintenance: declared, and nothing more
(docs/http-api.md#drivers-orders-and-maintenance).
"""

from motorpool.api.engine.operations import Operations
from motorpool.api.engine.plain_policy import Plain
from motorpool.api.engine.resource import USUAL, Resource, serve_family
from motorpool.api.http.errors import BadRequest
from motorpool.storage import links, plain_tables
from motorpool.storage.records import Driver, Maintenance, Order

__all__ = ["OPERATIONS"]

DRIVER_OPERATIONS = Operations("drivers")
ORDER_OPERATIONS = Operations("orders")
MAINTENANCE_OPERATIONS = Operations("maintenance")

DRIVERS = Resource(
    name="driver",
    path="drivers",
    shape=Driver,
    table=plain_tables.DRIVERS,
    policy=Plain[Driver](
        plain_tables.DRIVERS,
        links.USER_DRIVER,
        device_link=links.DEVICE_DRIVER,
        group_link=links.GROUP_DRIVER,
        needed=("name", "unique_id"),
    ),
    parameters=USUAL | {"device_id", "group_id"},
)
serve_family(DRIVERS, DRIVER_OPERATIONS)

ORDERS = Resource(
    name="order",
    path="orders",
    shape=Order,
    table=plain_tables.ORDERS,
    policy=Plain[Order](plain_tables.ORDERS, links.USER_ORDER, user_id_expands=True),
    parameters=USUAL,
)
serve_family(ORDERS, ORDER_OPERATIONS)


class MaintenanceConduct(Plain[Maintenance]):
    """What is due again and again is due forwards."""

    async def check(self, sent: Maintenance) -> Maintenance:
        """Refuse a period below 0; 0 is never."""
        if sent.period < 0:
            raise BadRequest("period: is below 0")
        return sent


MAINTENANCE = Resource(
    name="maintenance",
    path="maintenance",
    shape=Maintenance,
    table=plain_tables.MAINTENANCE,
    policy=MaintenanceConduct(
        plain_tables.MAINTENANCE,
        links.USER_MAINTENANCE,
        device_link=links.DEVICE_MAINTENANCE,
        group_link=links.GROUP_MAINTENANCE,
        needed=("name", "type"),
    ),
    parameters=USUAL | {"device_id", "group_id"},
)
serve_family(MAINTENANCE, MAINTENANCE_OPERATIONS)

OPERATIONS = (*DRIVER_OPERATIONS, *ORDER_OPERATIONS, *MAINTENANCE_OPERATIONS)
