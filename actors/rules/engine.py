"""Whether the engine of a device runs, by what one position tells (docs/positions.md#engine). Pure."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.rules.position_event import read_finite


def is_engine_on(attributes: Mapping[str, Any], charging_voltage: float = 0.0) -> bool | None:
    """Return whether the engine runs at a position with these attributes; None where they do not tell.

    The first of these counts that the device sends: its revolutions (`rpm`), the ignition (`ignition`), and
    with a `charging_voltage` above 0 the voltage of the supply (`power`), which an alternator raises. Values
    of other types tell nothing.
    """
    rpm, ignition = attributes.get("rpm"), attributes.get("ignition")
    if ignition is not True and ignition is not False:
        ignition = None
    if rpm is None and (ignition is not None or not charging_voltage):
        # As of most devices.
        return ignition
    return engine_state(
        None if rpm is None else read_finite(rpm),
        ignition,
        read_finite(attributes.get("power")) if charging_voltage else None,
        charging_voltage,
    )


def engine_state(
    rpm: float | None, ignition: bool | None, power: float | None = None, charging_voltage: float = 0.0
) -> bool | None:
    """Return whether the engine runs, as `is_engine_on` does; None stands for a value that was not sent.

    Revolutions come first, since a driver who rests with the key turned has the ignition on.
    """
    if rpm is not None:
        return rpm > 0
    if ignition is not None:
        return ignition
    if power is not None and charging_voltage > 0:
        return power >= charging_voltage
    return None
