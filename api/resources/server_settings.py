"""Settings that administrators change while the server runs (docs/server.md#settings-at-run-time)."""

import typing
from typing import Annotated, Any

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.http.errors import OutgoingError
from motorpool.actors.messages.changes import SettingsChanged
from motorpool.actors.words.masking import MASK
from motorpool.api.auth.openid_documents import ProviderUnavailable
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.configuration.changes import as_json as value_as_json
from motorpool.api.configuration.changes import held_elsewhere, read_changes
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import Key, sections, sentences
from motorpool.api.configuration.live import SECTIONS, From, LiveSettings, changeable
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.descriptions import describe_record
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.versions import IF_MATCH, VERSION_HEADER, require_version, with_version
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.logins.password_rules import require_proof
from motorpool.api.request_limits import count
from motorpool.api.resources.notification_tests import send_test_message
from motorpool.storage.accounts import stored_settings

OPERATIONS = Operations("server")

KINDS = {bool: "boolean", int: "integer", float: "number"}
"""Types of settings, by what values are of; lists of texts and texts beside them."""
BERLIN = 52.5163, 13.3777
"""A place that every geocoder knows: the Brandenburg Gate."""


class ChangeableSetting(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A setting, and what applies now."""

    name: str
    """Its name in the section."""
    description: str
    """What it changes, in one sentence."""
    type: str
    """boolean, integer, number, text, or list (of texts)."""
    optional: bool
    """It may be unset, by an empty text."""
    value: Any
    """What applies now; null if unset. Of a secret the mask if it is set."""
    default: Any
    """What applies if it is set nowhere."""
    unit: str
    """The unit of a number; empty without one."""
    choices: list[str]
    """The values allowed; empty if there is no list of them."""
    minimum: float | None
    """The least number."""
    maximum: float | None
    """The greatest number."""
    secret: bool
    """The value is never shown."""
    source: From
    """Where the value comes from."""
    changeable: bool
    """It can be changed here: neither it nor, of where secrets go, a secret is set in file or environment."""
    variable: str
    """Its name in the environment."""


class ChangeableSection(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A section of the configuration file."""

    name: str
    """Its name, as in the file."""
    description: str
    """What it is about."""
    testable: bool
    """`POST /server/settings/test/{section}` tries what applies now."""
    settings: list[ChangeableSetting]
    """Its settings that can be changed while the server runs."""


class SettingsAtRunTime(msgspec.Struct, frozen=True):
    """All settings that can be changed while the server runs."""

    sections: list[ChangeableSection]
    """In the order in which users read them."""


class _Proof(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    current_password: str | None = None
    """The caller's, where they have not just logged in."""


SettingsChange = msgspec.defstruct(
    "SettingsChange",
    [
        (
            section,
            Annotated[dict[str, Any], msgspec.Meta(description=describe_record(sections()[section]))],
            msgspec.field(default_factory=dict),
        )
        for section in SECTIONS
    ],
    bases=(_Proof,),
    namespace={"__doc__": "New values by section and name; null is back to the default."},
    frozen=True,
)


class TestResult(msgspec.Struct, frozen=True):
    """What came of a test."""

    __test__ = False

    result: str
    """Whom a message was sent to, the address that a geocoder found, or the page that a provider has for
    logins."""


@OPERATIONS.operation(
    "GET", "/server/settings", answers={200: Content(shape=SettingsAtRunTime, headers=VERSION_HEADER)}
)
async def get_server_settings(call: Call) -> Response:
    """The settings that can be changed while the server runs; for administrators."""
    ADMINISTER.require(call.caller)
    await call.context.live.reload(call.context.database)
    return _present(call)


@OPERATIONS.operation(
    "PUT",
    "/server/settings",
    body=SettingsChange,
    answers={200: Content(shape=SettingsAtRunTime, headers=VERSION_HEADER)},
    headers=IF_MATCH,
)
async def change_server_settings(call: Call) -> Response:
    """Change settings while the server runs; for administrators, with the password or soon after a login.

    Only what is sent is changed, all or nothing. What the file or the environment sets cannot be changed. All
    servers of the database use the new values when this is answered, or a moment later.
    """
    ADMINISTER.require(call.caller)
    body = msgspec.structs.asdict(await call.body(SettingsChange))
    password = body.pop("current_password")
    names = [f"{section}.{name}" for section, values in body.items() for name in values]
    await require_proof(call, password, names)
    live = call.context.live
    async with call.context.database.transaction() as transaction:
        stored = await stored_settings.fetch(transaction, lock=True)
        require_version(call, "settings", stored.version)
        live.use(stored)
        try:
            changes = read_changes(live, body)
        except SettingsError as error:
            raise BadRequest(str(error)) from None
        if changes:
            secret = frozenset(key.place for key in changeable().values() if key.secret)
            await stored_settings.save(transaction, changes, secret)
            changed = {"settings": [".".join(place) for place in changes]}
            await record_action(call, transaction, "edit", "settings", attributes=changed)
    if changes:
        await publish_changes(call.context.system, SettingsChanged())
    return _present(call)


@OPERATIONS.operation("POST", "/server/settings/test/{section:text}", answer=TestResult, errors=(400,))
async def test_server_settings(call: Call) -> Response:
    """Try the settings of a section as they are in use; for administrators.

    Notificators send the caller a message, the geocoder looks up a place, and the document of the OpenID
    provider is read. 400 with the reason if that fails.
    """
    ADMINISTER.require(call.caller)
    section = str(call.path["section"])
    if not _is_testable(call, section):
        raise BadRequest(f"section: there is no {section} here that can be tested"[:200])
    await count(call.context.limits.message_tests, str(call.caller.id), "tests")
    return as_json(TestResult(await _test(call, section)))


async def _test(call: Call, section: str) -> str:
    outgoing = call.context.outgoing
    if section in outgoing.notificators:
        return await send_test_message(call, section, call.caller.user, by_server=True)
    try:
        if outgoing.geocoder is not None and section == "geocoder":
            return await outgoing.geocoder.address(*BERLIN, anew=True)
        return (await call.context.logins.new_provider().discover()).authorization_endpoint
    except (OutgoingError, ProviderUnavailable) as error:
        raise BadRequest(f"{section}: {error}") from None


def _is_testable(call: Call, section: str) -> bool:
    """Return whether a section says how the server reaches another service, and is complete."""
    settings, notificators = call.context.settings, call.context.outgoing.notificators
    if section == "openid":
        return settings.openid.enabled
    if section == "geocoder":
        return settings.geocoder.type is not None
    return section in SECTIONS and section in notificators and notificators[section].enabled


def _present(call: Call) -> Response:
    live, described = call.context.live, sections()
    found = [
        ChangeableSection(
            name=section,
            description=describe_record(described[section]),
            testable=_is_testable(call, section),
            settings=[_describe(live, key) for key in changeable().values() if key.section == section],
        )
        for section in SECTIONS
    ]
    return with_version(as_json(SettingsAtRunTime(found)), live.version)


def _describe(live: LiveSettings, key: Key) -> ChangeableSetting:
    kind = key.value_kind
    value, default = live.value(key.place), live.default(key)
    shown = None if value is None else value_as_json(value)
    return ChangeableSetting(
        name=key.name,
        description=sentences()[key.place],
        type="list" if typing.get_origin(kind) is tuple else KINDS.get(kind, "text"),
        optional=key.is_optional,
        value=(MASK if shown else None) if key.secret else shown,
        default=None if key.secret or default is None else value_as_json(default),
        unit=key.unit,
        choices=list(key.choices),
        minimum=key.least,
        maximum=key.most,
        secret=key.secret,
        source=live.source(key.place),
        changeable=not held_elsewhere(live, key.place),
        variable=key.variable,
    )
