"""Groups of devices; a group's own group must not lie below it (docs/permissions.md#who-may-do-what)."""

from motorpool.actors.messages.changes import GroupChanged
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.call import Call
from motorpool.api.engine.checked_attributes import require_usable_attributes
from motorpool.api.engine.identity_attributes import SHOWN_KEYS, names_other_reporters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.engine.time_zones import DECODER_ZONE, require_time_zone
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources import quotas
from motorpool.api.resources.linked_policy import LinkedPolicy, require_no_hidden_groups
from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import groups
from motorpool.storage.records import Group

OPERATIONS = Operations("groups")

MAX_LEVELS = 50
"""Each event is compared with the notifications of all groups above its device."""


class GroupPolicy(LinkedPolicy[Group]):
    """Refuses cycles among groups."""

    audited_attributes = SHOWN_KEYS

    async def prepare(self, call: Call, transaction: Queries, new: Group, old: Group | None) -> Group:
        """Check attributes and the parent group."""
        new = await super().prepare(call, transaction, new, old)
        known = old.attributes if old is not None else {}
        require_time_zone(DECODER_ZONE, new.attributes, known)
        require_usable_attributes(call, new.attributes, known)
        if names_other_reporters(new.attributes, known):
            # Of the devices in it.
            CHANGE["device"].require(call.caller)
        if old is not None and new.group_id != old.group_id:
            await _require_no_identity(call, transaction, old.group_id, new.group_id)
        moved = old is not None and new.group_id and new.group_id != old.group_id
        if moved and await groups.would_lie_below_itself(transaction, new.id, new.group_id):
            raise BadRequest("groupId: the group would lie below itself")
        if moved and not call.caller.administrator:
            # Who sees the new parent sees the group and, one level deeper, those in it.
            await require_no_hidden_groups(call, transaction, new.id, levels=1)
        is_deeper = moved or (old is None and new.group_id)
        if is_deeper and await groups.levels(transaction, new.id, new.group_id) > MAX_LEVELS:
            raise BadRequest(f"groupId: more than {MAX_LEVELS} groups would lie one above the other")
        return new

    async def update(self, call: Call, transaction: Queries, new: Group, old: Group) -> Group | None:
        """Store; below another group its devices have what is linked to that."""
        if new.group_id in {0, old.group_id}:
            return await super().update(call, transaction, new, old)
        async with quotas.counted_devices(call, transaction, into=new.group_id, groups=[old.id]):
            return await super().update(call, transaction, new, old)

    async def delete(self, call: Call, transaction: Queries, old: Group) -> None:
        """Delete; its groups and devices are then in none."""
        await _require_no_identity(call, transaction, old.id)
        await super().delete(call, transaction, old)


async def _require_no_identity(call: Call, transaction: Queries, *group_ids: int) -> None:
    """Raise BadRequest if these groups, or those above, say who a device is, and the caller may not."""
    if call.caller.restricted_by("device_readonly") is None:
        return
    above = [each for group_id in group_ids for each in await groups.with_ancestors(transaction, group_id)]
    found = await groups.TABLE.fetch_many(transaction, above)
    if any(names_other_reporters(group.attributes, {}) for group in found):
        CHANGE["device"].require(call.caller)


GROUPS = Resource(
    name="group",
    path="groups",
    change=GroupChanged,
    policy=GroupPolicy(
        groups.TABLE,
        links.USER_GROUP,
        references={"group_id": groups.TABLE},
        user_id_expands=True,
        required=("name",),
    ),
)
add_resource_operations(GROUPS, OPERATIONS)
