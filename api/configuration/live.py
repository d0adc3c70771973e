"""The settings in use: those of the file and the environment, and below them those that the database holds
(docs/server.md#settings-at-run-time).

What reads `LiveSettings.settings` each time follows a change by itself. What is built from settings, such as
the notificators, is given the new ones by `follow`.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import trio

from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.messages.changes import SETTINGS_READER, ApplyChanges
from motorpool.actors.settings import RETENTION_DEFAULTS, with_retention_defaults
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import Key, Value, keys
from motorpool.api.configuration.parser import parse, require_consistent
from motorpool.api.settings import Place, Settings
from motorpool.runtime import Actor, ChildSpec, Signal
from motorpool.storage.accounts import stored_settings
from motorpool.storage.accounts.stored_settings import StoredSettings
from motorpool.storage.database import installation
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageError

SECTIONS = (
    "map",
    *(each.name for each in NOTIFICATORS if each.settings is not None),
    *("geocoder", "openid", "positions", "events", "audit", "statistics", "schedules", "files", "captures"),
    "quotas",
)
"""Those with settings that are changed while the server runs, in the order in which users read them."""
RETENTION = (*RETENTION_DEFAULTS, ("schedules", "retention_days"))
"""The settings of sections of which not all can be changed."""
RETRY_SECONDS = 5.0
"""After an attempt to read the settings that fails, in seconds until the next."""

From = Literal["default", "database", "file", "environment"]

_log = logging.getLogger(__name__)


@cache
def changeable() -> Mapping[Place, Key]:
    """Return the settings that are changed while the server runs, in the order in which users read them."""
    limited = {section for section, _ in RETENTION}
    found = [
        key
        for key in keys()
        if key.section in SECTIONS and (key.section not in limited or key.place in RETENTION)
    ]
    found.sort(key=lambda key: SECTIONS.index(key.section))
    return {key.place: key for key in found}


class LiveSettings:
    """The settings of one server, replaced as a whole when those in the database change."""

    def __init__(self, configured: Settings, *, is_new: bool = True) -> None:
        """`configured` are those of the file and the environment; `is_new`: see `with_retention_defaults`."""
        self.configured = configured
        self.is_new = is_new
        """Whether the database has defaults for retention."""
        self._followers: list[Callable[[LiveSettings], None]] = []
        self.version = 0
        """How often the settings in the database were changed; 0: not read yet."""
        self.stored: Mapping[Place, Any] = {}
        """What the database holds, as JSON, also where the file or the environment goes before it."""
        self.settings, self.unset = self._completed(configured)
        """The settings in use, and those of them that are a default of the retention."""

    def follow(self, apply: Callable[["LiveSettings"], None]) -> None:
        """Have `apply` called now and after each change of the settings."""
        self._followers.append(apply)
        apply(self)

    async def reload(self, q: Queries) -> None:
        """Read what the database holds, and use it. Of two reads that overtake each other the newer stays."""
        self.use(await stored_settings.fetch(q))

    def use(self, stored: StoredSettings) -> None:
        """Use what the database holds; a section that makes no sense is left out, and told in the log."""
        if stored.version < self.version:
            return
        self.version = stored.version
        if stored.values == self.stored:
            return
        self.stored = stored.values
        settings = self.configured
        for section in SECTIONS:
            values = {place: value for place, value in stored.values.items() if place[0] == section}
            try:
                settings = self._overlay(settings, values)
            except SettingsError as error:
                _log.error("[%s]: the settings of the database are not used: %s", section, error)
        self.settings, self.unset = self._completed(settings)
        for apply in self._followers:
            apply(self)

    def require_usable(self, values: Mapping[Place, Any]) -> Settings:
        """Return the settings that were in use if the database held these values. Raises SettingsError."""
        settings, _ = self._completed(self._overlay(self.configured, values))
        return settings

    def source(self, place: Place) -> From:
        """Return where the value of a setting comes from."""
        if place in self.configured.sources:
            return self.configured.sources[place]
        return "database" if place in self.stored else "default"

    def value(self, place: Place) -> Value:
        """Return the value of a setting in use."""
        return value_of(self.settings, place)

    def default(self, key: Key) -> Value:
        """Return what a setting is that is set nowhere."""
        if key.place in RETENTION_DEFAULTS:
            return RETENTION_DEFAULTS[key.place] if self.is_new else 0
        return key.default

    @property
    def unvouched(self) -> frozenset[str]:
        """The sections whose secrets and requests go where an administrator has said, and not the operator:
        what is sent there is bound by `webhook.allow`, as for any user.
        """
        return frozenset(
            place[0]
            for place, key in changeable().items()
            if key.destination and self.source(place) == "database"
        )

    def _overlay(self, settings: Settings, values: Mapping[Place, Any]) -> Settings:
        """Return settings with values of the database where neither file nor environment has set them."""
        if not values:
            return settings
        known, sections = changeable(), dict[str, dict[str, Value]]()
        for (section, name), value in values.items():
            place = section, name
            if place in known and place not in self.configured.sources:
                parsed = parse(known[place], value, f"{section}.{name}")
                sections.setdefault(section, {})[name] = parsed
        changed: dict[str, Any] = {
            section: replace(getattr(settings, section), **fields) for section, fields in sections.items()
        }
        settings = replace(settings, **changed)
        require_consistent(settings)
        return settings

    def _completed(self, settings: Settings) -> tuple[Settings, tuple[str, ...]]:
        return with_retention_defaults(settings, is_new=self.is_new)


def value_of(settings: Settings, place: Place) -> Value:
    """Return the value of a setting of a section."""
    section, name = place
    value: Value = getattr(getattr(settings, section), name)
    return value


async def open_live_settings(database: Queries, configured: Settings) -> LiveSettings:
    """Return the settings in use, as file, environment and database have them now."""
    live = LiveSettings(configured, is_new=await installation.has_retention_defaults(database))
    await live.reload(database)
    return live


class SettingsReader(Actor[ApplyChanges]):
    """Reads the settings of the database when a server has changed them, before the change is answered."""

    def __init__(self, database: Database, live: LiveSettings) -> None:
        self._database = database
        self._live = live
        self._failed = Signal()

    async def handle(self, message: ApplyChanges) -> None:
        """Read them; if that fails, the writer does not wait until it works."""
        del message
        if not await self._read():
            self._failed.set()

    async def run(self) -> None:
        """Read what was changed before this actor was there, and again what could not be read."""
        while True:
            if await self._read():
                await self._failed.wait()
            await trio.sleep(RETRY_SECONDS)

    async def _read(self) -> bool:
        try:
            await self._live.reload(self._database)
        except StorageError as error:
            self.context.log.warning("settings of the database are read later: %s", error)
            return False
        return True


def settings_reader_spec(database: Database, live: LiveSettings) -> ChildSpec[ApplyChanges]:
    """Return the actor that follows changes of the settings."""
    return ChildSpec(kind=SETTINGS_READER, factory=lambda: SettingsReader(database, live))
