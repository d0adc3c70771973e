"""Rules for the texts that users enter: trimmed, limited in length and characters, some are needed."""

import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from motorpool.actors.words.printable import unfit
from motorpool.api.http.errors import BadRequest

R = TypeVar("R", bound=msgspec.Struct)

NAMES = frozenset({"name", "unique_id", "type"})
LINES = NAMES | {"login", "email", "phone", "model", "contact", "category", "subject", "attribute"}
"""Texts in one line; others may have line breaks and tabs."""
VERBATIM = frozenset({"password", "current_password", "totp_key"})
"""Secrets, which may hold anything."""
MAX_NAME_LENGTH = 128
MAX_TEXT_LENGTH = 4000
_EMAIL = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[\w-]+(\.[\w-]+)*")
"""Without quoted local parts and numeric addresses of hosts (RFC 5321), which nobody has."""


def is_email(text: str) -> bool:
    """Return whether a text has the form of an e-mail address; the domain may be one name (a@localhost)."""
    return text.isprintable() and _EMAIL.fullmatch(text) is not None


@dataclass(frozen=True)
class TextRules:
    """Rules for the texts of a record; fields are named as in Python."""

    max_lengths: Mapping[str, int | None] = field(default_factory=dict)
    """Texts that are trimmed -> how many characters they may have as sent; None: any number."""
    required: tuple[str, ...] = ()
    """Fields that a body must hold, and whose texts must not be blank."""
    keeps_empty: frozenset[str] = frozenset()
    """Texts that mean something else when they are empty than when they are absent."""

    def trimmed(self, sent: R) -> R:
        """Return a body with its texts trimmed; BadRequest for one that is missing or too long.

        An empty text is as an absent one.
        """
        changed: dict[str, str | None] = {}
        for item in msgspec.structs.fields(sent):
            text = getattr(sent, item.name)
            if not isinstance(text, str):
                continue
            if item.name in self.required and not text.strip():
                raise BadRequest(f"{item.encode_name}: needed")
            longest = self.max_lengths.get(item.name)
            if longest is not None and len(text) > longest:
                raise BadRequest(f"{item.encode_name}: longer than {longest} characters")
            if item.name in self.max_lengths:
                changed[item.name] = text = text.strip()
            if not text and item.name not in self.keeps_empty and item.default is None:
                changed[item.name] = None
        return msgspec.structs.replace(sent, **changed)


def rules_for_all(
    record: type[msgspec.Struct], *, required: tuple[str, ...] = (), verbatim: Iterable[str] = ()
) -> TextRules:
    """Return the rules for every text of a record; `verbatim` ones are neither trimmed nor bounded."""
    texts = {name for name, kind in typing.get_type_hints(record).items() if kind in {str, str | None}}
    return TextRules(
        {
            name: MAX_NAME_LENGTH if name in NAMES else MAX_TEXT_LENGTH
            for name in sorted(texts.difference(verbatim))
        },
        required,
    )


def require_plain_texts(new: msgspec.Struct, old: msgspec.Struct | None) -> None:
    """Check the characters of the texts of a record that are new or changed; stored ones stay as they are.

    Raises:
        BadRequest: one has control characters, turns the direction of text, or has line breaks in a name.
    """
    for item in msgspec.structs.fields(new):
        text = getattr(new, item.name)
        if not isinstance(text, str) or item.name in VERBATIM:
            continue
        if old is None or text != getattr(old, item.name, None):
            require_plain_text(item.encode_name, text, one_line=item.name in LINES)


def require_plain_text(name: str, text: str, *, one_line: bool) -> None:
    """Raise BadRequest for a character that a text of this name must not hold."""
    letter = unfit(text, one_line=one_line)
    if letter:
        raise BadRequest(f"{name}: holds the character U+{ord(letter):04X}, which is not allowed here")
