"""What a request may change of the settings in the database; pure."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from motorpool.actors.words.masking import MASK
from motorpool.actors.words.printable import unfit
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import Key, Value
from motorpool.api.configuration.live import LiveSettings, changeable, value_of
from motorpool.api.configuration.parser import parse
from motorpool.api.settings import Place

MAX_LENGTH = 4000
"""Characters of a value."""


def read_changes(live: LiveSettings, sent: Mapping[str, Mapping[str, Any]]) -> dict[Place, Any]:
    """Return what is to be stored of settings by section and name, as JSON; None: nothing any more.

    Null is back to the default, and a secret that is masked stays. `live` has what is stored now.

    Raises:
        SettingsError: one of them cannot be set so, or not here. Its text begins with `section.name: `.
    """
    changes: dict[Place, Any] = {}
    given: set[Place] = set()
    for section, values in sent.items():
        for name, value in values.items():
            place, source = (section, name), f"{section}.{name}"
            key = changeable().get(place)
            if key is None:
                raise SettingsError(f"{source}: there is no such setting that can be changed here")
            if key.secret and value == MASK:
                continue
            if place in live.configured.sources:
                raise SettingsError(f"{source}: is set in the {live.configured.sources[place]}, which wins")
            given.add(place)
            wanted = None if value is None else _checked(key, value, source)
            if wanted != live.stored.get(place):
                changes[place] = wanted
    touched = {section for section, _ in changes}
    stored = {place: value for place, value in {**live.stored, **changes}.items() if place[0] in touched}
    settings = live.require_usable({place: value for place, value in stored.items() if value is not None})
    for place in changes:
        if changeable()[place].destination and value_of(settings, place) not in {None, live.value(place)}:
            _require_secrets_again(live, place, given)
    return changes


def held_elsewhere(live: LiveSettings, place: Place) -> bool:
    """Return whether a setting can be changed in the file or the environment alone.

    Also where secrets go that are set there: who administers the console does not know them.
    """
    return place in live.configured.sources or (
        changeable()[place].destination
        and any(live.configured.sources.get(secret) and live.value(secret) for secret in _secrets(place))
    )


def as_json(value: Value) -> str | int | float | bool | list[str]:
    """Return the value of a setting as `parse` reads it again from JSON; empty where it is unset."""
    if value is None:
        return ""
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _checked(key: Key, value: object, source: str) -> object:
    texts = value if isinstance(value, list) else [value]
    lines = [text for text in texts if isinstance(text, str)]
    if sum(map(len, lines)) > MAX_LENGTH or len(texts) > MAX_LENGTH:
        raise SettingsError(f"{source}: longer than {MAX_LENGTH} characters")
    if any(unfit(text, one_line=True) for text in lines):
        raise SettingsError(f"{source}: holds a character that is not printed")
    return as_json(parse(key, value, source))


def _require_secrets_again(live: LiveSettings, place: Place, given: Collection[Place]) -> None:
    """Refuse to send secrets elsewhere, unless who has it so gives them again and thus knows them."""
    section, name = place
    for secret in _secrets(place):
        if secret in given or not live.value(secret):
            continue
        if secret in live.configured.sources:
            where = live.configured.sources[secret]
            raise SettingsError(
                f"{section}.{name}: can be changed in the {where} alone, as {secret[1]} is set there"
            )
        raise SettingsError(f"{section}.{secret[1]}: give it again, as it will be sent by another {name}")


def _secrets(place: Place) -> list[Place]:
    """Return the secrets of a section, but the setting itself."""
    return [
        key.place
        for key in changeable().values()
        if key.secret and key.section == place[0] and key.place != place
    ]
