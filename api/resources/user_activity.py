"""How much users see, and when they were here (docs/users.md#activity). Not part of the specification."""

from datetime import datetime

import msgspec
from quart import Response

from motorpool.api.auth.rights import LIST_USERS
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.storage.accounts import users
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.tables import ListQuery

OPERATIONS = Operations("users")

MAX_USERS = 200


class UserActivity(msgspec.Struct, frozen=True, rename="camel"):
    """How much a user sees, and when they were here."""

    user_id: int
    devices: int
    """How many devices they see, by links to them or to groups."""
    last_login: datetime | None
    """When they last logged in with a password, a provider or a token; null if that is not known."""
    sessions: int
    """Their sessions that have not ended, without those of others as them."""


class ActivityQuery(msgspec.Struct):
    """Which users' activity to list."""

    id: tuple[Id, ...]
    """These users, at most 200."""


@OPERATIONS.operation("GET", "/users/activity", query=ActivityQuery, answer=list[UserActivity], errors=(400,))
async def list_activity(call: Call) -> Response:
    """How many devices users see, and when they were here; others than the caller's users are left out."""
    LIST_USERS.require(call.caller)
    wanted = sorted(set(call.query(ActivityQuery).id))
    if len(wanted) > MAX_USERS:
        raise BadRequest(f"id: at most {MAX_USERS} users")
    if not call.caller.administrator:
        query = ListQuery(
            accessible_to=call.caller.id, conditions=(Condition("id = any({0}::bigint[])", (wanted,)),)
        )
        wanted = sorted(await users.TABLE.ids(call.context.database, query))
    async with call.turn:
        found = await users.activities(call.context.database, wanted, call.now)
    return as_json([extended(UserActivity, each) for each in found])
