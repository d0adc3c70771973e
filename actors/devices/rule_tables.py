"""What is configured for devices, in memory: looked up for each device without a query.

Pure: no actor, no SQL.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from motorpool.actors.devices.protocol_attributes import attributes_of_protocols
from motorpool.actors.devices.rule_reader import PROPERTIES, RuleObjects
from motorpool.actors.rules.computed import CompiledAttribute
from motorpool.actors.rules.device_rules import DeviceRules, LocalCalendar
from motorpool.actors.rules.geofence_index import EMPTY, GeofenceIndex, IndexedGeofence
from motorpool.actors.rules.identity_rules import IDENTITY_KEYS, PROTOCOL, read_identity_rules
from motorpool.actors.rules.rule_settings import RULE_KEYS, RuleSettings, read_rule_settings
from motorpool.actors.rules.sensor_limits import PREFIX as SENSOR_LIMITS
from motorpool.actors.rules.sensor_limits import read_sensor_limits
from motorpool.actors.rules.severity import PREFIX as EVENT_SEVERITIES
from motorpool.actors.rules.severity import read_severities
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.records import Device
from motorpool.storage.rules.rule_rows import RULE_LINKS, GroupRow

LEVELS: Final = 3
"""How many levels of groups count: the device's group, its parent and its grandparent, as in
storage/accounts/access.py."""
_KEYS: Final = RULE_KEYS | IDENTITY_KEYS
"""Attributes of a device that make its rules others than those of its group."""
_PREFIXES: Final = (SENSOR_LIMITS, EVENT_SEVERITIES)
"""How more of them begin."""
_SCALARS: Final = frozenset({str, bool, int, float})
_DEVICE_LINKS: Final = tuple(kind.property for kind in RULE_LINKS if kind.owner == "device")

_NO_ATTRIBUTES: Final[Mapping[str, Any]] = {}
"""Shared by the devices whose groups have none."""

_Key = tuple[int, int, tuple[Any, ...], tuple[Any, ...]]
"""Group, calendar, attributes and links of a device: devices with the same have the same rules."""


class RuleTables:
    """The rows that the rules of devices are made of, and the rules made so far."""

    def __init__(
        self,
        configuration: RuleSettings,
        protocol_attributes: Mapping[str, Any] | None = None,
        binding: str = PROTOCOL,
    ) -> None:
        self._configuration = configuration
        self._binding = binding
        self._protocol_attributes = protocol_attributes or {}
        self.server: Mapping[str, Any] = {}
        """Attributes of the server."""
        self.groups: dict[int, GroupRow] = {}
        self.links: dict[tuple[str, str], dict[int, tuple[int, ...]]] = {
            (kind.owner, kind.property): {} for kind in RULE_LINKS
        }
        """(owner type, property type) -> owner id -> property ids."""
        self.objects: dict[str, dict[int, Any]] = {name: {} for name in PROPERTIES}
        """Type -> id -> linked object, without objects that cannot be evaluated."""
        self.calendars: dict[int, LocalCalendar] = {}
        """Calendar id -> calendar: of the geofences, and of the devices that were asked for."""
        self._rules: dict[_Key, DeviceRules] = {}
        self._settings: dict[RuleSettings, RuleSettings] = {}
        self._indexes: dict[frozenset[int], GeofenceIndex] = {}

    def replace_links(
        self, kind: LinkType, owner_ids: Iterable[int], found: Mapping[int, tuple[int, ...]]
    ) -> None:
        """Replace the links of these owners with `found`."""
        table = self.links[kind.owner, kind.property]
        for owner_id in owner_ids:
            table.pop(owner_id, None)
        table.update(found)

    def replace_objects(self, removed: Mapping[str, Iterable[int]], found: RuleObjects) -> None:
        """Replace the objects with the ids in `removed`, by type, with `found`."""
        for name, ids in removed.items():
            for number in ids:
                self.objects[name].pop(number, None)
        for name, objects in found.items():
            self.objects[name].update(objects)
        changed = frozenset(removed.get("geofence", ())) | found["geofence"].keys()
        self._indexes = {ids: index for ids, index in self._indexes.items() if ids.isdisjoint(changed)}

    def forget_rules(self) -> None:
        """Make all rules anew when they are asked for."""
        self._rules.clear()
        self._settings.clear()

    def rules_of(self, device: Device) -> DeviceRules:
        """Return the rules of a device; `device` is its present row."""
        own = tuple(
            (key, value.__class__, value)
            for key, value in device.attributes.items()
            if (key in _KEYS or key.startswith(_PREFIXES)) and value.__class__ in _SCALARS
        )
        links = self.links
        direct = tuple(links["device", name].get(device.id, ()) for name in _DEVICE_LINKS)
        key = device.group_id, device.calendar_id, own, direct
        found = self._rules.get(key)
        if found is None:
            found = self._rules[key] = self._make(device)
        return found

    def _make(self, device: Device) -> DeviceRules:
        chain = self._groups_above(device.group_id)
        layers = [device.attributes, *(self.groups[number].attributes for number in chain), self.server]
        settings = read_rule_settings(layers, self._configuration)
        settings = self._settings.setdefault(settings, settings)
        geofences = self._linked_to("geofence", device.id, chain)
        computed: list[CompiledAttribute] = self._linked_to("attribute", device.id, chain)
        computed.sort(key=lambda each: -each.attribute.priority)
        drivers = self._linked_to("driver", device.id, chain) if settings.processing_use_linked_driver else []
        calendar_ids = {geofence.calendar_id for geofence in geofences} & self.calendars.keys()
        inherited = dict(self._protocol_attributes)
        for layer in reversed(layers[1:]):
            inherited |= attributes_of_protocols(layer)
        return DeviceRules(
            settings=settings,
            protocol_attributes=inherited or _NO_ATTRIBUTES,
            geofences=self._index_of(geofences),
            early_computed=tuple(each for each in computed if each.attribute.priority < 0),
            computed=tuple(each for each in computed if each.attribute.priority >= 0),
            calendar=self.calendars.get(device.calendar_id),
            calendars={number: self.calendars[number] for number in calendar_ids},
            maintenances=tuple(self._linked_to("maintenance", device.id, chain)),
            linked_devices=self.links["device", "linkedDevice"].get(device.id, ()),
            identity=read_identity_rules(layers, self._binding),
            sensor_limits=read_sensor_limits(layers),
            severities=read_severities(layers),
            driver_unique_id=drivers[0].unique_id if drivers else None,
        )

    def _groups_above(self, group_id: int) -> list[int]:
        """Return the group and those above it that count, from the bottom to the top."""
        chain: list[int] = []
        while group_id in self.groups and len(chain) < LEVELS:
            chain.append(group_id)
            group_id = self.groups[group_id].parent
        return chain

    def _linked_to(self, name: str, device_id: int, chain: Iterable[int]) -> list[Any]:
        """Return what the device and the groups are linked to, in the order of ids."""
        of_groups, objects = self.links["group", name], self.objects[name]
        found = set(self.links["device", name].get(device_id, ()))
        found.update(*(of_groups.get(number, ()) for number in chain))
        return [objects[number] for number in sorted(found & objects.keys())]

    def _index_of(self, geofences: list[IndexedGeofence]) -> GeofenceIndex:
        if not geofences:
            return EMPTY
        ids = frozenset(geofence.id for geofence in geofences)
        found = self._indexes.get(ids)
        if found is None:
            found = self._indexes[ids] = GeofenceIndex(geofences)
        return found
