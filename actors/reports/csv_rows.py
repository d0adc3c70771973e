"""Rows of reports as CSV (RFC 4180), in the language, units and zone of the user (docs/reports.md#csv)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from motorpool.actors.events.rendering import Reader, describe
from motorpool.actors.reports.columns import Column, Form, Report
from motorpool.actors.words.cells import csv_lines, harmless
from motorpool.actors.words.preferences import Preferences, Unit
from motorpool.actors.words.values import ValueWriter, as_number
from motorpool.storage.records import Device

_OF_DEVICE: Final = "Device"
"""The heading of the column that says whose a row is, of reports that have a sheet for each device."""

Say = Callable[[Any], str]
"""Returns the text of a value."""


class CsvRows:
    """Writes the rows of a report one after the other, below a line of headings."""

    def __init__(self, report: Report, preferences: Preferences) -> None:
        self._report = report
        self._preferences = preferences
        self._words = ValueWriter(preferences)
        self._reader = Reader(preferences)
        self._columns = [(column.value, self._say(column.form)) for column in report.columns]

    def head(self) -> bytes:
        """Return the headings, with the units of their columns."""
        headings = self._words.language.headings
        cells = [self._heading(column) for column in self._report.columns]
        if self._report.by_device:
            cells.insert(0, headings.get(_OF_DEVICE, _OF_DEVICE))
        return csv_lines([[harmless(cell) for cell in cells]])

    def rows(self, device: Device | None, rows: Sequence[Any]) -> bytes:
        """Return rows of a device as lines; `device` is None for rows that are not of one."""
        first = [harmless(device.name) if device is not None else ""] if self._report.by_device else []
        return csv_lines([*first, *self._cells(row)] for row in rows)

    def _cells(self, row: Any) -> Iterator[str]:  # noqa: ANN401 - of the report
        values = ((value_of(row), say) for value_of, say in self._columns)
        return ("" if value is None else say(value) for value, say in values)

    def _heading(self, column: Column) -> str:
        title = self._words.language.headings.get(column.title, column.title)
        unit = self._unit(column.form)
        return f"{title} ({unit.symbol})" if unit is not None else title

    def _unit(self, form: Form) -> Unit | None:
        preferences = self._preferences
        volume, distance = preferences.volume, preferences.distance
        units = {
            Form.SPEED: preferences.speed,
            Form.DISTANCE: distance,
            Form.ALTITUDE: preferences.altitude,
            Form.VOLUME: volume,
            Form.CONSUMPTION: Unit(
                f"{volume.symbol}/100 {distance.symbol}", volume.per_base / (1000 * distance.per_base)
            ),
        }
        return units.get(form)

    def _say(self, form: Form) -> Say:
        unit = self._unit(form)
        if unit is not None:
            return lambda value: _number(value, unit.per_base, 3)
        words = self._words.language
        match form:
            case Form.DURATION:
                return _duration
            case Form.COUNT:
                return lambda value: _number(value, 1.0, 0)
            case Form.FIGURE:
                return lambda value: _number(value, 1.0, 3)
            case Form.DEGREES:
                return lambda value: _number(value, 1.0, 6)
            case Form.MEASURE:
                return self._measure
            case Form.TIME:
                return self._time
            case Form.SWITCH:
                return lambda value: "true" if value else "false"
            case Form.PLACE:
                return _place
            case Form.ATTRIBUTE:
                return lambda key: harmless(self._words.attribute_name(key))
            case Form.EVENT:
                return lambda facts: harmless(describe(facts, self._reader))
            case Form.EVENT_TYPE:
                return lambda kind: harmless(words.names.get(kind) or kind)
            case Form.STATE:
                return lambda status: harmless(words.states.get(status) or status)
            case Form.ATTRIBUTES:
                return self._attributes
            case _:
                return lambda value: harmless(str(value))

    def _measure(self, measure: tuple[str, float | None]) -> str:
        key, value = measure
        if value is None:
            return ""
        scale = self._words.scale(key)
        if scale.unit == "ms":
            return _duration(value * scale.factor)
        return _number(value, scale.factor, 3 if scale.decimals is None else scale.decimals)

    def _time(self, value: datetime) -> str:
        try:
            return f"{value.astimezone(self._preferences.zone):%Y-%m-%d %H:%M:%S}"
        except OverflowError:  # at the ends of the calendar
            return value.isoformat()

    def _attributes(self, row: Any) -> str:  # noqa: ANN401 - a row of the route
        position = row.position
        named = self._words.attributes(position.attributes, position.protocol, row.cameras)
        return harmless("; ".join(f"{name}: {text}" for name, text in named))


def _number(value: float, factor: float, decimals: int) -> str:
    """Return a number as programs read it, or nothing for what is none."""
    if as_number(value) is None:
        return ""
    text = f"{value * factor:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _duration(milliseconds: float) -> str:
    """Return a length of time as `12:34:56`, also of more than a day."""
    seconds = round(milliseconds) // 1000
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _place(value: tuple[float, float, str | None]) -> str:
    latitude, longitude, words = value
    return harmless(words or f"{latitude:.6f}, {longitude:.6f}")
