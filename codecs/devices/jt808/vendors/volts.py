"""Voltages for which the message does not say whether they belong to the supply or the battery."""

from typing import Any

_CELL_VOLTS = 6.0
"""A lithium cell has less; vehicles have 12 or 24 V."""


def add_volts(volts: float, attributes: dict[str, Any]) -> None:
    """Add a voltage as `battery` below 6 V, as `power` from there on
    (docs/protocols/jt808-vendors.md#volts).
    """
    attributes["battery" if volts < _CELL_VOLTS else "power"] = volts
