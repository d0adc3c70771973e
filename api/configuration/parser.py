"""Values of settings from what is written in the file, in the environment or in a request."""

import math
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path

from motorpool.api.configuration import forms
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.keys import Key, Value, title_of
from motorpool.api.settings import Place, Settings, Source
from motorpool.storage.settings import ROLES

PAIRS = (
    ("device", "proxy_protocol", "trusted_proxies"),
    ("http", "tls_certificate", "tls_key"),
    ("mail", "host", "address"),
    ("openid", "issuer", "client_id"),
)
"""Section and names of settings that need each other."""

MOST = 2**63 - 1
"""The largest whole number that the database and JSON hold."""

YES = ("true", "yes", "on", "1")
NO = ("false", "no", "off", "0")


def parse(key: Key, value: object, source: str) -> Value:
    """Turn a value of TOML or JSON, or the text of a variable, into the field's type.

    `source` is what the error begins with. Raises SettingsError.
    """
    if key.is_optional and value == "":
        return None
    kind = key.value_kind
    shown = "the value" if key.secret else repr(value)
    parsed: Value
    if kind is bool:
        word = str(value).lower() if isinstance(value, bool | str | int) else ""
        if word not in YES and word not in NO:
            raise SettingsError(f"{source}: {shown} is neither true nor false")
        parsed = word in YES
    elif kind in {int, float}:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise SettingsError(f"{source}: {shown} is not a number")
        parsed = _read_number(value, kind)
        if not math.isfinite(parsed) or (kind is int and not isinstance(parsed, int)):
            raise SettingsError(f"{source}: {shown} is not a{' whole' if kind is int else ''} number")
    elif typing.get_origin(kind) is tuple:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise SettingsError(f"{source}: {shown} is not a list of words")
        parsed = tuple(item.strip() for item in items if item.strip())
    else:
        if not isinstance(value, str) or not value.strip():
            raise SettingsError(f"{source}: {shown} is not a text")
        parsed = Path(value).expanduser() if kind is Path else value
    problem = _problem(key, parsed)
    if problem:
        raise SettingsError(f"{source}: {shown} {problem}")
    return parsed


def _read_number(value: float | str, kind: type) -> int | float:
    """Return the number that is written; NaN for what is not a number."""
    if isinstance(value, str) and not value.isascii():
        # int() reads digits of other scripts as well.
        return math.nan
    try:
        return int(value) if kind is int and not isinstance(value, float) else float(value)
    except (ValueError, OverflowError):
        return math.nan


def _problem(key: Key, value: Value) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.least is not None and value < key.least:
            return f"is less than {key.least:g}"
        most = MOST if key.most is None and isinstance(value, int) else key.most
        if most is not None and value > most:
            return f"is more than {most:g}"
    if isinstance(value, tuple) and key.most is not None and len(value) > key.most:
        return f"has more than {key.most:g} entries"
    if key.choices and value not in key.choices:
        return f"is none of {', '.join(key.choices)}"
    if key.form:
        text = value if isinstance(value, tuple) else str(value)
        return forms.problem(key.form, text, secret=key.secret)
    return ""


def build(chosen: Mapping[Place, Value], sources: Mapping[Place, Source]) -> Settings:
    """Return the settings with these values, and the defaults of all others. Raises SettingsError."""
    # The fields are checked against their types above; the constructors take them by name.
    top: dict[str, typing.Any] = {name: value for (section, name), value in chosen.items() if not section}
    for item in fields(Settings):
        kind = item.default_factory
        if kind is not MISSING and item.name != "sources":
            section = {name: value for (place, name), value in chosen.items() if place == item.name}
            top[item.name] = kind(**section)
    settings = Settings(**top, sources=sources)
    if (settings.admin.email is None) != (settings.admin.password is None):
        raise SettingsError("MOTORPOOL_ADMIN_EMAIL and MOTORPOOL_ADMIN_PASSWORD need each other")
    if settings.cluster.name is not None and settings.database == Settings.database:
        raise SettingsError(
            '[cluster] name needs database = "postgresql://…": the embedded database is for one server'
        )
    if settings.node.address is not None and settings.cluster.name is None:
        raise SettingsError("[node] address needs [cluster] name")
    if settings.cluster.name is None and set(settings.node.roles) != set(ROLES):
        raise SettingsError("[node] roles needs [cluster] name: a server that is alone does everything")
    if not settings.node.roles:
        raise SettingsError(f"[node] roles names none of {', '.join(ROLES)}")
    if settings.node.address is None and "api" not in settings.node.roles:
        raise SettingsError("[node] roles without api needs [node] address, where health and metrics are")
    if settings.link.url is not None and settings.cluster.name is None and settings.nodes == 1:
        raise SettingsError("[link] url needs [cluster] name, or several nodes")
    require_consistent(settings)
    return settings


def require_consistent(settings: Settings) -> None:
    """Raise SettingsError if a section lacks a setting that another one of it needs."""
    for section, first, second in PAIRS:
        values = getattr(settings, section)
        if bool(getattr(values, first)) != bool(getattr(values, second)):
            raise SettingsError(f"{title_of(section, first)} and {title_of(section, second)} need each other")
    openid = settings.openid
    if openid.force and not openid.enabled:
        raise SettingsError("[openid] force needs [openid] issuer and [openid] client_id")
