"""Ticket rules: `attributes.ticketRules` of a company (docs/ticket-rules.md).

By these rules events of devices open tickets.

What is stored was checked by `validate_change`, which also writes what clients cannot set: the id of a rule,
and the user who last edited it. A rule has the rights that this user has at the time of an event.
"""

import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any

import msgspec

from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.rules.severity import is_as_severe
from motorpool.codecs.channel_map import CHANNELS
from motorpool.storage.records import Event, Severity

KEY = "ticketRules"
"""The attribute of a company."""
MAX_RULES = 100
MAX_IDS = 250
"""Ids and words that one list of a rule holds at most."""
MAX_TEXT = 255
MAX_MINUTES = 10_080
"""The longest `dedupeMinutes`: a week."""
MAX_PER_HOUR = 1000
MAX_CAPTURE_SECONDS = 300
"""The longest span before, and after, an event that is captured."""
ID_BYTES = 6

ENDS = {
    "deviceOffline": "deviceOnline",
    "deviceUnknown": "deviceOnline",
    "deviceInactive": "deviceOnline",
    "deviceMoving": "deviceStopped",
    "deviceStopped": "deviceMoving",
    "geofenceEnter": "geofenceExit",
    "geofenceExit": "geofenceEnter",
    "proximityEnter": "proximityExit",
    "proximityExit": "proximityEnter",
    "ignitionOn": "ignitionOff",
    "ignitionOff": "ignitionOn",
}
"""The type of the event that ends the cause of another, by its type."""


Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class RuleRefused(ValueError):
    """Rules that cannot be stored; its text is one line."""


class RuleCondition(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which events a rule is about; an empty list, or 0, restricts nothing."""

    event_types: tuple[str, ...] = ()
    """Types of events, of which one is needed."""
    alarms: tuple[str, ...] = ()
    """Words of the attribute `alarm`, of which one must be there."""
    severity: Severity | None = None
    """The least severity of events; None: any."""
    device_ids: tuple[Id, ...] = ()
    """Devices; those of `groupIds` count as well."""
    group_ids: tuple[Id, ...] = ()
    """Groups of the device, and those above."""
    geofence_ids: tuple[Id, ...] = ()
    """Geofences that the event is about."""
    maintenance_ids: tuple[Id, ...] = ()
    """Maintenance that the event is about."""
    calendar_id: Id = 0
    """Only within the windows of this calendar."""


class RuleAction(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a ticket of a rule begins with."""

    category_id: Id = 0
    """The category; 0 is none."""
    priority_id: Id = 0
    """The priority; 0 is that of the category."""
    team_id: Id = 0
    """The team; 0 is that of the category."""
    subject: str = ""
    """Empty: the type of the event and the name of the device."""


class RuleCapture(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Video that a ticket of a rule gets."""

    channel: Id = 1
    """The camera."""
    before_seconds: Id = 20
    """How long before the event the recording begins; 0 for live video."""
    after_seconds: Id = 20
    """How long after the event the recording ends; how long live video is captured."""
    live: bool = False
    """What the camera shows from now on; else what the device has recorded."""


class TicketRule(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A rule as it is stored."""

    name: str = ""
    """What people call it."""
    when: RuleCondition = RuleCondition()
    """Which events it is about."""
    then: RuleAction = RuleAction()
    """What its tickets begin with."""
    dedupe_minutes: int = 60
    """An event within this time after the device's last one joins its ticket, even if that is done."""
    max_per_hour: int = 20
    """Most tickets that the rule opens in an hour; after them one says that it is muted."""
    comment_when_over: bool = False
    """Whether the end of the cause, such as `deviceOnline`, is added to the ticket."""
    capture: RuleCapture | None = None
    """Video that is captured for a ticket that the rule opens; None: no video."""
    disabled: bool = False
    """Whether it rests."""
    id: str = ""
    """Written by the server."""
    user_id: int = 0
    """Who last edited it; written by the server."""


def read_rules(attributes: Mapping[str, Any]) -> tuple[TicketRule, ...]:
    """Return the rules of a company that are not disabled, without invalid ones."""
    return tuple(rule for rule in rules_of(attributes) if not rule.disabled and rule.id and rule.user_id)


def rules_of(attributes: Mapping[str, Any]) -> list[TicketRule]:
    """Return all valid rules of a company."""
    found = []
    stored = attributes.get(KEY)
    for each in stored if isinstance(stored, list) else ():
        try:
            found.append(msgspec.convert(each, TicketRule))
        except msgspec.ValidationError:
            continue
    return found


def followed_types(rules: Iterable[TicketRule]) -> set[tuple[str, int]]:
    """Return the types of events that rules are about, or that end a cause, each with the rule's user."""
    found = set()
    for rule in rules:
        found |= {(name, rule.user_id) for name in rule.when.event_types}
        if rule.comment_when_over:
            found |= {(ENDS[name], rule.user_id) for name in rule.when.event_types if name in ENDS}
    return found


def ends(rule: TicketRule, event: Event, group_ids: Collection[int]) -> bool:
    """Return whether an event ends what a rule may have opened a ticket for, its rights aside."""
    when = rule.when
    if not rule.comment_when_over or event.type in when.event_types:
        return False
    return any(ENDS.get(name) == event.type for name in when.event_types) and _concerns(
        rule, event, group_ids
    )


def validate_change(old: Mapping[str, Any], new: Mapping[str, Any], editor_id: int) -> dict[str, Any]:
    """Return the attributes to store: rules checked, with ids, and `editor_id` on those that were changed.

    Raises:
        RuleRefused: A rule is not valid; the text begins with its path, such as `ticketRules[0].when`.
    """
    attributes = dict(new)
    sent = attributes.get(KEY)
    if sent is None:
        attributes.pop(KEY, None)
        return attributes
    if not isinstance(sent, list):
        raise RuleRefused(f"{KEY}: not a list")
    if len(sent) > MAX_RULES:
        raise RuleRefused(f"{KEY}: at most {MAX_RULES} rules")
    held = {each["id"]: each for each in _stored(old)}
    rules: list[Any] = []
    used: set[str] = set()
    for index, each in enumerate(sent):
        rule = _checked(each, f"{KEY}[{index}]")
        known = held.get(rule.id) if rule.id not in used else None
        number = rule.id if known is not None else secrets.token_hex(ID_BYTES)
        used.add(number)
        owner = known["userId"] if known is not None else 0
        shown = msgspec.to_builtins(msgspec.structs.replace(rule, id=number, user_id=owner))
        if shown != known:
            shown["userId"] = editor_id
        rules.append(shown)
    attributes[KEY] = rules
    return attributes


def _stored(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(rule) for rule in rules_of(attributes)]


def _checked(sent: object, path: str) -> TicketRule:
    try:
        rule = msgspec.convert(sent, TicketRule)
    except msgspec.ValidationError as error:
        raise RuleRefused(f"{path}: {error}") from None
    check_rule(rule, path)
    return rule


def check_rule(rule: TicketRule, path: str) -> None:
    """Check the values of a rule, which texts of refusals call `path`.

    Raises:
        RuleRefused: One is not valid.
    """
    when, then = rule.when, rule.then
    if not rule.name.strip() or len(rule.name) > MAX_TEXT:
        raise RuleRefused(f"{path}.name: empty, or longer than {MAX_TEXT} characters")
    if not when.event_types:
        raise RuleRefused(f"{path}.when.eventTypes: needed")
    unknown = [name for name in when.event_types if name not in EVENT_TYPES]
    if unknown:
        raise RuleRefused(f"{path}.when.eventTypes: there is no type {unknown[0][:50]!r}")
    for name, values in msgspec.structs.asdict(when).items():
        if isinstance(values, tuple) and len(values) > MAX_IDS:
            raise RuleRefused(f"{path}.when.{name}: at most {MAX_IDS}")
    if any(len(word) > MAX_TEXT for word in when.alarms):
        raise RuleRefused(f"{path}.when.alarms: longer than {MAX_TEXT} characters")
    if len(then.subject) > MAX_TEXT:
        raise RuleRefused(f"{path}.then.subject: longer than {MAX_TEXT} characters")
    for name, value, least, most in (
        ("dedupeMinutes", rule.dedupe_minutes, 0, MAX_MINUTES),
        ("maxPerHour", rule.max_per_hour, 1, MAX_PER_HOUR),
    ):
        if not least <= value <= most:
            raise RuleRefused(f"{path}.{name}: not from {least} to {most}")
    if rule.capture is not None:
        _check_capture(rule.capture, f"{path}.capture")


def _check_capture(capture: RuleCapture, path: str) -> None:
    if capture.channel not in CHANNELS:
        raise RuleRefused(f"{path}.channel: cameras have the numbers 1 to 31")
    for name, value in (
        ("beforeSeconds", capture.before_seconds),
        ("afterSeconds", capture.after_seconds),
    ):
        if value > MAX_CAPTURE_SECONDS:
            raise RuleRefused(f"{path}.{name}: not from 0 to {MAX_CAPTURE_SECONDS}")
    if capture.live and capture.before_seconds:
        raise RuleRefused(f"{path}.beforeSeconds: 0 for live video")
    if not capture.before_seconds + capture.after_seconds:
        raise RuleRefused(f"{path}.afterSeconds: needed")


def matches(rule: TicketRule, event: Event, group_ids: Collection[int]) -> bool:
    """Return whether an event is one that a rule is about, its calendar and rights aside.

    `group_ids` are the groups of the device, and those above.
    """
    when = rule.when
    if event.type not in when.event_types:
        return False
    if when.alarms:
        stated = event.attributes.get("alarm")
        words = {word.strip() for word in stated.split(",")} if isinstance(stated, str) else set()
        if words.isdisjoint(when.alarms):
            return False
    if not (is_as_severe(event.severity, when.severity) and _concerns(rule, event, group_ids)):
        return False
    return not when.maintenance_ids or event.maintenance_id in when.maintenance_ids


def _concerns(rule: TicketRule, event: Event, group_ids: Collection[int]) -> bool:
    """Return whether a rule is about the device and the geofence of an event."""
    when = rule.when
    if (when.device_ids or when.group_ids) and not (
        event.device_id in when.device_ids or any(each in when.group_ids for each in group_ids)
    ):
        return False
    return not when.geofence_ids or event.geofence_id in when.geofence_ids
