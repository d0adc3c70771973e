"""Decodes the items of JT/T 808 locations, by layouts that are remembered.

A terminal sends the same items with nearly every location, and a fleet has few kinds of terminals. So each
sequence of ids and lengths is compiled once to one `Struct` and to what reads each item; which reader that
is may depend on the other items and on the model.
"""

from struct import Struct
from typing import Final

from motorpool.codecs.devices.jt808.items import (
    BIT_FIELD_ITEMS,
    NUMERIC_ITEMS,
    STRUCTURED_ITEMS,
    Alarms,
    Attributes,
    Reader,
)
from motorpool.codecs.devices.jt808.vendors.items import READ_LATE, VENDOR_NUMBERS, vendor_reader
from motorpool.codecs.devices.jt808.vendors.models import STANDARD, Model
from motorpool.codecs.devices.jt808.vendors.record import ItemReader, ItemRecord

_MAX_ITEMS = 24
"""Items of the longest layout that is remembered."""
_MAX_LAYOUTS = 512
"""Layouts that are remembered for one kind of model."""
_MAX_MISSES = 64
"""Locations of one size with other items after which their layout is the first to be tried."""
_NUMBER_FORMS = {1: "B", 2: "H", 4: "I"}

_Step = tuple[int, str, float, Reader | None]
"""Place of an item's value; an attribute's name and the factor of its value, or its divisor where negative;
or a function that reads the item."""


class _Layout:
    """One sequence of items, each id << 8 | length."""

    __slots__ = ("items", "misses", "record_steps", "steps", "unpack_from")

    def __init__(self, items: tuple[int, ...], model: Model, *, keeps_unknown: bool) -> None:
        body = frozenset(items)
        forms: list[str] = []
        steps: list[_Step] = []
        record_steps: list[tuple[int, ItemReader | None]] = []
        for place, item in enumerate(items):
            reader = None if item in BIT_FIELD_ITEMS else vendor_reader(item, body, model)
            number = None if reader else NUMERIC_ITEMS.get(item) or VENDOR_NUMBERS.get(item)
            is_number = number is not None or item in BIT_FIELD_ITEMS
            forms.append(_NUMBER_FORMS[item & 0xFF] if is_number else f"{item & 0xFF}s")
            standard = BIT_FIELD_ITEMS.get(item) or STRUCTURED_ITEMS.get(item)
            value_place = 2 * place + 1
            if number is not None:
                steps.append((value_place, *number, None))
            elif standard is not None and reader is None:
                steps.append((value_place, "", 0, standard))
            elif reader is not None or keeps_unknown:
                record_steps.append((value_place, reader))
        self.unpack_from: Final = Struct(">" + "".join(f"H{form}" for form in forms)).unpack_from
        self.items: Final = items
        self.steps: Final = tuple(steps)
        self.record_steps: Final = sorted(record_steps, key=lambda step: items[step[0] // 2] == READ_LATE)
        """Items of makers, and unknown ones if they are kept: place of the value, and reader."""
        self.misses = 0


class ItemDecoder:
    """Reads the items of all devices whose models do not differ in them."""

    __slots__ = ("_by_size", "_layouts", "_model", "keeps_unknown")

    def __init__(self, model: Model, *, keeps_unknown: bool) -> None:
        self._model = model
        self.keeps_unknown = keeps_unknown
        self._layouts: dict[tuple[int, ...], _Layout] = {}
        self._by_size: dict[int, _Layout] = {}
        """The layout that is tried first, by the total size of the items."""

    def decode(
        self, content: bytes, start: int, end: int, attributes: Attributes, alarm_word: int = 0
    ) -> tuple[Alarms, ItemRecord | None]:
        """Add the items to the attributes.

        An item that would pass `end` stops the decoding; the items before it are kept.

        Args:
            content: holds the items.
            start: offset of the first.
            end: offset behind the last.
            attributes: to be completed.
            alarm_word: the alarm bits of the location.

        Returns:
            the alarms that they raise, and what else is in those that are not the standard's.
        """
        alarms: Alarms = []
        layout = self._by_size.get(end - start)
        values = layout.unpack_from(content, start) if layout is not None else ()
        if layout is None or values[::2] != layout.items:
            layout = self._find(content, start, end, layout)
            values = layout.unpack_from(content, start)
        for place, name, unit, read in layout.steps:
            if unit == 1:
                attributes[name] = values[place]
            elif read is None:
                attributes[name] = values[place] * unit if unit > 1 else values[place] / -unit
            else:
                read(values[place], attributes, alarms)
        if not layout.record_steps:
            return alarms, None
        record = ItemRecord(attributes, alarms, alarm_word=alarm_word, keeps_unknown=self.keeps_unknown)
        for place, reader in layout.record_steps:
            value = values[place]
            if reader is None or reader(value, record) is False:
                record.keep_unknown(f"0x{values[place - 1] >> 8:02X}", value)
        return alarms, record

    def _find(self, content: bytes, start: int, end: int, tried: _Layout | None) -> _Layout:
        """Return the layout of these items, as far as they fit."""
        size = end - start
        found: list[int] = []
        while start + 2 <= end:
            item = content[start] << 8 | content[start + 1]
            start += 2 + (item & 0xFF)
            if start > end:
                break
            found.append(item)
        items = tuple(found)
        layout = self._layouts.get(items)
        if layout is None:
            layout = _Layout(items, self._model, keeps_unknown=self.keeps_unknown)
            if len(items) > _MAX_ITEMS:
                return layout
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
                self._by_size.clear()
            self._layouts[items] = layout
        if start == end and items:
            if tried is not None:
                tried.misses += 1
            if tried is None or tried.misses >= _MAX_MISSES:
                layout.misses = 0
                self._by_size[size] = layout
        return layout


def item_decoder(model: Model, *, keeps_unknown: bool = False) -> ItemDecoder:
    """Return the decoder that devices of such a model share.

    Args:
        model: of the device.
        keeps_unknown: whether items that are not understood become attributes `item0xNN`, in hexadecimal
            digits; default: false.
    """
    key = (
        model.is_e2_fuel,
        model.is_f3_tags,
        model.is_f8_identity,
        model.is_f8_steps,
        model.has_e8_blocks,
        model.has_door_input,
        keeps_unknown,
    )
    decoder = _decoders.get(key)
    if decoder is None:
        decoder = _decoders[key] = ItemDecoder(model, keeps_unknown=keeps_unknown)
    return decoder


_decoders: dict[tuple[bool, ...], ItemDecoder] = {}
STANDARD_ITEMS: Final = item_decoder(STANDARD)
"""For devices whose model is not known."""
