"""Share links: a temporary user who sees one device or group, and a token for that user
(docs/devices.md#sharing).
"""

import hashlib
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import LinkChanged, UserChanged
from motorpool.api.access import require_device_for_change
from motorpool.api.auth.rights import CREATE_GUESTS, SHARE_OBJECTS
from motorpool.api.auth.tokens import SHARE, issue
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, Forbidden
from motorpool.api.http.responses import as_text
from motorpool.api.resources.credentials import issued_token
from motorpool.api.resources.linked_policy import may_see, require_no_hidden_groups
from motorpool.storage.accounts import links, tokens, users
from motorpool.storage.accounts.links import USER_DEVICE, USER_GROUP, LinkType
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import User

OPERATIONS = Operations("share")

MAX_EMAIL_LENGTH = 128

Expiration = Annotated[datetime, msgspec.Meta(tz=True)]
TOKEN = Content(media_type="text/plain", text="A token for `GET /session?token=`, the socket, or as Bearer")


class ShareDeviceForm(msgspec.Struct, rename="camel"):
    """Which device, and until when."""

    device_id: Id
    expiration: Expiration


class ShareGroupForm(msgspec.Struct, rename="camel"):
    """Which group, and until when."""

    group_id: Id
    expiration: Expiration


@OPERATIONS.operation("POST", "/share/device", form=ShareDeviceForm, answers={200: TOKEN}, errors=(403,))
async def share_device(call: Call) -> Response:
    """Issue a token that shows one device until the expiration."""
    _check_may_share(call)
    form = await call.form(ShareDeviceForm)
    await require_device_for_change(call, form.device_id)
    device = await devices.TABLE.fetch(call.context.database, form.device_id)
    if device is None:
        raise BadRequest("deviceId: no access to the device")
    token = await _share(
        call,
        USER_DEVICE,
        device.id,
        device.name,
        f"{call.caller.user.email}:{device.unique_id}",
        form.expiration,
    )
    return as_text(token)


@OPERATIONS.operation("POST", "/share/group", form=ShareGroupForm, answers={200: TOKEN}, errors=(403,))
async def share_group(call: Call) -> Response:
    """Issue a token that shows the devices of a group, whichever these are, until the expiration."""
    _check_may_share(call)
    form = await call.form(ShareGroupForm)
    group = await groups.TABLE.fetch(call.context.database, form.group_id)
    if group is None or not await may_see(call, groups.TABLE, form.group_id):
        raise BadRequest("groupId: no access to the group")
    if not call.caller.administrator:
        await require_no_hidden_groups(call, call.context.database, group.id, levels=2)
    token = await _share(
        call, USER_GROUP, group.id, group.name, f"{call.caller.user.email}:group:{group.id}", form.expiration
    )
    return as_text(token)


def _check_may_share(call: Call) -> None:
    if call.context.server.attributes.get("disableShare") is True:
        raise Forbidden("sharing is switched off on this server")
    SHARE_OBJECTS.require(call.caller)
    CREATE_GUESTS.require(call.caller)


async def _share(
    call: Call, pair: LinkType, object_id: int, name: str, email: str, requested: datetime
) -> str:
    """Create or reuse the temporary user of this owner and object; each token has its own expiration."""
    expires = _expiration(call, requested)
    async with call.context.database.transaction() as transaction:
        # Serializes parallel shares of the same object, so that the second finds the user of the first.
        await users.lock_name(transaction, _short(email))
        guest = await _guest(call, transaction, pair, object_id, name, _short(email), expires)
        await users.set_sharer(transaction, guest.id, call.caller.id)
        await links.add(transaction, pair, guest.id, object_id)
        by = {"by": str(call.caller.id)}
        if call.caller.impersonator_id:
            by["actor"] = str(call.caller.impersonator_id)
        text, token = issue(
            call.context.logins.token_keys,
            guest.id,
            SHARE,
            expires,
            now=call.now,
            extra=by,
        )
        await tokens.add(transaction, issued_token(token, call.caller), call.now)
        await record_action(
            call,
            transaction,
            "create",
            "share",
            guest.id,
            attributes={pair.keys[1]: object_id, "expiration": expires.isoformat()},
        )
    await publish_changes(
        call.context.system,
        UserChanged(guest.id, "updated"),
        LinkChanged(pair.owner, guest.id, pair.property, object_id),
    )
    return text


def _expiration(call: Call, requested: datetime) -> datetime:
    """Limit the expiration to the caller's, to their token's, and to the longest of the settings."""
    longest = call.now + timedelta(days=call.context.settings.http.token_max_days)
    ends = (call.caller.account_expires, call.caller.token_expires, longest)
    caps = [end for end in ends if end is not None]
    expires = min([requested, *caps]).replace(microsecond=0)
    if expires <= call.now:
        raise BadRequest("expiration: lies in the past")
    return expires


async def _guest(
    call: Call, transaction: Queries, pair: LinkType, object_id: int, name: str, email: str, expires: datetime
) -> User:
    caller, defaults, shared = call.caller, call.context.server, call.context.settings.share
    # By name, for a new user as well as an existing one.
    fields: dict[str, Any] = {
        "name": name,
        "expiration_time": expires,
        "readonly": True,
        "limit_commands": caller.limit_commands or defaults.limit_commands or not shared.commands,
        "disable_reports": caller.disable_reports or defaults.disable_reports or not shared.reports,
        "fixed_email": True,
    }
    found = await users.by_email(transaction, email, lock=True)
    if found is not None and await _is_guest_of(call, transaction, found, pair, object_id):
        if found.expiration_time is not None:
            fields["expiration_time"] = max(expires, found.expiration_time)
        kept = await users.TABLE.update(transaction, msgspec.structs.replace(found, **fields))
        assert kept is not None
        return kept
    if found is not None:
        # The name is taken, or an object was renamed to the former name of another.
        digest = hashlib.sha256(f"{email} {pair.table} {object_id} {call.caller.id} {call.now}".encode())
        email = f"{email[: MAX_EMAIL_LENGTH - 33]}:{digest.hexdigest()[:32]}"
    return await users.TABLE.insert(transaction, User(email=email, temporary=True, **fields))


async def _is_guest_of(call: Call, transaction: Queries, user: User, pair: LinkType, object_id: int) -> bool:
    """Return whether this user was created by sharing this object and sees nothing else."""
    account = (await users.accounts(transaction, [user.id]))[user.id]
    if not user.temporary or user.disabled or account.password_hash is not None:
        return False
    if account.shared_by not in (0, call.caller.id):
        return False
    seen = {each: await links.properties(transaction, each, user.id) for each in (USER_DEVICE, USER_GROUP)}
    return seen.pop(pair) == [object_id] and not any(seen.values())


def _short(email: str) -> str:
    """Return the address, shortened with a digest if it is too long for its column."""
    if len(email) <= MAX_EMAIL_LENGTH:
        return email
    return f"{email[: MAX_EMAIL_LENGTH - 33]}:{hashlib.sha256(email.encode()).hexdigest()[:32]}"
