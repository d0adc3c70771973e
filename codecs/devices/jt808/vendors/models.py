"""Differences by the device's `model` (docs/protocols/jt808-vendors.md#models).

The bytes do not say it: the same bits, items and commands mean something else for the trackers of some
makers. A model that is not listed here is decoded as the standard and most makers have it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from motorpool.codecs.devices.attributes import ALARMS, ATTRIBUTES
from motorpool.codecs.devices.jt808.vendors.state_words import StateWords

Texts = Literal["hex", "parameter", "message", "control"]
"""How `custom` is sent: as hex digits; as text in parameter F030, in 0x8300, or in 0x8900."""
Engine = Literal["64", "F0", "TEXT", "HOL"]
"""Bodies of 0x8105 that stop and start the engine, as `commands.py` names them."""


class Model(msgspec.Struct, frozen=True):
    """One model, or a family of models that do not differ."""

    words_2013: StateWords
    """Status and alarm bits in the form of 2013."""
    words_2019: StateWords
    """Status and alarm bits in the form of 2019."""

    is_e2_fuel: bool = True
    """Whether item E2 of 4 bytes is fuel."""
    is_f3_tags: bool = False
    """Whether item F3 lists Bluetooth tags (AOVX)."""
    is_f8_identity: bool = False
    """Whether a long item F8 holds mode, IMEI and ICCID (AOVX)."""
    is_f8_steps: bool = False
    """Whether item F8 of 2 bytes counts steps; else it is a temperature."""
    has_e8_blocks: bool = False
    """Whether item E8 is a list of blocks (Jimi dashcams)."""
    has_door_input: bool = False
    """Whether bit 16 of the last DWORD of item 57 is a door."""

    texts: Texts = "hex"
    text_flags: int = 0x01
    """Flags of 0x8300 for `custom`."""
    wraps_texts: bool = False
    """Whether texts stand in `<SPBSJ*P:password*…>` where the device has a password."""
    engine: Engine = "64"
    arm_codes: tuple[int, int] = (0x66, 0x67)
    """Codes of 0x8105 for `alarmArm` and `alarmDisarm`."""

    def words_of(self, is_2019: bool) -> StateWords:
        """Return the bits in the form of 2019 or 2013."""
        return self.words_2019 if is_2019 else self.words_2013


_SMALL_TRACKERS = {15: "vibration", 16: "tampering", 17: "tampering"}
"""Reserved in JT/T 808-2013; small trackers use them so."""
_AOVX_ALARMS = _SMALL_TRACKERS | {15: "removing", 16: "vibration"}
_REMOVAL_ALARMS = dict.fromkeys(range(32), "") | {0: "removing", 1: "tampering", 4: "removing"}


_Traits = Mapping[str, Any]

_REMOVERS: _Traits = {"alarms": _REMOVAL_ALARMS}
_AOVX: _Traits = {"alarms": _AOVX_ALARMS, "status": {30: "tow", 31: "archive"}}
_AOVX_ASSETS: _Traits = {
    **_AOVX,
    "alarms": _AOVX_ALARMS | {16: "movement"},
    "is_f3_tags": True,
    "is_f8_identity": True,
    "texts": "parameter",
}
_DASHCAM: _Traits = {"has_e8_blocks": True, "texts": "control"}
_C5: _Traits = {"texts": "message", "is_f8_steps": True}
_MV: _Traits = {"has_door_input": True, "status": {16: "door"}}
_MV710G: _Traits = {**_MV, "status": {6: "armed", 16: "door"}}

_MODELS: Final[Mapping[str, _Traits]] = {
    "G-360P": _REMOVERS,
    "G-508P": _REMOVERS,
    "AOVX": _AOVX,
    "AL300": _AOVX_ASSETS,
    "GL100": _AOVX_ASSETS,
    "VL300": {
        **_AOVX,
        "alarms": _AOVX_ALARMS | {29: "", 30: ""},
        "texts": "parameter",
        "engine": "TEXT",
    },
    "JC371": _DASHCAM,
    "JC181": _DASHCAM,
    "JC182": _DASHCAM,
    "JC450": _DASHCAM,
    "JC451": _DASHCAM,
    "BSJ": {"texts": "message", "wraps_texts": True},
    "C5": _C5,
    "C5L": _C5,
    "DT800": {"is_e2_fuel": False},
    "G1C PRO": {"status": {4: "motion"}},
    "MV810G": _MV,
    "MV710G": _MV710G,
    "G10LS": {
        "alarms": {15: "lowBattery", 16: "vibration", 17: "removing"},
        "status": {6: "armed"},
        "texts": "message",
        "text_flags": 0x02,
    },
    "S21L": {
        "alarms": {15: "lowBattery", 16: "vibration", 17: "tampering"},
        "status": {6: "armed"},
        "arm_codes": (11, 12),
    },
}
"""By model in capitals; `alarms` and `status` name bits, an empty name stands for none."""
MODELS: Final = tuple(sorted(_MODELS))
"""Those that differ, as the console offers them; upper and lower case do not matter."""


@lru_cache(64)
def model_of(name: str, alarm_bits: str = "", status_bits: str = "") -> Model:
    """Return what is known of a model.

    Args:
        name: of the model, upper or lower case; empty: unknown.
        alarm_bits: of the alarm word, as `15=lowBattery,16=` with the names of alarms; they override the
            model's, and an empty name switches a bit off. Other parts are ignored.
        status_bits: of the status word, as `6=armed,18=door`: attributes that are true or false, and alarms.
    """
    key = name.strip().upper()
    known = dict(_MODELS.get(key, {"texts": "control"} if key.startswith("JC") else {}))
    named_alarms, named_status = known.pop("alarms", _SMALL_TRACKERS), known.pop("status", {})
    alarms = _parse_bits(alarm_bits)
    status = named_status | _parse_bits(status_bits)
    # The standard of 2019 defines the bits that small trackers of 2013 used as they liked.
    alarms_2019 = {} if named_alarms is _SMALL_TRACKERS else named_alarms
    return Model(
        words_2013=StateWords(named_alarms | alarms, status, is_2019=False),
        words_2019=StateWords(alarms_2019 | alarms, status, is_2019=True),
        **known,
    )


def _parse_bits(text: str) -> dict[int, str]:
    bits: dict[int, str] = {}
    for part in text.split(","):
        number, equals, name = (piece.strip() for piece in part.partition("="))
        is_name = not name or name in ALARMS or ATTRIBUTES.get(name, (None,))[0] is bool
        if equals and is_name and number.isdecimal() and len(number) <= 2 and int(number) < 32:
            bits[int(number)] = name
    return bits


STANDARD: Final = model_of("", "", "")
"""A device whose model is not known; the same object as the codec gets for it."""
