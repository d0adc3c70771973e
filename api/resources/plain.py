"""Drivers, orders and maintenance: declared, and nothing more (open-details 17)."""

from motorpool.api.engine.operations import Operations
from motorpool.api.engine.plain_policy import Plain
from motorpool.api.engine.resource import USUAL, Family, serve_family
from motorpool.api.http.errors import BadRequest
from motorpool.storage import links, plain_tables
from motorpool.storage.records import Driver, Maintenance, Order

__all__ = ["OPERATIONS"]

DRIVER_OPERATIONS = Operations("drivers")
ORDER_OPERATIONS = Operations("orders")
MAINTENANCE_OPERATIONS = Operations("maintenance")

DRIVERS = Family(
    name="driver",
    path="drivers",
    shape=Driver,
    table=plain_tables.DRIVERS,
    conduct=Plain[Driver](
        plain_tables.DRIVERS,
        links.USER_DRIVER,
        device_link=links.DEVICE_DRIVER,
        group_link=links.GROUP_DRIVER,
        needed=("name", "unique_id"),
    ),
    parameters=USUAL | {"device_id", "group_id"},
)
serve_family(DRIVERS, DRIVER_OPERATIONS)

ORDERS = Family(
    name="order",
    path="orders",
    shape=Order,
    table=plain_tables.ORDERS,
    conduct=Plain[Order](plain_tables.ORDERS, links.USER_ORDER, user_id_expands=True),
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


MAINTENANCE = Family(
    name="maintenance",
    path="maintenance",
    shape=Maintenance,
    table=plain_tables.MAINTENANCE,
    conduct=MaintenanceConduct(
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
