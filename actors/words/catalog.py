"""The words of the server in the languages of users (docs/events.md#texts).

A file of `catalogs/` is a language: Jinja2 templates of events (`[texts]`, `[subjects]`) and of mails
(`[mails]`), names of alarms, attributes, values and headings, labels, and how times and numbers are written.
What a language lacks is taken from English; `untranslated` of the English file lists it. The file of a
country has only what differs from the language that its `base` names.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

FOLDER = Path(__file__).parent / "catalogs"
FALLBACK = "en"
_TAG = re.compile(r"[A-Za-z]{2}(?:[-_].*)?", re.ASCII | re.DOTALL)


class Catalog:
    """The compiled words of a language; what it lacks is taken from English."""

    def __init__(self, name: str) -> None:
        content = read_content(name)
        english = None if name == FALLBACK else read_catalog(FALLBACK)
        # The texts are not HTML: who puts them into a document escapes them.
        texts = jinja2.Environment(autoescape=False)  # noqa: S701
        self.name = name
        self.time: str = content["time"]
        """As `strftime`."""
        self.decimal: str = content["decimal"]
        self.directions: list[str] = content["directions"]
        """The eight points of the compass, from north clockwise."""
        self.near_town: str = content["near_town"]
        """Where a place outside of a town is: a format with `town`, `distance` and `direction`."""
        self.labels: dict[str, str] = content["labels"]
        self.headings: dict[str, str] = content.get("headings", {})
        """Of workbooks, by the English one."""
        self.helpdesk: dict[str, str] = content.get("helpdesk", {})
        """Names of standard categories, priorities and statuses, by the English one."""
        self.names: dict[str, str] = content["names"]
        """By type of event, in the order in which the console offers them."""
        self.states: dict[str, str] = content["states"]
        """By status of a device."""
        self.severities: dict[str, str] = content["severities"]
        """By severity of events; in the middle of a sentence."""
        self.alarms: dict[str, str] = content["alarms"]
        """In the order in which the console offers them; in the middle of a sentence."""
        self.details: dict[str, str] = content["details"]
        """What alarms are exactly (docs/attributes.md#alarms)."""
        self.attributes: dict[str, str] = content["attributes"]
        """Names of attributes, by their keys in `codecs/devices/attributes.py`."""
        self.values: dict[str, dict[str, str]] = content["values"]
        """Words for values of attributes, or for bits of those that have bits, by attribute and value."""
        self.texts = {kind: texts.from_string(text) for kind, text in content["texts"].items()}
        """By type of event."""
        self.subjects = {kind: texts.from_string(text) for kind, text in content["subjects"].items()}
        """By type of event, where the text makes no subject."""
        self.mails = {
            name: (texts.from_string(mail["subject"]), texts.from_string(mail["body"]))
            for name, mail in content["mails"].items()
        }
        """Subject and body of each mail that is no event."""
        if english is not None:
            for part in PARTS:
                setattr(self, part, {**getattr(english, part), **getattr(self, part)})


PARTS: Final = (
    "labels names states severities alarms details attributes values texts subjects mails".split()  # noqa: SIM905
)
"""The sections of which a language may lack some."""


def read_content(name: str) -> dict[str, Any]:
    """Return what the file of a language says, over what that of its `base` says."""
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    base = content.pop("base", None)
    return content if base is None else _merged(read_content(base), content)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(below[key], value) if isinstance(value, dict) and key in below else value
        for key, value in above.items()
    }
    # In the order of the language below.
    return {key: both.get(key, value) for key, value in below.items()} | both


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a catalog: two letters, or with a country as in `pt-BR`."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def language_of(tag: str) -> str | None:
    """Return the language of a tag such as `de-AT`, `zh_TW` or `pt-BR`; None if it is no tag.

    One with a country is told apart only where it has a catalog.
    """
    if _TAG.fullmatch(tag) is None:
        return None
    wanted = tag.replace("_", "-").lower()
    return next((name for name in languages() if name.lower() == wanted), wanted[:2])


@cache
def read_catalog(name: str) -> Catalog:
    """Return the catalog of a language that has one."""
    return Catalog(name)


@cache
def catalog_of(wanted: str) -> Catalog:
    """Return the catalog for users of a language."""
    return read_catalog(wanted if wanted in languages() else FALLBACK)


def mail_templates(name: str, language: str) -> tuple[jinja2.Template, jinja2.Template]:
    """Return the templates of the subject and the body of a mail."""
    return catalog_of(language).mails[name]
