"""Audit rows: who did what, from where (docs/server.md#audit)."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import trio

from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operation
from motorpool.api.http.errors import HttpError, Unauthorized
from motorpool.api.json import camel
from motorpool.storage.accounts import audit
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageError
from motorpool.storage.records import AuditAction, User

_log = logging.getLogger(__name__)


def privileged_values(
    fields: Iterable[str], old: msgspec.Struct | None, new: msgspec.Struct | None
) -> dict[str, Any]:
    """Return for an audit row the privileged fields that a change affects, with their values.

    Of an update those that differ, as `{"before": …, "after": …}`; of a new or deleted record those that are
    not at their default, with one of the two.
    """
    found: dict[str, Any] = {}
    for name in fields:
        if old is not None and new is not None:
            before, after = getattr(old, name), getattr(new, name)
            if before != after:
                found[camel(name)] = {"before": before, "after": after}
        elif (present := new if new is not None else old) is not None:
            value = getattr(present, name)
            if value not in {None, False, ""}:
                found[camel(name)] = {"before" if new is None else "after": value}
    return found


def changed_attributes(
    keys: Iterable[str], old: msgspec.Struct | None, new: msgspec.Struct | None
) -> dict[str, Any]:
    """Return the attributes that differ, with their values before and after, for an audit row."""
    before, after = getattr(old, "attributes", {}), getattr(new, "attributes", {})
    return {
        f"attributes.{key}": {
            when: held[key] for when, held in (("before", before), ("after", after)) if key in held
        }
        for key in keys
        if before.get(key) != after.get(key)
    }


async def record_action(
    call: Call,
    queries: Queries,
    action: str,
    object_type: str | None = None,
    object_id: int = 0,
    *,
    user: User | None = None,
    impersonator_id: int = 0,
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Write an audit row, in the transaction of `queries` if it is one.

    `user` acts, by default the caller; with `user`, `impersonator_id` is who acts as that user. What is done
    in a session as another user names who acts.
    """
    caller = call.optional_caller
    who = user or (caller.user if caller else None)
    if user is None and caller is not None:
        impersonator_id = caller.impersonator_id
    written = dict(attributes or {})
    if impersonator_id:
        written["impersonatorId"] = impersonator_id
    await audit.record(
        queries,
        AuditAction(
            action_time=call.now,
            address=call.address,
            user_id=who.id if who else 0,
            action_type=action,
            object_type=object_type,
            object_id=object_id,
            attributes=written,
        ),
    )


async def record_refusal(call: Call, operation: Operation, error: HttpError) -> None:
    """Write that a request failed, if who sent it is known and was refused a right or access.

    There is one row for each user, operation and hour, however many there are.
    """
    caller = call.optional_caller
    refuses_role = isinstance(error, Unauthorized) and not operation.public
    if caller is None or not (error.is_refusal or call.was_denied or refuses_role):
        return
    name = f"{operation.method} {operation.plain_path}"
    count = call.context.limits.refusals.hit(call.now, caller.id, name)
    if not count:
        return
    number = call.path.get("id", call.path.get("deviceId"))
    attributes = {"operation": name, "status": int(error.status), "reason": error.text}
    if caller.impersonator_id:
        attributes["impersonatorId"] = caller.impersonator_id
    action = AuditAction(
        action_time=call.now,
        address=call.address,
        user_id=caller.id,
        object_id=number if isinstance(number, int) and number < 1 << 63 else 0,
        attributes=attributes,
    )
    # A client that disconnects is refused all the same.
    with trio.CancelScope(shield=True):
        try:
            await audit.record_refusals(call.context.database, action, count)
        except StorageError as failure:
            _log.warning("the refusal of %s to user %d is not audited: %s", name, caller.id, failure)
