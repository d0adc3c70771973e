"""Who drove which device, as users enter it by hand (docs/drivers.md#by-hand)."""

from motorpool.api.access import require_device_for_change
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import ListParameters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource, ResourcePolicy
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.history import require_history
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import may_see
from motorpool.storage.accounts import users
from motorpool.storage.database.conditions import Condition, any_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Versioned
from motorpool.storage.devices import devices, driver_assignments
from motorpool.storage.devices.driver_assignments import MOST, DriverAssignment
from motorpool.storage.plain_tables import DRIVERS

OPERATIONS = Operations("drivers")


class DriverAssignmentPolicy(ResourcePolicy[DriverAssignment]):
    """Who sees the device and the driver has access. Those who write lock the device, and then the row."""

    reads_history = True
    privileged = ("device_id", "driver_id", "start_time", "end_time")
    table = driver_assignments.TABLE
    parameters = frozenset({"all", "device_id", "driver_id", "start", "end", "limit", "offset"})

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Build the query from the filters; with `all` managers list what their users see as well."""
        READ_HISTORY.require(call.caller)
        access = self.table.access
        assert access is not None
        conditions = []
        if parameters.device_id is not None:
            await require_device_for_change(call, parameters.device_id)
            conditions.append(Condition("device_id = {0}", (parameters.device_id,)))
        if parameters.driver_id is not None:
            if not await may_see(call, DRIVERS, parameters.driver_id):
                raise BadRequest("driverId: no access to the driver")
            conditions.append(Condition("driver_id = {0}", (parameters.driver_id,)))
        if parameters.start is not None:
            conditions.append(Condition("end_time > {0}", (parameters.start,)))
        if parameters.end is not None:
            conditions.append(Condition("start_time <= {0}", (parameters.end,)))
        if not (parameters.all and call.caller.administrator):
            viewers = [call.caller.id]
            if parameters.all and call.caller.manager:
                viewers += await users.managed_by(call.context.database, call.caller.id)
            conditions.append(any_of(*map(access, viewers)))
        return ListQuery(
            conditions=tuple(conditions),
            limit=parameters.limit,
            offset=parameters.offset,
        )

    async def find(self, call: Call, record_id: int) -> Versioned[DriverAssignment] | None:
        """Return the row, for who may read the history of its device."""
        READ_HISTORY.require(call.caller)
        found = await super().find(call, record_id)
        if found is not None:
            await require_history(call, found.record.device_id)
        return found

    async def validate(self, sent: DriverAssignment) -> DriverAssignment:
        """Refuse a span that ends before it begins."""
        if sent.end_time <= sent.start_time:
            raise BadRequest("endTime: is not after startTime")
        return sent

    async def has_access(self, call: Call, queries: Queries, record_id: int) -> bool:
        """Return whether the caller sees both the device and the driver."""
        return await may_see(call, self.table, record_id, queries)

    async def lock(self, call: Call, transaction: Queries) -> Versioned[DriverAssignment] | None:
        """Lock the device, so that its spans stay apart, then the row."""
        found = await self.table.fetch(transaction, call.id)
        if found is not None:
            await devices.TABLE.fetch(transaction, found.device_id, lock=True)
        return await super().lock(call, transaction)

    async def prepare(
        self, call: Call, transaction: Queries, new: DriverAssignment, old: DriverAssignment | None
    ) -> DriverAssignment:
        """Refuse what the caller has no access to, and spans that overlap."""
        device_id = new.device_id if old is None else old.device_id
        if old is None:
            if not await may_see(call, devices.TABLE, device_id, transaction):
                raise BadRequest("deviceId: no access to the device")
            if await devices.TABLE.fetch(transaction, device_id, lock=True) is None:
                raise BadRequest("deviceId: no access to the device")
            if await driver_assignments.count(transaction, device_id) >= MOST:
                raise BadRequest(f"a device has at most {MOST} driver assignments")
        is_other = old is None or new.driver_id != old.driver_id
        if is_other and not await may_see(call, DRIVERS, new.driver_id, transaction):
            raise BadRequest("driverId: no access to it, or no such")
        others = await driver_assignments.overlapping(
            transaction, device_id, new.start_time, new.end_time, but=0 if old is None else old.id
        )
        if others:
            raise BadRequest(f"startTime, endTime: the span overlaps driver assignment {others[0].id}")
        return new

    async def insert(self, call: Call, transaction: Queries, new: DriverAssignment) -> DriverAssignment:
        """Store a new row."""
        del call
        return await self.table.insert(transaction, new)

    async def update(
        self, call: Call, transaction: Queries, new: DriverAssignment, old: DriverAssignment
    ) -> DriverAssignment | None:
        """Store the changed row."""
        del call, old
        return await self.table.update(transaction, new)

    async def delete(self, call: Call, transaction: Queries, old: DriverAssignment) -> None:
        """Delete the row."""
        del call
        await self.table.delete(transaction, old.id)


DRIVER_ASSIGNMENTS = Resource(
    name="driverAssignment",
    path="driverassignments",
    policy=DriverAssignmentPolicy(),
)
add_resource_operations(DRIVER_ASSIGNMENTS, OPERATIONS)
