"""Settings from motorpool.toml and the environment; the environment wins (docs/decisions/0005)."""

import difflib
import functools
import math
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path

import msgspec
from msgspec import Meta

from motorpool.api.program import forms
from motorpool.api.program.errors import SettingsError
from motorpool.api.program.private_files import is_readable_by_others
from motorpool.api.settings import ORDER, Settings

PREFIX = "MOTORPOOL_"
ELSEWHERE = frozenset({"MOTORPOOL_SIMULATE_EMAIL", "MOTORPOOL_SIMULATE_PASSWORD"})
"""Variables of our other programs: known, but no settings of the server."""

RENAMED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("schedules", "homecoming_seconds"): ("schedules", "reconnect_grace_seconds"),
}
"""Section and key of settings of earlier releases, and what they are called now."""

DEFAULT_FILE = Path("motorpool.toml")

PAIRS = (
    ("device", "proxy_protocol", "trusted_proxies"),
    ("http", "tls_certificate", "tls_key"),
    ("mail", "host", "address"),
    ("openid", "issuer", "client_id"),
)
"""Section and names of settings that need each other."""

DEMO_DEVICE_HOST = "127.0.0.1"
YES = ("true", "yes", "on", "1")
NO = ("false", "no", "off", "0")

Value = str | int | float | bool | Path | tuple[str, ...] | None


@dataclass(frozen=True)
class Key:
    """One setting: its place in the file and in the environment, its type, and what a value must satisfy."""

    section: str
    name: str
    kind: typing.Any
    """The field's type as annotated; `Any` because types have no common type to mypy."""
    default: Value
    least: float | None
    most: float | None
    """The largest number, or most entries of a list."""
    unit: str
    choices: tuple[str, ...]
    form: str
    """A further check of the text, one of FORMS."""
    secret: bool
    """The value is never printed, not even in an error."""

    @property
    def variable(self) -> str:
        """Name in the environment."""
        return _variable(self.section, self.name)

    @property
    def title(self) -> str:
        """Name in the file."""
        return _title(self.section, self.name)


def _variable(section: str, name: str) -> str:
    return PREFIX + (f"{section}_{name}" if section else name).upper()


def _title(section: str, name: str) -> str:
    return f"[{section}] {name}" if section else name


def load(
    file: Path | None, environ: Mapping[str, str], *, demo: bool = False
) -> tuple[Settings, tuple[str, ...]]:
    """Read the settings and the warnings about unknown variables.

    `file` None reads motorpool.toml in the working folder if there is one. Raises SettingsError.
    """
    warnings: list[str] = []
    chosen = _from_file(file, warnings)
    known = {key.variable: key for key in keys()}
    renamed = {_variable(*old): _variable(*new) for old, new in RENAMED.items()}
    path = file or DEFAULT_FILE
    if any(key.secret and (key.section, key.name) in chosen for key in keys()) and is_readable_by_others(
        path
    ):
        warnings.append(f"{path} holds secrets, and any user of this machine may read it: chmod o-r {path}")
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in ELSEWHERE:
            continue
        if variable in renamed:
            raise SettingsError(f"{variable} is now {renamed[variable]}")
        if variable not in known:
            near = difflib.get_close_matches(variable, known, n=1, cutoff=0.0)
            warnings.append(f"{variable} is no setting of this program; the nearest is {near[0]}")
            continue
        key = known[variable]
        chosen[key.section, key.name] = _parse(key, text, variable)
    if demo:
        chosen.setdefault(("device", "host"), DEMO_DEVICE_HOST)
        data = chosen.get(("", "data"), Settings.data)
        chosen["", "data"] = Path(str(data)) / "demo"
    settings = _build(chosen)
    key_file = settings.http.tls_key
    if key_file is not None and is_readable_by_others(key_file):
        warnings.append(f"any user of this machine may read the key {key_file}: chmod o-r {key_file}")
    return settings, tuple(warnings)


@functools.cache
def keys() -> tuple[Key, ...]:
    """Return all settings in the order in which users read them."""
    found = (key for section, struct in sections().items() for key in _keys_of(section, struct))
    return tuple(sorted(found, key=lambda key: ORDER.index(key.section or key.name)))


def sections() -> dict[str, type[typing.Any]]:
    """Return the classes of the settings by their sections; "" is the top level."""
    hints = typing.get_type_hints(Settings)
    names = [item.name for item in fields(Settings) if is_dataclass(hints[item.name])]
    return {"": Settings, **{name: hints[name] for name in names}}


def _keys_of(section: str, struct: type[typing.Any]) -> Iterator[Key]:
    """Yield the settings among the fields of a section, or of the struct that holds the sections."""
    hints = typing.get_type_hints(struct, include_extras=True)
    for item in fields(struct):
        if item.default is MISSING:
            continue  # a section
        kind = hints[item.name]
        meta = Meta()
        if typing.get_origin(kind) is typing.Annotated:
            kind, meta = typing.get_args(kind)
        extra = meta.extra or {}
        yield Key(
            section=section,
            name=item.name,
            kind=kind,
            default=item.default,
            least=meta.ge,
            most=meta.le if meta.max_length is None else meta.max_length,
            unit=extra.get("unit", ""),
            choices=extra.get("choices", ()),
            form=extra.get("form", ""),
            secret=extra.get("secret", False),
        )


def _from_file(file: Path | None, warnings: list[str]) -> dict[tuple[str, str], Value]:
    path = file or DEFAULT_FILE
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if file is None:
            return {}
        raise SettingsError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    by_place = {(key.section, key.name): key for key in keys()}
    names = {section for section, _ in by_place if section}
    chosen: dict[tuple[str, str], Value] = {}
    for name, value in content.items():
        entries = (
            {(name, inner): item for inner, item in value.items()}
            if name in names and isinstance(value, dict)
            else {("", name): value}
        )
        for place, item in entries.items():
            if place in RENAMED:
                raise SettingsError(f"{path}: {_title(*place)} is now {_title(*RENAMED[place])}")
            if place not in by_place:
                titles = {key.title: key for key in by_place.values()}
                title = _title(*place)
                near = difflib.get_close_matches(title, titles, n=1, cutoff=0.0)
                raise SettingsError(f"{path}: {title} is no setting; the nearest is {near[0]}")
            key = by_place[place]
            chosen[place] = _parse(key, item, f"{path}: {key.title}")
            if isinstance(item, str) and isinstance(chosen[place], tuple):
                meant = msgspec.json.encode(chosen[place]).decode()
                warnings.append(f"{path}: {key.title} is a text in place of a list; write {meant}")
    return chosen


def _parse(key: Key, value: object, source: str) -> Value:
    """Turn a TOML value or the text of a variable into the field's type."""
    kind = key.kind
    if typing.get_origin(kind) is types.UnionType:
        if value == "":
            return None
        kind = next(option for option in typing.get_args(kind) if option is not type(None))
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
    except ValueError:
        return math.nan


def _problem(key: Key, value: Value) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.least is not None and value < key.least:
            return f"is less than {key.least:g}"
        if key.most is not None and value > key.most:
            return f"is more than {key.most:g}"
    if isinstance(value, tuple) and key.most is not None and len(value) > key.most:
        return f"has more than {key.most:g} entries"
    if key.choices and value not in key.choices:
        return f"is none of {', '.join(key.choices)}"
    if key.form:
        text = value if isinstance(value, tuple) else str(value)
        return forms.problem(key.form, text, secret=key.secret)
    return ""


def _build(chosen: Mapping[tuple[str, str], Value]) -> Settings:
    # The fields are checked against their types above; the constructors take them by name.
    top: dict[str, typing.Any] = {name: value for (section, name), value in chosen.items() if not section}
    for item in fields(Settings):
        kind = item.default_factory
        if kind is not MISSING:
            section = {name: value for (place, name), value in chosen.items() if place == item.name}
            top[item.name] = kind(**section)
    settings = Settings(**top)
    if (settings.admin.email is None) != (settings.admin.password is None):
        raise SettingsError("MOTORPOOL_ADMIN_EMAIL and MOTORPOOL_ADMIN_PASSWORD need each other")
    for place, first, second in PAIRS:
        if bool(getattr(top[place], first)) != bool(getattr(top[place], second)):
            raise SettingsError(f"{_title(place, first)} and {_title(place, second)} need each other")
    if settings.cluster.name is not None and settings.database == Settings.database:
        raise SettingsError(
            '[cluster] name needs database = "postgresql://…": the embedded database is for one server'
        )
    if settings.node.address is not None and settings.cluster.name is None:
        raise SettingsError("[node] address needs [cluster] name")
    openid = settings.openid
    if openid.force and not openid.enabled:
        raise SettingsError("[openid] force needs [openid] issuer and [openid] client_id")
    return settings
