"""Users, groups and devices and the links between them, as sets in memory. Pure: no actor, no SQL.

Mirrors the conditions of storage/accounts/access.py; tests/actors/accounts/test_access.py compares the two.
"""

from collections.abc import Collection, Iterable

from motorpool.storage.accounts.access import Links

LEVELS = 3
"""How far a link to a group reaches down: the group, its children and its grandchildren."""


class AccessGraph:
    """Which user sees which device, directly or through groups.

    The set of devices that a user sees is computed once and kept until a link, group or device on the way
    to it is replaced.
    """

    def __init__(self, links: Links) -> None:
        self._group_of: dict[int, int] = {}
        """Device -> its group, 0 without one; holds every existing device."""
        self._parent: dict[int, int] = {}
        """Group -> the group above it, 0 without one; holds every existing group."""
        self._members: dict[int, set[int]] = {}
        """Group -> the devices directly in it."""
        self._children: dict[int, set[int]] = {}
        """Group -> the groups directly below it."""
        self._devices_of_user: dict[int, set[int]] = {}
        self._users_of_device: dict[int, set[int]] = {}
        self._groups_of_user: dict[int, set[int]] = {}
        self._users_of_group: dict[int, set[int]] = {}
        self._visible: dict[int, frozenset[int]] = {}
        """User -> the devices that they see, where that was asked for."""
        self._set_groups(links.groups)
        self._set_devices(links.devices)
        _add_pairs(self._devices_of_user, self._users_of_device, links.user_devices)
        _add_pairs(self._groups_of_user, self._users_of_group, links.user_groups)

    def may_see(self, user_id: int, device_id: int) -> bool:
        """Whether the device exists and the user sees it; user 0 sees every device."""
        group_id = self._group_of.get(device_id)
        if group_id is None:
            return False
        if not user_id or user_id in self._users_of_device.get(device_id, ()):
            return True
        linked = self._groups_of_user.get(user_id)
        return linked is not None and not linked.isdisjoint(self._with_ancestors(group_id))

    def covers(self, user_id: int, guest_id: int) -> bool:
        """Whether the user sees everything that the guest is linked to, which is not nothing.

        User 0 sees everything that exists.
        """
        device_ids = self._devices_of_user.get(guest_id, set())
        group_ids = self._groups_of_user.get(guest_id, set())
        linked = self._groups_of_user.get(user_id, set())
        return (
            bool(device_ids or group_ids)
            and all(self.may_see(user_id, device_id) for device_id in device_ids)
            and all(
                group_id in self._parent
                and (not user_id or not linked.isdisjoint(self._with_ancestors(group_id)))
                for group_id in group_ids
            )
        )

    def visible_devices(self, user_id: int) -> frozenset[int]:
        """Return the devices that the user sees."""
        known = self._visible.get(user_id)
        if known is None:
            known = frozenset(self._devices_of_user.get(user_id, ())).union(
                *(self.devices_below(group_id) for group_id in self._groups_of_user.get(user_id, ()))
            )
            self._visible[user_id] = known
        return known

    def viewers(self, device_id: int) -> frozenset[int]:
        """Return the users who see the device."""
        group_id = self._group_of.get(device_id)
        if group_id is None:
            return frozenset()
        return frozenset(self._users_of_device.get(device_id, ())) | self._users_above(group_id)

    def devices_below(self, group_id: int) -> frozenset[int]:
        """Return the devices of the group and of the groups below it."""
        found: set[int] = set()
        level = {group_id}
        for _ in range(LEVELS):
            found.update(*(self._members.get(each, ()) for each in level))
            level = set().union(*(self._children.get(each, ()) for each in level))
        return frozenset(found)

    def child_groups(self, group_ids: Iterable[int]) -> set[int]:
        """Return the groups directly below these."""
        return set().union(*(self._children.get(group_id, ()) for group_id in group_ids))

    def direct_members(self, group_ids: Iterable[int]) -> set[int]:
        """Return the devices directly in these groups."""
        return set().union(*(self._members.get(group_id, ()) for group_id in group_ids))

    def replace_groups(self, group_ids: Collection[int], links: Links) -> None:
        """Put `links` in place of these groups, of their parents and of the users linked to them."""
        for group_id in group_ids:
            self._drop_visible(self._users_above(group_id))
        for group_id in group_ids:
            parent = self._parent.pop(group_id, 0)
            self._children.get(parent, set()).discard(group_id)
        self._set_groups(links.groups)
        pairs = ((group_id, user_id) for user_id, group_id in links.user_groups)
        _replace_pairs(self._users_of_group, self._groups_of_user, group_ids, pairs)
        for group_id in group_ids:
            self._drop_visible(self._users_above(group_id))

    def replace_devices(self, device_ids: Collection[int], links: Links) -> None:
        """Put `links` in place of these devices, of their groups and of the users linked to them."""
        for device_id in device_ids:
            self._drop_visible(self.viewers(device_id))
            group_id = self._group_of.pop(device_id, 0)
            self._members.get(group_id, set()).discard(device_id)
        self._set_devices(links.devices)
        pairs = ((device_id, user_id) for user_id, device_id in links.user_devices)
        _replace_pairs(self._users_of_device, self._devices_of_user, device_ids, pairs)
        for device_id in device_ids:
            self._drop_visible(self.viewers(device_id))

    def replace_users(self, user_ids: Collection[int], links: Links) -> None:
        """Put `links` in place of all links of these users."""
        _replace_pairs(self._groups_of_user, self._users_of_group, user_ids, links.user_groups)
        _replace_pairs(self._devices_of_user, self._users_of_device, user_ids, links.user_devices)
        self._drop_visible(user_ids)

    def _drop_visible(self, user_ids: Iterable[int]) -> None:
        for user_id in user_ids:
            self._visible.pop(user_id, None)

    def _set_groups(self, rows: Iterable[tuple[int, int]]) -> None:
        for group_id, parent in rows:
            self._parent[group_id] = parent
            if parent:
                self._children.setdefault(parent, set()).add(group_id)

    def _set_devices(self, rows: Iterable[tuple[int, int]]) -> None:
        for device_id, group_id in rows:
            self._group_of[device_id] = group_id
            if group_id:
                self._members.setdefault(group_id, set()).add(device_id)

    def _with_ancestors(self, group_id: int) -> list[int]:
        """The group and those above it whose links reach down to it."""
        chain: list[int] = []
        while group_id and len(chain) < LEVELS:
            chain.append(group_id)
            group_id = self._parent.get(group_id, 0)
        return chain

    def _users_above(self, group_id: int) -> frozenset[int]:
        """The users who see what is directly in the group."""
        return frozenset().union(
            *(self._users_of_group.get(each, ()) for each in self._with_ancestors(group_id))
        )


def _add_pairs(
    forward: dict[int, set[int]], backward: dict[int, set[int]], pairs: Iterable[tuple[int, int]]
) -> None:
    for key, value in pairs:
        forward.setdefault(key, set()).add(value)
        backward.setdefault(value, set()).add(key)


def _replace_pairs(
    forward: dict[int, set[int]],
    backward: dict[int, set[int]],
    keys: Iterable[int],
    pairs: Iterable[tuple[int, int]],
) -> None:
    """Replace all pairs of the keys, in both directions."""
    for key in keys:
        for value in forward.pop(key, ()):
            rest = backward.get(value)
            if rest is not None:
                rest.discard(key)
                if not rest:
                    del backward[value]
    _add_pairs(forward, backward, pairs)
