"""Messages of the rule cache, which holds the configuration of devices."""

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.runtime import Kind, NodeLocal, Request


class GetRules(msgspec.Struct, Request[dict[int, DeviceRules]], NodeLocal, frozen=True, gc=False):
    """Return the rules of devices by their ids; unknown ids are left out. May raise StorageError."""

    device_ids: tuple[int, ...]


class ReloadRules(msgspec.Struct, frozen=True, gc=False):
    """Rows that could not be read are read again; sent by the rule cache to itself."""


RuleCacheMessage = ApplyChanges | GetRules | ReloadRules
RULE_CACHE: Kind[None, RuleCacheMessage] = Kind("rule_cache")
