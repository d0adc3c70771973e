"""What users may give each other, written by hand from docs/users.md and docs/permissions.md in plain Python.

It imports nothing of the product. A `Tree` is what an administrator has made: people who manage each other,
groups, devices, and links. Doors (tests/api/granting/doors.py) ask it what is allowed, and change it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

FLAGS = ("readonly", "deviceReadonly", "limitCommands", "disableReports", "fixedEmail")
PLAIN = (
    "geofence",
    "command",
    "calendar",
    "notification",
    "driver",
    "maintenance",
    "order",
    "attribute",
    "scheduledCommand",
    "report",
)
"""Kinds of objects that are seen by a link of one's own alone."""


@dataclass
class Person:
    """A user who is no administrator."""

    id: int
    email: str
    flags: set[str]
    expires: datetime | None
    device_limit: int
    user_limit: int
    disabled: bool = False
    receivers: dict[str, str] = field(default_factory=dict)
    """Attributes that say where the messages of the user go."""

    @property
    def is_manager(self) -> bool:
        return self.user_limit != 0


class Actor(NamedTuple):
    """Who sends a request: a user, or somebody else in a session or with a token as that user."""

    user: int
    by: int = 0


class Guest(NamedTuple):
    """The user of a share link."""

    flags: frozenset[str]
    expires: datetime


class Shared(NamedTuple):
    """What a share link shows, and who made it."""

    sharer: int
    by: int
    """Who shared as the sharer; 0 if it was the sharer."""
    kind: str
    number: int


@dataclass
class Tree:
    defaults: frozenset[str] = frozenset()
    """Restrictions in the server's settings."""
    forced: bool = False
    people: dict[int, Person] = field(default_factory=dict)
    manages: set[tuple[int, int]] = field(default_factory=set)
    parent: dict[int, int] = field(default_factory=dict)
    """Of each group; 0 is none."""
    group_of: dict[int, int] = field(default_factory=dict)
    """Of each device; 0 is none."""
    unique_ids: dict[int, str] = field(default_factory=dict)
    devices: set[tuple[int, int]] = field(default_factory=set)
    groups: set[tuple[int, int]] = field(default_factory=set)
    plain: dict[str, set[tuple[int, int]]] = field(default_factory=lambda: {kind: set() for kind in PLAIN})
    references: dict[tuple[str, int], int] = field(default_factory=dict)
    """What an object names: the calendar of a geofence, the command of a notification."""
    companies: dict[tuple[int, int], bool] = field(default_factory=dict)
    """(user, company) -> whether the user has made the company."""
    guests: dict[str, Guest] = field(default_factory=dict)
    """By e-mail address."""
    links_of_guests: dict[str, Shared] = field(default_factory=dict)
    """By the token of the link."""
    registration: bool = False
    """Whether anybody may register."""

    # Who is above whom

    def manages_directly(self, manager: int, user: int) -> bool:
        return self.people[manager].is_manager and (manager, user) in self.manages

    def below(self, manager: int) -> set[int]:
        """The manager, and all who are below."""
        found, new = set(), {manager}
        while new:
            found |= new
            new = {user for boss in new for user in self.people if self.manages_directly(boss, user)} - found
        return found

    def limited_with(self, user: int) -> set[int]:
        """The user, and all managers above: those whose users count together with the user."""
        return {user} | {boss for boss in self.people if user in self.below(boss)}

    # What somebody lacks

    def is_bound(self, actor: Actor, flag: str) -> bool:
        """Whether a restriction acts on somebody: their own, or of who acts as them, or forced on all."""
        people = [self.people[number] for number in actor if number]
        return any(flag in person.flags for person in people) or (self.forced and flag in self.defaults)

    def may_free(self, actor: Actor, flag: str) -> bool:
        return not self.is_bound(actor, flag) and flag not in self.defaults

    def ends(self, actor: Actor) -> datetime | None:
        found = [self.people[number].expires for number in actor if number]
        return min((end for end in found if end is not None), default=None)

    def may_last(self, actor: Actor, expires: datetime | None) -> bool:
        """Whether they may let somebody else live that long."""
        end = self.ends(actor)
        return end is None or (expires is not None and expires <= end)

    # What somebody sees

    def groups_within(self, top: int, levels: int) -> set[int]:
        """A group and those below it, down to this many levels."""
        found = {top}
        for _ in range(levels):
            found |= {group for group, parent in self.parent.items() if parent in found}
        return found

    def groups_seen(self, user: int) -> set[int]:
        tops = {group for who, group in self.groups if who == user}
        return {group for top in tops for group in self.groups_within(top, 2)}

    def devices_seen(self, user: int) -> set[int]:
        groups = self.groups_seen(user)
        direct = {device for who, device in self.devices if who == user}
        return direct | {device for device, group in self.group_of.items() if group in groups}

    def sees_user(self, viewer: int, user: int) -> bool:
        return viewer == user or self.manages_directly(viewer, user)

    def sees(self, viewer: int, kind: str, number: int) -> bool:
        match kind:
            case "device":
                return number in self.devices_seen(viewer)
            case "group":
                return number in self.groups_seen(viewer)
            case "managedUser":
                return self.sees_user(viewer, number)
            case _:
                return (viewer, number) in self.plain[kind]

    def companies_seen(self, user: int) -> set[int]:
        return {company for who, company in self.companies if who == user}

    def manages_company(self, user: int, company: int) -> bool:
        made = self.companies.get((user, company))
        return made is not None and (made or self.people[user].is_manager)

    def has_manager(self, company: int) -> bool:
        """Whether anybody can still configure it."""
        return any(
            self.manages_company(user, company) and not (person.disabled or "readonly" in person.flags)
            for user, person in self.people.items()
        )

    def seen_by_guest(self, shared: Shared) -> set[int] | None:
        """The devices that a share link shows; None once its sharer has lost what it is of."""
        if self.people[shared.sharer].disabled:
            return None
        if shared.by and (
            self.people[shared.by].disabled or not self.manages_directly(shared.by, shared.sharer)
        ):
            return None
        if shared.kind == "device":
            is_seen = shared.number in self.devices_seen(shared.sharer)
            return {shared.number} if is_seen else None
        if shared.number not in self.groups_seen(shared.sharer):
            return None
        groups = self.groups_within(shared.number, 2)
        return {device for device, group in self.group_of.items() if group in groups}

    # Whether there is room

    def has_room_for_device(self, user: int) -> bool:
        return all(
            len({device for each in self.below(boss) for device in self.devices_seen(each)}) < limit
            for boss in self.limited_with(user)
            if (limit := self.people[boss].device_limit) >= 0
        )

    def has_room_for_user(self, user: int) -> bool:
        return all(
            len(self.below(boss)) - 1 < limit
            for boss in self.limited_with(user)
            if (limit := self.people[boss].user_limit) >= 0
        )

    # Changes of links

    def links(self, kind: str) -> set[tuple[int, int]]:
        named = {"device": self.devices, "group": self.groups, "managedUser": self.manages}
        return named[kind] if kind in named else self.plain[kind]


@dataclass(frozen=True)
class Standing:
    """What everybody has at one moment."""

    people: dict[int, tuple[frozenset[str], datetime | None, int, int]]
    seen: dict[int, tuple[frozenset[int], frozenset[int]]]
    manages: frozenset[tuple[int, int]]
    devices: frozenset[int]
    groups: frozenset[int]
    companies: frozenset[tuple[int, int]]
    plain: frozenset[tuple[str, int, int]]

    @classmethod
    def of(cls, tree: Tree) -> "Standing":
        return cls(
            {
                number: (frozenset(each.flags), each.expires, each.device_limit, each.user_limit)
                for number, each in tree.people.items()
            },
            {
                number: (frozenset(tree.devices_seen(number)), frozenset(tree.groups_seen(number)))
                for number in tree.people
            },
            frozenset(tree.manages),
            frozenset(tree.group_of),
            frozenset(tree.parent),
            frozenset(tree.companies),
            frozenset((kind, *pair) for kind in PLAIN for pair in tree.plain[kind]),
        )


NOT_YET = (frozenset(FLAGS), datetime.fromtimestamp(0, UTC), 0, 0)
"""What somebody has who does not exist."""


def raised(tree: Tree, actor: Actor, before: Standing) -> list[str]:
    """What somebody has got by an act that the actor lacks.

    The rule of all doors, which says nothing of any of them: so the answers above can be wrong only where
    this is wrong as well. `tree` is that of after the act.
    """
    after, found = Standing.of(tree), []
    devices, groups = before.seen[actor.user]
    for number, (flags, expires, *limits) in after.people.items():
        had = before.people.get(number, NOT_YET)
        found += [f"{number} is free of {flag}" for flag in had[0] - flags if not tree.may_free(actor, flag)]
        if expires != had[1] and not tree.may_last(actor, expires):
            found.append(f"{number} lasts until {expires}")
        if limits != list(had[2:]):
            found.append(f"{number} has limits {limits}")
        saw = before.seen.get(number, (frozenset(), frozenset()))
        # What was just made is seen by its maker, and by who sees its group.
        more = (after.seen[number][0] - saw[0] - devices) & before.devices
        further = (after.seen[number][1] - saw[1] - groups) & before.groups
        if more or further:
            found.append(f"{number} sees devices {set(more)}, groups {set(further)}")
    for boss, user in after.manages - before.manages:
        if user in before.people and not (user != actor.user and tree.sees_user(actor.user, user)):
            found.append(f"{boss} manages {user}")
    for boss, user in before.manages - after.manages:
        if actor.user in (boss, user):
            found.append(f"{user} is no longer below {boss}")
    made = {number for _, number in after.companies} - {number for _, number in before.companies}
    for user, company in after.companies - before.companies:
        if company not in made and (actor.user, company) not in before.companies:
            found.append(f"{user} belongs to company {company}")
    existed = {(kind, number) for kind, _, number in before.plain}
    for kind, user, number in after.plain - before.plain:
        if (kind, number) in existed and (kind, actor.user, number) not in before.plain:
            found.append(f"{user} sees {kind} {number}")
    return found
