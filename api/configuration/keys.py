"""All settings as values: their names, types, defaults and what a value must satisfy (api/settings.py)."""

import functools
import types
import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path

from msgspec import Meta

from motorpool.api.field_docstrings import field_docstrings
from motorpool.api.settings import ORDER, Place, Settings

PREFIX = "MOTORPOOL_"

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
    destination: bool
    """It says where the secrets of its section are sent to, and how."""

    @property
    def is_optional(self) -> bool:
        """Whether it may be unset."""
        return typing.get_origin(self.kind) is types.UnionType

    @property
    def value_kind(self) -> typing.Any:  # noqa: ANN401 - as `kind`
        """The type of its values, without None."""
        if not self.is_optional:
            return self.kind
        return next(each for each in typing.get_args(self.kind) if each is not type(None))

    @property
    def place(self) -> Place:
        """Section and name."""
        return self.section, self.name

    @property
    def variable(self) -> str:
        """Name in the environment."""
        return variable_name(self.section, self.name)

    @property
    def title(self) -> str:
        """Name in the file."""
        return title_of(self.section, self.name)


def variable_name(section: str, name: str) -> str:
    """Return the name of a setting in the environment."""
    return PREFIX + (f"{section}_{name}" if section else name).upper()


def title_of(section: str, name: str) -> str:
    """Return the name of a setting in the file."""
    return f"[{section}] {name}" if section else name


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
            destination=extra.get("destination", False),
        )


@functools.cache
def sentences() -> dict[Place, str]:
    """Return what each setting means, by its section and name: read from the source, which takes a while."""
    return {
        (section, name): sentence
        for section, struct in sections().items()
        for name, sentence in field_docstrings(struct).items()
    }
