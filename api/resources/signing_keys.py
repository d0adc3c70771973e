"""Rotation of the keys that sign tokens (docs/authentication.md#key-rotation); not of the specification."""

from datetime import datetime, timedelta

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import EverythingChanged
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.auth.signing_keys import new_key
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.responses import as_json
from motorpool.storage.accounts import sessions, signing_keys

OPERATIONS = Operations("server")


class SigningKeyInfo(msgspec.Struct, rename="camel"):
    """A key that signs tokens, or did."""

    id: int
    """Its number."""
    created: datetime
    """When it began to sign."""
    accepted_until: datetime | None
    """Until when it verifies tokens; null for the key that signs."""


class RotateForm(msgspec.Struct, rename="camel"):
    """What becomes of the tokens of before."""

    end_tokens: bool = False


@OPERATIONS.operation("GET", "/server/signingkeys", answer=list[SigningKeyInfo], errors=(400,))
async def list_signing_keys(call: Call) -> Response:
    """The keys by which tokens are verified, the one that signs first; for administrators."""
    ADMINISTER.require(call.caller)
    return as_json(await _listed(call))


@OPERATIONS.operation(
    "POST", "/server/signingkeys", form=RotateForm, answer=list[SigningKeyInfo], errors=(400,)
)
async def rotate_signing_keys(call: Call) -> Response:
    """Sign tokens with a new key from now on; for administrators.

    Tokens of before stay valid until they expire; with `endTokens` all of them end at once, and the sessions
    that began with one.
    """
    ADMINISTER.require(call.caller)
    ends_tokens = (await call.form(RotateForm)).end_tokens
    context = call.context
    longest = timedelta(days=context.settings.http.token_max_days)
    accepted_until = call.now if ends_tokens else call.now + longest
    async with context.database.transaction() as transaction:
        await signing_keys.rotate(transaction, new_key(), call.now, accepted_until)
        if ends_tokens:
            await sessions.delete_of_tokens(transaction)
        await record_action(call, transaction, "edit", "signingKeys", attributes={"endTokens": ends_tokens})
    await context.logins.token_keys.reload(call.now)
    if ends_tokens:
        await publish_changes(context.system, EverythingChanged())
    return as_json(await _listed(call))


async def _listed(call: Call) -> list[SigningKeyInfo]:
    found = await signing_keys.load(call.context.database, new_key, call.now)
    return [
        SigningKeyInfo(key.id, key.created, key.accepted_until)
        for key in found
        if key.accepted_until is None or key.accepted_until > call.now
    ]
