"""Renders an event as text, in a user's language, units and time zone (docs/events.md#texts).

The texts are those of the catalogs (`actors/words/catalog.py`). A type without a text is named by its type.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.events.coordinates import coordinate_format, format_coordinates
from motorpool.actors.events.own_words import STANDARD, OwnWords
from motorpool.actors.words.preferences import Preferences, preferences_for
from motorpool.actors.words.printable import printable_line
from motorpool.actors.words.values import ValueWriter, as_number, capitalized
from motorpool.storage.records import Position, ServerSettings, User

FOLDER = Path(__file__).parent
MAX_VALUE_LENGTH = 500
"""Texts of devices and users are shortened to this many characters."""
_SHOWN_AS_SENT = ("result", "reason", "company", "notificator", "file", "protocol", "host", "rule")
"""Attributes of events that texts show as they are."""


class Reader(msgspec.Struct, frozen=True):
    """How a user reads; hashable, so that a message is rendered once for all who read it in the same way."""

    preferences: Preferences = Preferences()
    coordinates: str = "dd"
    """As `coordinate_format`."""


def reader_of(user: User, server: ServerSettings) -> Reader:
    """Return how a user reads, by their settings and those of the server."""
    preferences = preferences_for(user, server)
    return Reader(preferences, coordinate_format(user, server))


@cache
def _document() -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True)
    return environment.get_template("mail.html")


def render(facts: EventFacts, reader: Reader, place: str = "", words: OwnWords = STANDARD) -> RenderedMessage:
    """Return the event as a message for users who read in this way.

    `place` is where it happened, beside the address: the zone or the town. `words` stand in place of the
    subject and the text.
    """
    event = facts.event
    writer = _Writer(reader)
    language = writer.language
    template = language.texts.get(event.type)
    if template is None:
        return RenderedMessage(event.type, event.type, event.type, f"<p>{event.type}</p>")
    variables = _variables(facts, writer)
    said = writer.with_cameras(_line(template.render(variables)), facts.cameras, facts.camera_names)
    device = "" if facts.device is None else _line(facts.device.name)
    subject = f"{device}: {said}" if device else said
    if special := language.subjects.get(event.type):
        subject = _line(special.render(variables))
    digest = f"{device}: {said}, {writer.time(event.event_time)}" if device else said
    rows = tuple(_rows(facts, writer, variables, place)) if device else ()
    own = words
    if words != STANDARD:
        own = words.fill(_placeholders(facts, writer, variables, said, place))
    link = facts.link
    if own.text:
        digest, rows = " ".join(own.text.split()), ()
        lines = own.text.splitlines()
        link = "" if "{link}" in words.text else link
    else:
        lines = [digest, *(f"{label}: {value}" for label, value in rows)]
    html = _document().render(
        language=language.name,
        labels=language.labels,
        paragraphs=lines if own.text else (digest,),
        rows=rows,
        link=link,
    )
    text = "\n".join([*lines, link] if link else lines) + "\n"
    return RenderedMessage(own.subject or subject, digest, text, html)


def describe(facts: EventFacts, reader: Reader) -> str:
    """Return what happened as text that stands alone: `Phone in hand, level 1`; empty for an unknown type."""
    writer = _Writer(reader)
    template = writer.language.texts.get(facts.event.type)
    if template is None:
        return ""
    variables = _variables(facts, writer)
    alarm = variables["alarm"] if facts.event.type == "alarm" else ""
    said = alarm or _line(template.render(variables))
    return capitalized(writer.with_cameras(said, facts.cameras, facts.camera_names))


class _Writer(ValueWriter):
    """Writes values of events, and where they happened."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.preferences)
        self._coordinates = reader.coordinates

    def coordinates(self, position: Position) -> str:
        return format_coordinates(position.latitude, position.longitude, self._coordinates)

    def minutes(self, milliseconds: object) -> str:
        """Return a span of time as minutes; empty where it is not one."""
        number = as_number(milliseconds)
        return "" if number is None else f"{number / 60_000:.0f} min"


def _variables(facts: EventFacts, writer: _Writer) -> dict[str, str]:
    attributes: Mapping[str, Any] = facts.event.attributes
    maintenance = facts.maintenance
    kind = "" if maintenance is None else maintenance.type
    return {
        "alarm": _line(writer.alarm(attributes.get("alarm"), attributes.get("alarmDetail"))),
        **{name: _line(attributes.get(name)) for name in _SHOWN_AS_SENT},
        "since": writer.instant(attributes.get("lastUpdate")),
        "speed": writer.speed(attributes.get("speed")),
        "limit": writer.speed(attributes.get("speedLimit")),
        "before": writer.volume(attributes.get("before")),
        "after": writer.volume(attributes.get("after")),
        **_sensor(attributes, writer),
        "geofence": "" if facts.geofence is None else _line(facts.geofence.name),
        "maintenance": "" if maintenance is None else _line(maintenance.name),
        "value": writer.maintained(kind, attributes.get(kind)),
        "left": writer.minutes(attributes.get("left")),
        "driver": _line(facts.driver or attributes.get("driverUniqueId")),
        "severity": writer.language.severities.get(facts.event.severity or "", ""),
    }


def _placeholders(
    facts: EventFacts, writer: _Writer, variables: Mapping[str, str], said: str, place: str
) -> dict[str, str]:
    """Return what the placeholders of a user's own words stand for; empty texts for what is not known."""
    event, position = facts.event, facts.position
    address = "" if position is None else _line(position.address)
    speed = variables["speed"] or ("" if position is None else writer.speed(position.speed))
    return {
        "device": "" if facts.device is None else _line(facts.device.name),
        "event": said,
        "type": writer.language.names.get(event.type, event.type),
        "time": writer.time(event.event_time),
        "place": _line(place) or address,
        "address": address,
        "coordinates": "" if position is None else writer.coordinates(position),
        "geofence": variables["geofence"],
        "speed": speed,
        "limit": variables["limit"],
        "driver": variables["driver"],
        "alarm": variables["alarm"],
        "severity": variables["severity"],
        "maintenance": variables["maintenance"],
        "link": facts.link,
    }


def _sensor(attributes: Mapping[str, Any], writer: _Writer) -> dict[str, str]:
    """Return the name of a sensor, its value, and the bound beyond which it is."""
    sensor = attributes.get("sensor")
    if not isinstance(sensor, str):
        return {}
    texts = {
        variable: _line(writer.attribute_text(sensor, value))
        for variable, key in (("reading", "value"), ("bound", "limit"))
        if (value := attributes.get(key)) is not None
    }
    return {"sensor": _line(writer.attribute_name(sensor)), **texts}


def _rows(
    facts: EventFacts, writer: _Writer, variables: Mapping[str, str], place: str
) -> Iterable[tuple[str, str]]:
    """Yield what a mail says beside the digest, as label and value."""
    labels = writer.language.labels
    yield labels["device"], _line(facts.device.name if facts.device is not None else "")
    yield labels["time"], writer.time(facts.event.event_time)
    if facts.event.review is not None and variables["severity"]:
        yield labels["severity"], variables["severity"]
    position = facts.position
    if position is not None:
        yield labels["position"], writer.coordinates(position)
        yield labels["speed"], writer.speed(position.speed)
        if (where := _line(place)) and where != variables["geofence"]:
            yield labels["place"], where
        if position.address:
            yield labels["address"], _line(position.address)
    if variables["geofence"]:
        yield labels["geofence"], variables["geofence"]
    if variables["driver"]:
        yield labels["driver"], variables["driver"]


def _line(value: object) -> str:
    """Return foreign text in one line of printable characters."""
    if value is None:
        return ""
    return printable_line(str(value))[:MAX_VALUE_LENGTH]
