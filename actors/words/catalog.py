"""The words of the server in the languages of users (docs/events.md#texts).

A file of `catalogs/` is a language: Jinja2 templates of events (`[texts]`, `[subjects]`) and of mails
(`[mails]`), names of alarms, labels, and how times and numbers are written. What a language lacks is taken
from English.
"""

import tomllib
from functools import cache
from pathlib import Path

import jinja2

FOLDER = Path(__file__).parent / "catalogs"
FALLBACK = "en"


class Catalog:
    """The compiled words of a language."""

    def __init__(self, name: str) -> None:
        content = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
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
        self.alarms: dict[str, str] = content["alarms"]
        self.texts = {kind: texts.from_string(text) for kind, text in content["texts"].items()}
        """By type of event."""
        self.names: dict[str, str] = content.get("names", {})
        """By type of event, in the order in which the console offers them; in English only."""
        self.subjects = {kind: texts.from_string(text) for kind, text in content["subjects"].items()}
        """By type of event, where the text makes no subject."""
        self.mails = {
            name: (texts.from_string(mail["subject"]), texts.from_string(mail["body"]))
            for name, mail in content["mails"].items()
        }
        """Subject and body of each mail that is no event."""


def languages() -> tuple[str, ...]:
    """Return the languages that have a catalog, as two letters."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


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
    return catalog_of(language).mails.get(name) or read_catalog(FALLBACK).mails[name]
