"""The doors by which users give each other something: requests, what must come of them, and what they change.

To add a door, add a function to `DOORS`. It draws a request of somebody, asks the oracle whether it is
allowed, and says what follows from it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tests.api.granting.oracle import FLAGS, PLAIN, Actor, Guest, Person, Shared, Tree

START = datetime.fromisoformat("2026-05-01T12:00:00+00:00")
"""The clock of the servers under test."""
EXPIRATIONS = (None, *(START + timedelta(days=days) for days in (10, 20, 30)))


def nothing(_: Any) -> None:
    """What follows from a request that changes nothing."""


@dataclass(kw_only=True)
class Request:
    """What somebody tries."""

    method: str
    path: str
    allowed: bool
    sent: Any = field(default_factory=dict)
    """A JSON body, or `{"form": …}`."""
    follow: Callable[[Any], None] = nothing
    """Changes the tree as the answer says, if it is allowed."""
    opens: Actor | None = None
    """A login that an allowed request gives; of a token the answer is its text, else it sets a cookie."""
    ends: frozenset[int] = frozenset()
    """Users whose logins it ends if it is allowed, and all who act as them or by them."""
    token: str | None = None
    """What it is sent with in place of the actor's login; an empty text is nothing."""
    shows: set[int] | None = None
    """The ids in the list that an allowed request answers with."""
    is_registration: bool = False
    """Whether what follows is given by the server's settings, and not by the actor."""


@dataclass
class Draw:
    """Somebody who tries a door of a tree."""

    chance: random.Random
    tree: Tree
    actor: Actor
    new_name: Callable[[], str]

    @property
    def user(self) -> int:
        return self.actor.user

    def person(self) -> Person:
        """Most often somebody whom the user manages."""
        own = [each for each in self.tree.people.values() if self.tree.sees_user(self.user, each.id)]
        return self.chance.choice(own if self.chance.random() < 0.75 else [*self.tree.people.values()])

    def often_of(self, seen: set[int], everything: set[int]) -> int:
        return self.chance.choice(sorted(seen if seen and self.chance.random() < 0.75 else everything))

    def is_bound(self, *flags: str) -> bool:
        return any(self.tree.is_bound(self.actor, flag) for flag in flags)


def shown(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")


def body_of(person: Person) -> dict[str, Any]:
    """The object that clients read and send back."""
    return {
        "name": "somebody",
        "email": person.email,
        **{flag: flag in person.flags for flag in FLAGS},
        "disabled": person.disabled,
        "expirationTime": shown(person.expires),
        "deviceLimit": person.device_limit,
        "userLimit": person.user_limit,
        "attributes": person.receivers,
    }


ROLES: tuple[dict[str, Any], ...] = (
    {"administrator": True},
    {"userLimit": 7},
    {"deviceLimit": 7},
    {"temporary": True},
)


RECEIVERS = ("webhook.url", "mail.smtp.host", "ntfyTopic")
"""Attributes that say where the messages of a user go."""


def create_user(draw: Draw) -> Request:
    tree, chance = draw.tree, draw.chance
    if not tree.people[draw.user].is_manager and tree.registration:
        return register(draw)
    named = {flag: chance.random() < 0.5 for flag in FLAGS if chance.random() < 0.3}
    expires = chance.choice((*EXPIRATIONS, tree.ends(draw.actor)))
    role = chance.choice(ROLES) if chance.random() < 0.1 else {}
    email = f"{draw.new_name()}@example.org"
    sent = {"name": "somebody", "email": email, "password": "x", "expirationTime": shown(expires)}
    allowed = (
        tree.people[draw.user].is_manager
        and not draw.is_bound("readonly")
        and not role
        and all(value or tree.may_free(draw.actor, flag) for flag, value in named.items())
        and tree.may_last(draw.actor, expires)
        and tree.has_room_for_user(draw.user)
    )

    def follow(answer: Any) -> None:
        kept = {flag for flag in FLAGS if named.get(flag, not tree.may_free(draw.actor, flag))}
        number = answer["id"]
        tree.people[number] = Person(number, email, kept, expires, 0, 0)
        tree.manages.add((draw.user, number))

    return Request(
        method="POST", path="/users", sent={**sent, **named, **role}, allowed=allowed, follow=follow
    )


def register(draw: Draw) -> Request:
    """As anybody may, also a user who is no manager: the server says what comes of it."""
    tree, chance = draw.tree, draw.chance
    named = {flag: chance.random() < 0.2 for flag in (*FLAGS, "disabled") if chance.random() < 0.3}
    role = chance.choice(ROLES) if chance.random() < 0.2 else {}
    email = f"{draw.new_name()}@example.org"
    sent = {"name": "somebody", "email": email, "password": "x", "expirationTime": shown(EXPIRATIONS[3])}
    allowed = tree.registration and not any(named.values()) and (not role or role == {"deviceLimit": -1})

    def follow(answer: Any) -> None:
        number = answer["id"]
        tree.people[number] = Person(number, email, set(tree.defaults), None, -1, 0)

    return Request(
        method="POST",
        path="/users",
        sent={**sent, **named, **role},
        allowed=allowed,
        follow=follow,
        token="" if chance.random() < 0.5 or tree.people[draw.user].is_manager else None,
        is_registration=True,
    )


def edit_user(draw: Draw) -> Request:
    tree, chance, actor = draw.tree, draw.chance, draw.actor
    person = draw.person()
    own = person.id == draw.user
    flags = set(person.flags)
    for flag in FLAGS:
        if chance.random() < 0.15:
            flags ^= {flag}
    expires = chance.choice(EXPIRATIONS) if chance.random() < 0.3 else person.expires
    disabled = person.disabled != (chance.random() < 0.1)
    role = chance.choice(ROLES) if chance.random() < 0.05 else {}
    # Of oneself both need more than a right.
    password = not own and chance.random() < 0.3
    email = f"{draw.new_name()}@example.org" if not own and chance.random() < 0.2 else person.email
    receivers = dict(person.receivers)
    if not own and chance.random() < 0.1:
        receivers[chance.choice(RECEIVERS)] = f"https://{draw.new_name()}.org"
    changed = replace(
        person, email=email, flags=flags, expires=expires, disabled=disabled, receivers=receivers
    )
    role_differs = any(body_of(person).get(name, False) != value for name, value in role.items())
    differs = role_differs or password or changed != person
    lifted = person.flags - flags
    moved = expires != person.expires
    is_above = not tree.may_last(actor, expires) or any(
        not tree.may_free(actor, flag) for flag in {*FLAGS} - flags - {"fixedEmail"}
    )
    fixed = "fixedEmail" in person.flags or (tree.forced and "fixedEmail" in tree.defaults)
    allowed = (
        tree.sees_user(draw.user, person.id)
        and not (draw.is_bound("readonly") and (differs or not own))
        and not (own and (flags != person.flags or disabled != person.disabled))
        and not role_differs
        and all(tree.may_free(actor, flag) for flag in lifted)
        and not (moved and not tree.may_last(actor, expires))
        and not ((password or email != person.email or receivers != person.receivers) and is_above)
        and not (email != person.email and fixed)
    )

    def follow(_: Any) -> None:
        tree.people[person.id] = changed
        if password:
            # Nobody looks at what has ended for good.
            links = tree.links_of_guests
            tree.links_of_guests = {token: link for token, link in links.items() if link.by != person.id}

    return Request(
        method="PUT",
        path=f"/users/{person.id}",
        sent={**body_of(changed), **({"password": "y"} if password else {}), **role},
        allowed=allowed,
        follow=follow,
        ends=frozenset({person.id}) if password or disabled else frozenset(),
    )


def save_what_was_read(draw: Draw) -> Request:
    """Clients write back the object of `GET /session`, which tells what is stored."""
    person = draw.tree.people[draw.user]
    return Request(method="PUT", path=f"/users/{person.id}", sent=body_of(person), allowed=True)


KINDS = ("device", "group", "managedUser", *PLAIN)


def link(draw: Draw) -> Request:
    return _link(draw, add=True)


def unlink(draw: Draw) -> Request:
    return _link(draw, add=False)


def link_many(draw: Draw) -> Request:
    return _link(draw, add=True, count=3)


def unlink_many(draw: Draw) -> Request:
    return _link(draw, add=False, count=3)


def _link(draw: Draw, *, add: bool, count: int = 1) -> Request:
    """Link or unlink objects of one kind, all or none."""
    tree, user, kind = draw.tree, draw.user, draw.chance.choice(KINDS)
    everything = {
        "device": set(tree.group_of),
        "group": set(tree.parent),
        "managedUser": set(tree.people),
        **{kind: {number for _, number in tree.plain[kind]} for kind in PLAIN},
    }[kind]
    seen = {number for number in everything if tree.sees(user, kind, number)}
    links = tree.links(kind)
    pairs = [(draw.person().id, draw.often_of(seen, everything or {1_000_000})) for _ in range(count)]

    def may(owner: int, number: int) -> bool:
        allowed = tree.sees_user(user, owner) and number in seen
        if kind == "managedUser":
            allowed = allowed and number != user and (add or owner != user)
        if kind == "group" and add and (owner, number) not in links:
            allowed = allowed and tree.groups_within(number, 2) <= tree.groups_seen(user)
        return allowed

    def follow(_: Any) -> None:
        (links.update if add else links.difference_update)(pairs)

    sent = [{"userId": owner, f"{kind}Id": number} for owner, number in pairs]
    return Request(
        method="POST" if add else "DELETE",
        path="/permissions" if count == 1 else "/permissions/bulk",
        sent=sent[0] if count == 1 else sent,
        allowed=not draw.is_bound("readonly") and all(may(*pair) for pair in pairs),
        follow=follow,
    )


def make_company(draw: Draw) -> Request:
    tree = draw.tree

    def follow(answer: Any) -> None:
        tree.companies[draw.user, answer["id"]] = True

    return Request(
        method="POST",
        path="/companies",
        sent={"name": "company"},
        allowed=not draw.is_bound("readonly"),
        follow=follow,
    )


def link_company(draw: Draw) -> Request:
    """Its managers link users whom they manage, and end the links of anybody."""
    tree, user, chance = draw.tree, draw.user, draw.chance
    everything = {number for _, number in tree.companies}
    if not everything:
        return make_company(draw)
    company, owner, add = draw.often_of(tree.companies_seen(user), everything), draw.person().id, True
    linked = [each for each, number in tree.companies if number == company]
    if chance.random() < 0.4:
        owner, add = chance.choice(linked), False
    left = Tree(
        people=tree.people, companies={k: v for k, v in tree.companies.items() if k != (owner, company)}
    )
    allowed = (
        not draw.is_bound("readonly")
        and tree.manages_company(user, company)
        and (tree.sees_user(user, owner) if add else owner != user or left.has_manager(company))
    )

    def follow(_: Any) -> None:
        if add:
            tree.companies.setdefault((owner, company), False)
        else:
            del tree.companies[owner, company]

    sent = {"userId": owner, "companyId": company}
    return Request(
        method="POST" if add else "DELETE", path="/permissions", sent=sent, allowed=allowed, follow=follow
    )


def refer(draw: Draw) -> Request:
    """Name an object in another one, which others may see as well."""
    tree, user = draw.tree, draw.user
    kind, named, path, sent = draw.chance.choice(REFERENCES)
    holders, others = ({number for _, number in tree.plain[each]} for each in (kind, named))
    holder, other = (
        draw.often_of({number for number in numbers if tree.sees(user, each, number)}, numbers or {1_000_000})
        for each, numbers in ((kind, holders), (named, others))
    )
    before = tree.references.get((kind, holder), 0)
    allowed = (
        not draw.is_bound("readonly")
        and tree.sees(user, kind, holder)
        and (other == before or tree.sees(user, named, other))
    )

    def follow(_: Any) -> None:
        tree.references[kind, holder] = other

    return Request(
        method="PUT",
        path=f"/{path}/{holder}",
        sent={**sent, f"{named}Id": other},
        allowed=allowed,
        follow=follow,
    )


REFERENCES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("geofence", "calendar", "geofences", {"name": "x", "area": "CIRCLE (1 1, 100)"}),
    ("notification", "command", "notifications", {"type": "alarm", "notificators": "command"}),
)
"""Kinds of the object and of what it names, the path, and the rest of the object."""


def share(draw: Draw) -> Request:
    tree, user, chance = draw.tree, draw.user, draw.chance
    kind = chance.choice(("device", "group"))
    everything = set(tree.group_of if kind == "device" else tree.parent)
    number = draw.often_of({each for each in everything if tree.sees(user, kind, each)}, everything)
    requested = chance.choice(EXPIRATIONS[1:])
    allowed = not draw.is_bound("readonly") and tree.sees(user, kind, number)
    if kind == "group":
        allowed = allowed and tree.groups_within(number, 2) <= tree.groups_seen(user)
    end = tree.ends(draw.actor)
    expires = requested if end is None else min(requested, end)
    called = tree.unique_ids[number] if kind == "device" else f"group:{number}"
    email = f"{tree.people[user].email}:{called}"

    def follow(answer: Any) -> None:
        tree.links_of_guests[answer] = Shared(user, draw.actor.by, kind, number)
        flags = {flag for flag in ("limitCommands", "disableReports") if not tree.may_free(draw.actor, flag)}
        before = tree.guests.get(email)
        tree.guests[email] = Guest(
            frozenset({"readonly", "fixedEmail", *flags}), max(expires, before.expires) if before else expires
        )

    form = {f"{kind}Id": str(number), "expiration": shown(requested)}
    return Request(method="POST", path=f"/share/{kind}", sent={"form": form}, allowed=allowed, follow=follow)


def open_session(draw: Draw) -> Request:
    """As somebody else; who is acting as a user already goes on by their own rights."""
    tree, actor = draw.tree, draw.actor
    person = draw.person()
    who = actor.by or actor.user
    allowed = tree.sees_user(actor.user, person.id) and tree.sees_user(who, person.id) and not person.disabled
    return Request(
        method="GET",
        path=f"/session/{person.id}",
        allowed=allowed,
        opens=Actor(person.id, who if who != person.id else 0),
    )


def issue_token(draw: Draw) -> Request:
    # Longer than anything that is given with it: a token ends that too.
    form = {"expiration": shown(START + timedelta(days=90))}
    return Request(method="POST", path="/session/token", sent={"form": form}, allowed=True, opens=draw.actor)


def add_device(draw: Draw) -> Request:
    tree, user = draw.tree, draw.user
    name = draw.new_name()
    group = draw.often_of(tree.groups_seen(user), set(tree.parent)) if draw.chance.random() < 0.4 else 0
    allowed = (
        not draw.is_bound("readonly", "deviceReadonly")
        and (not group or group in tree.groups_seen(user))
        and tree.has_room_for_device(user)
    )

    def follow(answer: Any) -> None:
        tree.group_of[answer["id"]] = group
        tree.unique_ids[answer["id"]] = name
        tree.devices.add((user, answer["id"]))

    sent = {"name": name, "uniqueId": name, "groupId": group}
    return Request(method="POST", path="/devices", sent=sent, allowed=allowed, follow=follow)


def move_group(draw: Draw) -> Request:
    tree, seen = draw.tree, draw.tree.groups_seen(draw.user)
    group = draw.often_of(seen, set(tree.parent))
    parent = 0 if draw.chance.random() < 0.2 else draw.often_of(seen, set(tree.parent))
    children = {each for each, of in tree.parent.items() if of == group}
    moved = parent not in (0, tree.parent[group])
    allowed = (
        not draw.is_bound("readonly")
        and group in seen
        and not (moved and parent not in seen)
        and not (moved and parent in tree.groups_within(group, len(tree.parent)))
        and not (moved and not children <= seen)
    )

    def follow(_: Any) -> None:
        tree.parent[group] = parent

    sent = {"name": "group", "groupId": parent}
    return Request(method="PUT", path=f"/groups/{group}", sent=sent, allowed=allowed, follow=follow)


def move_device(draw: Draw) -> Request:
    """Who sees the group then sees the device."""
    tree, user = draw.tree, draw.user
    device = draw.often_of(tree.devices_seen(user), set(tree.group_of))
    group = 0 if draw.chance.random() < 0.2 else draw.often_of(tree.groups_seen(user), set(tree.parent))
    allowed = (
        not draw.is_bound("readonly", "deviceReadonly")
        and device in tree.devices_seen(user)
        and (group in (0, tree.group_of[device]) or group in tree.groups_seen(user))
    )

    def follow(_: Any) -> None:
        tree.group_of[device] = group

    name = tree.unique_ids[device]
    sent = {"name": name, "uniqueId": name, "groupId": group}
    return Request(method="PUT", path=f"/devices/{device}", sent=sent, allowed=allowed, follow=follow)


def add_group(draw: Draw) -> Request:
    tree, user = draw.tree, draw.user
    seen = tree.groups_seen(user)
    parent = 0 if draw.chance.random() < 0.2 else draw.often_of(seen, set(tree.parent))
    allowed = not draw.is_bound("readonly") and (not parent or parent in seen)

    def follow(answer: Any) -> None:
        tree.parent[answer["id"]] = parent
        tree.groups.add((user, answer["id"]))

    sent = {"name": "group", "groupId": parent}
    return Request(method="POST", path="/groups", sent=sent, allowed=allowed, follow=follow)


def look(draw: Draw) -> Request:
    """See what there is, and nothing else."""
    tree, user = draw.tree, draw.user
    kind = draw.chance.choice((*KINDS, "company"))
    if kind == "managedUser":
        shows = {number for number in tree.people if tree.manages_directly(user, number)}
    elif kind == "company":
        shows = tree.companies_seen(user)
    elif kind == "device":
        shows = tree.devices_seen(user)
    elif kind == "group":
        shows = tree.groups_seen(user)
    else:
        shows = {number for who, number in tree.plain[kind] if who == user}
    allowed = kind != "managedUser" or tree.people[user].is_manager
    return Request(method="GET", path=f"/{LISTS[kind]}", allowed=allowed, shows=shows)


LISTS = {
    "device": "devices",
    "group": "groups",
    "managedUser": "users",
    "company": "companies",
    "geofence": "geofences",
    "command": "commands",
    "calendar": "calendars",
    "notification": "notifications",
    "driver": "drivers",
    "maintenance": "maintenance",
    "order": "orders",
    "attribute": "attributes/computed",
    "scheduledCommand": "scheduledcommands",
    "report": "reports",
}


def as_guest(draw: Draw) -> Request:
    """With a share link, which shows what its sharer still sees, and gives nothing on."""
    tree, chance = draw.tree, draw.chance
    if not tree.links_of_guests:
        return share(draw)
    token, shared = chance.choice([*tree.links_of_guests.items()])
    seen = tree.seen_by_guest(shared)
    if chance.random() < 0.6:
        return Request(method="GET", path="/devices", allowed=seen is not None, shows=seen, token=token)
    # As if the guest were somebody who may do it.
    door = chance.choice(
        (edit_user, link, link_many, share, add_device, move_device, issue_token, make_company)
    )
    request = door(draw)
    return Request(method=request.method, path=request.path, sent=request.sent, allowed=False, token=token)


def save_command(draw: Draw) -> Request:
    """What `limitCommands` forbids."""
    tree, user = draw.tree, draw.user
    sent = {"type": "custom", "description": "x", "attributes": {"data": "00"}}
    allowed = not draw.is_bound("readonly", "limitCommands")

    def follow(answer: Any) -> None:
        tree.plain["command"].add((user, answer["id"]))

    return Request(method="POST", path="/commands", sent=sent, allowed=allowed, follow=follow)


DOORS: dict[str, tuple[int, Callable[[Draw], Request]]] = {
    "creation": (4, create_user),
    "registration": (1, register),
    "change": (5, edit_user),
    "saving what was read": (1, save_what_was_read),
    "link": (5, link),
    "unlink": (2, unlink),
    "many links": (2, link_many),
    "many unlinks": (1, unlink_many),
    "share": (3, share),
    "share link": (4, as_guest),
    "session": (4, open_session),
    "token": (3, issue_token),
    "device": (3, add_device),
    "move of a device": (2, move_device),
    "new group": (1, add_group),
    "group": (2, move_group),
    "company": (1, make_company),
    "member": (3, link_company),
    "reference": (2, refer),
    "command": (1, save_command),
    "look": (6, look),
}
"""Name -> how often it is tried in proportion to others, and what it draws."""
