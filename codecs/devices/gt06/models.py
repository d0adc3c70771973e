"""Models whose messages differ without saying so (docs/protocols/gt06.md#models)."""

from typing import Final

NT: Final = frozenset(("NT11", "NT20", "NT26", "NT40", "NT46", "VL100", "XT40"))
"""IMEI and times before the GPS block, states and voltages behind it, in types 22 and 25."""
VL: Final = frozenset(("VL103", "LL303", "VL512", "G18"))
"""Other alarms."""
LW_PREFIX: Final = "LW"
"""Begins the names of models with other alarms, and with the supply voltage behind the states."""
SEEWORLD, R11, QH302R, TRX16I, G109 = "SEEWORLD", "R11", "QH302R", "TRX16I", "G109"

MODELS: Final = (*sorted(NT | VL | {"LW4G", R11, QH302R, G109}), "Seeworld", "TRX16i")
"""All of them, as the console offers them; upper and lower case do not matter."""


def family(model: str) -> str:
    """Return the name under which a model's own alarms are listed: its own, `LW` or `VL`."""
    if model.startswith(LW_PREFIX):
        return LW_PREFIX
    return "VL" if model in VL else model
