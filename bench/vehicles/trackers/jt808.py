"""A small tracker of JT/T 808, whose maker adds its own (docs/protocols/jt808-vendors.md#models)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

KMH: Final = 3.6
_ARMED: Final = 1 << 6
_RADIO: Final = bytes.fromhex("310109300115")
"""Nine satellites, and the signal."""
_SIM_CARD: Final = "8986001234567890123f"


def _item(item_id: int, digits: str) -> bytes:
    value = bytes.fromhex(digits)
    return bytes((item_id, len(value))) + value


_AOVX: Final = (
    _item(0xF3, "0c 001122334455 c4 0bb8 00fa")  # a tag of 3.0 V and 25.0 °C
    + _item(0xF7, "00000f48 01 50")
    + _item(0xF8, f"01 0490154203237518 {_SIM_CARD}")
)
_ITEMS: Final[Mapping[str, bytes]] = {
    "": _item(0x61, "04d4"),
    "AL300": _AOVX,
    "C5L": _item(0xF8, "04b4"),  # 1204 steps
    "GL100": _AOVX,
    "JC371": _item(0xE8, "2003 07 01 05 018e 15 04d4"),
    "MV710G": _item(0x57, "0000 0001 00000000"),
}
"""What the trackers of a model add to signal and satellites."""


class Jt808Tracker(Tracker):
    """Sends locations without a registration; answers no commands."""

    protocol = "jt808"
    digits = 12
    is_acknowledged = True
    models = tuple(filter(None, _ITEMS))

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._terminal = Terminal(unique_id)

    def heartbeat(self) -> bytes:
        """Return 0x0002."""
        return self._terminal.heartbeat()

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a location with the items of the model."""
        body = encode_location(
            state.latitude,
            state.longitude,
            moment,
            speed_kmh=state.speed * KMH,
            course=state.course,
            status=_ARMED if self.model == "MV710G" else 0,
            items=_RADIO + _ITEMS[self.model],
        )
        return self._terminal.location(body)
