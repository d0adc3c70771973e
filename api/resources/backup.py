"""A backup by HTTP (docs/server.md#backup-by-http): for administrators, who give their password for it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import datetime, timedelta

import msgspec
import trio
from quart import Response

from motorpool.actors.words.file_names import content_disposition
from motorpool.actors.words.record_json import format_time
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.auth.tokens import BACKUP, InvalidToken, issue, read
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.exports.backup_archive import Manifest
from motorpool.api.exports.backup_stream import measure_files, stream_backup
from motorpool.api.http.errors import AlreadyInUse, BadRequest
from motorpool.api.http.responses import as_chunks, as_json
from motorpool.api.logins.authentication import confirm_caller
from motorpool.api.logins.password_rules import require_password
from motorpool.api.version import program_version
from motorpool.storage.errors import SetupFailed, StorageError
from motorpool.storage.postgres import dumps
from motorpool.storage.postgres.requirements import major_version
from motorpool.storage.upkeep import database_facts
from motorpool.storage.upkeep.database_facts import DatabaseFacts

OPERATIONS = Operations("server")

TICKET_SECONDS = 60
"""A backup must be fetched within this time after the password was given."""
MOST_SECONDS = 6 * 3600.0
"""A reader who takes longer is too slow: the database keeps what it would clean for as long."""
MOST_FILES = 200_000
"""Files of devices; the list of more would take too much memory of a server that runs."""
TAR = "application/x-tar"


class BackupRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The proof that it is the administrator who asks."""

    current_password: str | None = None
    """The caller's; who has none must have just logged in."""


class BackupTicket(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a backup is fetched with."""

    ticket: str
    """For `GET /server/backup`, in the session in which it was asked for."""
    expires: datetime
    """Until when the backup has to be begun."""
    database_bytes: int
    """Bytes of the database; its part of the backup is compressed."""
    files: int
    """Files of devices and of the console, each as it is."""
    file_bytes: int
    """Their bytes."""
    encryption_keys: list[str]
    """Ids of the keys that its secrets are encrypted with, which the backup does not contain."""


class BackupQuery(msgspec.Struct, frozen=True):
    """The proof that a backup was asked for."""

    ticket: str
    """Of `POST /server/backup`."""


@OPERATIONS.operation("POST", "/server/backup", body=BackupRequest, answer=BackupTicket, errors=(400, 409))
async def prepare_backup(call: Call) -> Response:
    """Prepare to fetch a backup; for administrators, who give their password, in a session of their own.

    400 says why there can be none, 409 that another one is being fetched.
    """
    ADMINISTER.require(call.caller)
    _require_own_login(call)
    sent = await call.body(BackupRequest)
    await require_password(call, sent.current_password, "fetch a backup")
    _require_free(call)
    facts = await _facts(call)
    count, size = await trio.to_thread.run_sync(measure_files, call.context.settings.data, MOST_FILES)
    if count > MOST_FILES:
        raise BadRequest(f"there are more than {MOST_FILES} files: use `motorpool backup` on the server")
    expires = call.now + timedelta(seconds=TICKET_SECONDS)
    text, token = issue(
        call.context.logins.token_keys,
        call.caller.id,
        BACKUP,
        expires,
        now=call.now,
        extra={"session": _session_of(call)},
    )
    return as_json(
        BackupTicket(
            ticket=text,
            expires=token.expires,
            database_bytes=facts.size,
            files=count,
            file_bytes=size,
            encryption_keys=list(facts.encryption_keys),
        )
    )


@OPERATIONS.operation(
    "GET",
    "/server/backup",
    query=BackupQuery,
    answers={200: Content(media_type=TAR, text="The backup, as an attachment")},
    errors=(400, 409),
)
async def fetch_backup(call: Call) -> Response:
    """Fetch a backup with the ticket of `POST /server/backup`, as `motorpool backup` makes it.

    It is sent as it is made, and holds the database and the files of devices, but not the key that secrets
    are encrypted with. One that ends early has no manifest, and is refused by `motorpool restore`.
    """
    ADMINISTER.require(call.caller)
    _require_own_login(call)
    _require_ticket(call, call.query(BackupQuery).ticket)
    name = f"motorpool-{call.now:%Y-%m-%d_%H.%M}.backup"
    response = await as_chunks(_taken(call), content_type=TAR)
    response.headers["Content-Disposition"] = content_disposition(name)
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _require_own_login(call: Call) -> None:
    """Raise BadRequest in a session as another user, or one that a token has begun: these get about."""
    caller = call.caller
    if caller.impersonator_id or caller.view_only or caller.token_expires is not None:
        raise BadRequest("log in as yourself, by password or provider, to fetch a backup", is_refusal=True)


def _session_of(call: Call) -> str:
    return call.caller.session.id if call.caller.session is not None else ""


def _require_ticket(call: Call, text: str) -> None:
    try:
        token = read(call.context.logins.token_keys, text, {BACKUP}, now=call.now)
    except InvalidToken as error:
        raise BadRequest(f"ticket: {error}; ask for the backup once more") from None
    if token.user_id != call.caller.id or token.extra.get("session") != _session_of(call):
        raise BadRequest("ticket: was given in another session")


def _require_free(call: Call) -> None:
    if not call.context.limits.backups.available_tokens:
        raise AlreadyInUse("another backup is being fetched: one is made at a time")


async def _facts(call: Call) -> DatabaseFacts:
    """Return the facts of the database. Raises BadRequest if its programs cannot dump it."""
    facts = await database_facts.fetch(call.context.database)
    try:
        own = await trio.to_thread.run_sync(dumps.program_version)
    except SetupFailed as error:
        raise BadRequest(f"no backup can be made here: {error}") from None
    if major_version(facts.server_version) > major_version(own):
        raise BadRequest(
            f"the database server is PostgreSQL {facts.server_version}, which pg_dump {own} of this release"
            " cannot read: back up with the pg_dump of that server"
        )
    return facts


async def _taken(call: Call) -> AsyncGenerator[bytes, None]:
    """Yield the backup as the only one, as long as the caller may have it; its begin and end are audited."""
    _require_free(call)
    context, taker = call.context, object()
    context.limits.backups.acquire_on_behalf_of_nowait(taker)
    size, is_audited, is_whole = 0, False, False
    began = trio.current_time()
    try:
        facts = await _facts(call)
        manifest = Manifest(
            program=program_version(),
            schema=facts.schema,
            postgres=facts.server_version,
            made=format_time(call.now),
            encryption_keys=facts.encryption_keys,
        )
        await record_action(call, context.database, "backup", "server", 1)
        is_audited = True
        server = context.database.server
        url = server.url(dumps.DATABASE) if server is not None else context.settings.database
        async with aclosing(stream_backup(url, context.settings.data, manifest)) as pieces:
            async for piece in pieces:
                if call.rights_may_have_changed:
                    await confirm_caller(call)
                    ADMINISTER.require(call.caller)
                if trio.current_time() - began > MOST_SECONDS:
                    raise TimeoutError("a backup was fetched too slowly")
                # Who leaves here may have had all of it: a piece may be a whole database.
                size += len(piece)
                yield piece
        is_whole = True
    except SetupFailed as error:
        if size:
            raise
        raise BadRequest(f"no backup can be made: {error}") from None
    finally:
        context.limits.backups.release_on_behalf_of(taker)
        if is_audited:
            with trio.CancelScope(shield=True), suppress(StorageError):
                ended = {"bytes": size, "complete": is_whole}
                await record_action(call, context.database, "backupEnd", "server", 1, attributes=ended)
