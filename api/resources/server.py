"""The server: settings, health, time zones, and diagnostics for administrators (docs/server.md)."""

import gc
from contextlib import suppress
from functools import cache
from typing import Any
from zoneinfo import available_timezones

import msgspec
import trio
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.files.disk_space import disk_space
from motorpool.actors.messages.changes import ServerChanged, changed_fields
from motorpool.actors.words.masking import restore_secrets
from motorpool.actors.words.record_json import encode
from motorpool.actors.work.stored_calendars import TIME_ZONE, ZONE_FIELDS
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.audit import changed_attributes, privileged_values, record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.checked_attributes import require_usable_attributes
from motorpool.api.engine.identity_attributes import SHOWN_KEYS
from motorpool.api.engine.operations import BodyRules, Content, Operations
from motorpool.api.engine.text_rules import TextRules, require_plain_texts
from motorpool.api.engine.time_zones import DECODER_ZONE, require_time_zone
from motorpool.api.engine.versions import IF_MATCH, VERSION_HEADER, require_version, with_version
from motorpool.api.http.errors import BadRequest, HttpError
from motorpool.api.http.responses import as_bytes, as_json, as_text
from motorpool.api.json import extended
from motorpool.api.stored_server import EncodedServer
from motorpool.api.version import INTERFACE
from motorpool.codecs.devices import CODECS
from motorpool.storage.accounts import server
from motorpool.storage.errors import NoAnswer, StorageError, StorageUnavailable
from motorpool.storage.records import ServerSettings
from motorpool.storage.schedules import scheduled_commands

OPERATIONS = Operations("server")

HEALTH_SECONDS = 5.0
SERVER_ID = 1
ZONE_KEYS = (TIME_ZONE, DECODER_ZONE)
"""Attributes that name time zones."""


class HealthCheckFailed(HttpError):
    """500: the health check failed."""


class Server(ServerSettings, frozen=True, rename="camel"):
    """The settings and what the server tells of itself; the latter is ignored in a body."""

    version: str = INTERFACE
    """Release of this interface."""
    open_id_enabled: bool = False
    """There is an OpenID Connect provider."""
    open_id_force: bool = False
    """Users cannot log in by password."""
    email_enabled: bool = False
    """Mail can be sent."""
    text_enabled: bool = False
    """Text messages can be sent."""
    geocoder_enabled: bool = False
    """Addresses can be looked up."""
    new_server: bool = False
    """True for anonymous clients until there has been a user: the client opens its registration page."""
    storage_space: list[int] | None = None
    """Free and total bytes of the data's volume; for administrators."""


@OPERATIONS.operation(
    "GET", "/server", answers={200: Content(shape=Server, headers=VERSION_HEADER)}, public=True
)
async def get_server(call: Call) -> Response:
    """The server's settings."""
    if call.context.stored_server.is_stale:
        await call.context.stored_server.reload()
    return await _present(call, call.context.server, call.context.stored_server.version)


PRIVILEGED = (
    "registration",
    "readonly",
    "device_readonly",
    "limit_commands",
    "disable_reports",
    "fixed_email",
    "force_settings",
)
"""Fields whose values before and after a change are audited."""

DERIVED_FIELDS = tuple(
    name for name in Server.__struct_fields__ if name not in ServerSettings.__struct_fields__
)


@OPERATIONS.operation(
    "PUT",
    "/server",
    body=Server,
    body_rules=BodyRules(ignored=DERIVED_FIELDS),
    answers={200: Content(shape=Server, headers=VERSION_HEADER)},
    headers=IF_MATCH,
)
async def update_server(call: Call) -> Response:
    """Replace the server's settings; for administrators."""
    ADMINISTER.require(call.caller)
    sent = TextRules().trimmed(await call.body(Server))
    if sent.id not in {0, SERVER_ID}:
        raise BadRequest("id: is not the server's")
    async with call.context.database.transaction() as transaction:
        known, version = await server.fetch_versioned(transaction, lock=True)
        require_version(call, f"server {SERVER_ID}", version)
        for key in ZONE_KEYS:
            require_time_zone(key, sent.attributes, known.attributes)
        wanted = restore_secrets(sent, known)
        require_plain_texts(wanted, known)
        require_usable_attributes(call, wanted.attributes, known.attributes)
        stored = await server.save(transaction, wanted)
        fields = changed_fields(known, stored)
        if not ZONE_FIELDS.isdisjoint(fields):
            # The windows of calendars without a time zone have changed (docs/decisions/0028).
            await scheduled_commands.WATCHED.restart_calendar(transaction, None, call.now)
        await record_action(
            call,
            transaction,
            "edit",
            "server",
            SERVER_ID,
            attributes=privileged_values(PRIVILEGED, known, stored)
            | changed_attributes(SHOWN_KEYS, known, stored),
        )
    await publish_changes(call.context.system, ServerChanged(fields))
    await call.context.stored_server.reload()
    return await _present(call, stored, version + 1)


async def _present(call: Call, settings: ServerSettings, version: int) -> Response:
    space = None
    if call.optional_caller is not None and call.optional_caller.administrator:
        # With an external database the folder may not exist.
        with suppress(OSError):
            space = list(disk_space(call.context.settings.data))
    derived = {
        "open_id_enabled": call.context.logins.openid is not None,
        "open_id_force": call.context.settings.openid.forced,
        "email_enabled": call.context.outgoing.mail.enabled,
        "text_enabled": call.context.outgoing.sms.enabled,
        "geocoder_enabled": call.context.outgoing.geocoder is not None,
        "new_server": call.optional_caller is None and not await server.is_initialised(call.context.database),
        "storage_space": space,
    }
    encoded = call.context.stored_server.encoded
    if encoded is None or encoded.settings is not settings or encoded.derived != derived:
        encoded = EncodedServer(settings, derived, encode(extended(Server, settings, **derived)))
        call.context.stored_server.encoded = encoded
    return with_version(as_bytes(encoded.json, "application/json"), version)


@OPERATIONS.operation(
    "GET", "/health", answers={200: Content(media_type="text/plain", text="OK")}, errors=(500,), public=True
)
async def get_health(call: Call) -> Response:
    """200 while the server and its database work, else 500 with the reason.

    It fails before the disk is full, and while positions cannot be stored.
    """
    if call.context.lifetime.closing.is_set():
        raise HealthCheckFailed("the server is stopping")
    failing = [each.text for each in call.context.system.conditions if each.kind.fails_health]
    if not failing:
        try:
            with trio.fail_after(HEALTH_SECONDS):
                await call.context.database.check()
        except StorageUnavailable as error:
            failing = [error.text]
        except (StorageError, trio.TooSlowError):
            failing = [NoAnswer.text]
    if failing:
        raise HealthCheckFailed("; ".join(failing))
    return as_text("OK")


@OPERATIONS.operation("GET", "/server/timezones", answer=list[str])
async def list_timezones(call: Call) -> Response:
    """The names of all time zones."""
    del call
    return as_json(_timezones())


@cache
def _timezones() -> list[str]:
    return sorted(available_timezones())


class Protocol(msgspec.Struct, frozen=True, rename="camel"):
    """How devices of one protocol reach this server."""

    name: str
    """As in the setting `protocols` and in positions."""
    transport: str
    """tcp, or http for devices that send requests."""
    udp: bool
    """The port takes datagrams as well."""
    port: int
    """Number of the port, with `public.port_offset`, else `port.offset`."""
    identity: str
    """What a `uniqueId` is: phone (a telephone number of up to 20 digits) or text."""
    enabled: bool
    """This server listens on the port."""
    host: str | None
    """The setting `public.host`; null: devices use the host of the console."""
    models: list[str]
    """Values of the `model` of a device with which its messages are read or written differently."""


@OPERATIONS.operation("GET", "/server/protocols", answer=list[Protocol])
async def list_protocols(call: Call) -> Response:
    """The protocols that devices speak, and the ports that they connect to."""
    settings = call.context.settings
    offset = settings.public.port_offset
    if offset is None:
        offset = settings.port.offset
    listed = [
        Protocol(
            name=name,
            transport=codec.transport,
            udp=codec.udp,
            port=codec.port + offset,
            identity=codec.identity,
            enabled=settings.protocols is None or name in settings.protocols,
            host=settings.public.host,
            models=list(codec.models),
        )
        for name, codec in sorted(CODECS.items())
    ]
    return as_json(listed)


@OPERATIONS.operation(
    "GET", "/server/gc", answers={200: Content(media_type="text/plain")}, errors=(400,), changes=True
)
async def collect_garbage(call: Call) -> Response:
    """Run a garbage collection; for administrators."""
    ADMINISTER.require(call.caller)
    return as_text(f"{gc.collect()} objects collected")


@OPERATIONS.operation("GET", "/server/actors", answer=list[dict[str, Any]])
async def list_actors(call: Call) -> Response:
    """The live tree of actors: paths, mailboxes, restarts, last errors; for administrators."""
    ADMINISTER.require(call.caller)
    tree = call.context.system.snapshot()
    return as_bytes(msgspec.json.encode(tree), "application/json")
