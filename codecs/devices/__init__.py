"""The device protocols; `base.py` is their contract.

Every subclass of `DeviceCodec` with a name that is defined in a module of this folder, or in the module
`codec` of a package here, is registered. A package without such a module is no protocol.
"""

import importlib
import importlib.util
import pkgutil

from motorpool.codecs.devices.base import DeviceCodec

__all__ = ["CODECS", "DeviceCodec"]


def _find_codecs() -> dict[str, type[DeviceCodec]]:
    codecs: dict[str, type[DeviceCodec]] = {}
    for module_info in pkgutil.iter_modules(__path__):
        name = f"{__name__}.{module_info.name}"
        if module_info.ispkg:
            name = f"{name}.codec"
            if importlib.util.find_spec(name) is None:
                continue
        module = importlib.import_module(name)
        for candidate in vars(module).values():
            if (
                isinstance(candidate, type)
                and issubclass(candidate, DeviceCodec)
                and candidate.__module__ == module.__name__
                and "name" in vars(candidate)
            ):
                codecs[candidate.name] = candidate
    return codecs


CODECS: dict[str, type[DeviceCodec]] = _find_codecs()
"""The device codecs by protocol name."""
