"""Cells and access points in the form of the API's `network`."""

from collections.abc import Sequence
from typing import Any

_NO_AREA, _NO_CELLS = frozenset((0, 0xFFFF)), frozenset((0, 0xFFFF, 0xFFFFFFF, 0xFFFFFFFF))
"""The values of an unknown location area and cell."""


def cell_tower(
    mcc: int | None, mnc: int | None, lac: int, cell: int, rssi: int | None = None
) -> dict[str, Any] | None:
    """Return a cell, or None where location area or cell is unknown: 0 or all ones.

    `mcc` and `mnc` are None where the device does not send them; `rssi` is in the unit of the device.
    """
    if lac in _NO_AREA or cell in _NO_CELLS:
        return None
    tower: dict[str, Any] = {}
    if mcc is not None and mnc is not None:
        tower["mobileCountryCode"], tower["mobileNetworkCode"] = mcc, mnc
    tower["locationAreaCode"], tower["cellId"] = lac, cell
    if rssi is not None:
        tower["signalStrength"] = rssi
    return tower


def access_point(address: str, rssi: int | None = None) -> dict[str, Any]:
    """Return an access point; the address is twelve hexadecimal digits, with or without separators."""
    digits = address.replace(":", "").replace("-", "").strip().lower()
    point: dict[str, Any] = {
        "macAddress": ":".join(digits[at : at + 2] for at in range(0, 12, 2))
        if len(digits) == 12
        else address.strip().lower()
    }
    if rssi is not None:
        point["signalStrength"] = rssi
    return point


def network_of(
    towers: Sequence[dict[str, Any] | None] = (), points: Sequence[dict[str, Any]] = ()
) -> dict[str, Any] | None:
    """Return the network of these cells and access points, without the unknown ones; None without any."""
    known = [tower for tower in towers if tower]
    if not known and not points:
        return None
    network: dict[str, Any] = {"radioType": "gsm", "considerIp": False}
    if known:
        network["cellTowers"] = known
    if points:
        network["wifiAccessPoints"] = list(points)
    return network
