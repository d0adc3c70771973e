"""The device protocols: each module of this folder that defines a DeviceCodec is one."""

import importlib
import pkgutil

from motorpool.codecs.devices.base import DeviceCodec

__all__ = ["CODECS", "DeviceCodec"]


def _find() -> dict[str, type[DeviceCodec]]:
    found: dict[str, type[DeviceCodec]] = {}
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for candidate in vars(module).values():
            if (
                isinstance(candidate, type)
                and issubclass(candidate, DeviceCodec)
                and candidate.__module__ == module.__name__
                and "name" in vars(candidate)
            ):
                found[candidate.name] = candidate
    return found


CODECS: dict[str, type[DeviceCodec]] = _find()
"""Every device codec by its protocol name."""
