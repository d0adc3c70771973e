"""Workbooks (XLSX) of reports (docs/reports.md#workbooks).

Rows go to files as they come (`constant_memory` of XlsxWriter), so memory does not grow with the report.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import IO, Any, Final

from xlsxwriter import Workbook  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]  # as above

from motorpool.actors.events.rendering import Reader, describe
from motorpool.actors.reports.columns import Column, Form
from motorpool.actors.reports.routes import RouteRow
from motorpool.actors.reports.rows_sheet import RowsSheet, number_cell, switch_cell, text_cell, time_cell
from motorpool.actors.words.cells import is_like_formula
from motorpool.actors.words.preferences import Preferences
from motorpool.actors.words.values import ValueWriter, as_number

SHEET_ROWS: Final = 1_048_576
"""Rows of a sheet, a limit of the format."""
MAX_SHEETS: Final = 200
"""Each sheet that is being written takes an open file."""
CELL_LENGTH: Final = 32_767
"""Characters of a cell, a limit of the format."""
SHEET_LINKS: Final = 60_000
"""Links of a sheet; the format allows 65,530."""
NAME_LENGTH: Final = 31
DAY_MILLISECONDS: Final = 86_400_000
OLDEST: Final = datetime(1900, 3, 1, tzinfo=UTC)
"""Days before are not dates to a spreadsheet."""
MAP: Final = "https://www.openstreetmap.org/?mlat={0:.6f}&mlon={1:.6f}#map=16/{0:.6f}/{1:.6f}"

Writer = Callable[[str, Any], str]
"""Returns the cell with a reference and a value; empty for none."""


class WorkbookTooLarge(Exception):
    """There are more rows than a workbook may have, or more devices with rows than it may have sheets."""


class WorkbookWriter:
    """Writes the rows of one report; its methods block, so call them in a thread, one at a time.

    Args:
        file: where the workbook goes; it stays open.
        folder: for temporary files; the caller deletes it.
        preferences: the user's time zone and units.
        created: stands in the workbook's properties.
        most_rows: limits the rows of all sheets together; 0: any number.
    """

    def __init__(
        self,
        file: IO[bytes],
        folder: str,
        preferences: Preferences,
        created: datetime,
        most_rows: int = 0,
    ) -> None:
        # No cell is ever read as a formula, a number or a link: texts may come from devices. Those that look
        # like a formula stay texts also when somebody edits them (`_quoted`).
        options = {
            "constant_memory": True,
            "tmpdir": folder,
            "strings_to_formulas": False,
            "strings_to_numbers": False,
            "strings_to_urls": False,
        }
        self._workbook = Workbook(file, options)
        self._workbook.use_zip64()
        self._workbook.set_properties({"created": created.replace(tzinfo=None)})
        self._preferences = preferences
        self._words = ValueWriter(preferences)
        self._reader = Reader(preferences)
        self._zone: tzinfo = preferences.zone
        self._bold = self._style({"bold": True})
        self._link = self._workbook.get_default_url_format()._get_xf_index()
        self._quoted = self._style({"quote_prefix": True})
        self._time = self._style({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._writers: dict[Form, Writer] = {}
        self._measures: dict[str, Writer] = {}
        """By the key of an attribute."""
        self._names: set[str] = set()
        self._sheet: RowsSheet | None = None
        self._title = ""
        self._header: Sequence[tuple[str, str]] = ()
        self._columns: Sequence[tuple[str, Column]] = ()
        """Letters of references, and what is there."""
        self._row = 0
        self._links = 0
        self._most_rows = most_rows
        self._rows = 0

    def heading(self, english: str) -> str:
        """Return a heading in the language of the user."""
        return self._words.language.headings.get(english, english)

    def begin_sheet(self, title: str, header: Sequence[tuple[str, str]], columns: Sequence[Column]) -> None:
        """Begin a sheet: lines of a label, in English, and a text, then the titles of the columns.

        Raises:
            WorkbookTooLarge: there are MAX_SHEETS already.
        """
        if len(self._names) >= MAX_SHEETS:
            raise WorkbookTooLarge(f"a workbook has at most {MAX_SHEETS} sheets: choose fewer devices")
        self._title, self._header = title, header
        self._columns = [(xl_col_to_name(index), column) for index, column in enumerate(columns)]
        self._sheet = sheet = self._workbook.add_worksheet(
            safe_name(title, self._names), worksheet_class=RowsSheet
        )
        self._names.add(sheet.get_name().casefold())
        for index, column in enumerate(columns):
            sheet.set_column(index, index, column.width)
        for row, (label, text) in enumerate(header):
            name = text_cell(f"A{row + 1}", self._bold, self.heading(label))
            sheet.add_row(row, 2, name + self._text(f"B{row + 1}", text))
        self._row = len(header) + 1
        number = self._row + 1
        cells = [
            text_cell(f"{letters}{number}", self._bold, self.heading(column.title))
            for letters, column in self._columns
        ]
        sheet.add_row(self._row, len(columns), "".join(cells))
        sheet.freeze_panes(self._row + 1, 0)
        self._row += 1
        self._links = 0

    def add_rows(self, rows: Sequence[Any]) -> None:
        """Add rows to the present sheet; where it is full, go on in one named "… (2)".

        Raises:
            WorkbookTooLarge: there are more rows than `most_rows`, or more sheets than MAX_SHEETS.
        """
        self._rows += len(rows)
        if self._most_rows and self._rows > self._most_rows:
            raise WorkbookTooLarge(f"the report has more than {self._most_rows} rows; ask for a shorter span")
        cells = [(letters, column.value, self._writer(column.form)) for letters, column in self._columns]
        for row in rows:
            if self._row >= SHEET_ROWS:
                self.begin_sheet(self._title, self._header, [column for _, column in self._columns])
            number = self._row + 1
            texts = []
            for letters, value_of, write in cells:
                value = value_of(row)
                if value is not None:
                    texts.append(write(f"{letters}{number}", value))
            self._present.add_row(self._row, len(cells), "".join(texts))
            self._row += 1

    def close(self) -> None:
        """Complete the file."""
        self._workbook.close()

    def discard(self) -> None:
        """Close temporary files of a workbook that is not completed."""
        for sheet in self._workbook.worksheets():
            sheet._opt_close()

    def _writer(self, form: Form) -> Writer:
        """Return what writes values of a form; a workbook has a format for each."""
        if form not in self._writers:
            self._writers[form] = self._new_writer(form, self._preferences)
        return self._writers[form]

    def _new_writer(self, form: Form, preferences: Preferences) -> Writer:
        units = {
            Form.SPEED: preferences.speed,
            Form.DISTANCE: preferences.distance,
            Form.ALTITUDE: preferences.altitude,
            Form.VOLUME: preferences.volume,
        }
        if form in units:
            unit = units[form]
            return self._number(f'0.0 "{unit.symbol}"', unit.per_base)
        match form:
            case Form.DURATION:
                return self._number("[h]:mm:ss", 1 / DAY_MILLISECONDS)
            case Form.COUNT:
                return self._number("0", 1.0)
            case Form.MEASURE:
                return self._measure
            case Form.ATTRIBUTE:
                return self._in_words(self._words.attribute_name)
            case Form.FIGURE:
                return self._number("0.0", 1.0)
            case Form.CONSUMPTION:
                volume, distance = preferences.volume, preferences.distance
                pattern = f'0.0 "{volume.symbol}/100 {distance.symbol}"'
                return self._number(pattern, volume.per_base / (1000 * distance.per_base))
            case Form.DEGREES:
                return self._number("0.000000", 1.0)
            case Form.TIME:
                return self._time_cell
            case Form.SWITCH:
                return lambda reference, value: switch_cell(reference, bool(value))
            case Form.PLACE:
                return self._place
            case Form.EVENT:
                return self._in_words(lambda facts: describe(facts, self._reader))
            case Form.EVENT_TYPE:
                return self._in_words(lambda kind: self._words.language.names.get(kind, kind))
            case Form.ATTRIBUTES:
                return self._in_words(self._attributes)
            case Form.STATE:
                return self._in_words(lambda status: self._words.language.states.get(status, status))
            case _:
                return self._text

    @property
    def _present(self) -> RowsSheet:
        assert self._sheet is not None
        return self._sheet

    def _style(self, properties: dict[str, object]) -> int:
        """Return the index of a format."""
        index: int = self._workbook.add_format(properties)._get_xf_index()
        return index

    def _number(self, pattern: str, factor: float) -> Writer:
        style = self._style({"num_format": pattern})

        def write(reference: str, value: float) -> str:
            # What a device reported may be too large for the unit of the user.
            return "" if as_number(value) is None else number_cell(reference, style, value * factor)

        return write

    def _measure(self, reference: str, measure: tuple[str, float | None]) -> str:
        key, value = measure
        if value is None:
            return ""
        write = self._measures.get(key)
        if write is None:
            scale = self._words.scale(key)
            if scale.unit == "ms":
                write = self._number("[h]:mm:ss", scale.factor / DAY_MILLISECONDS)
            elif scale.decimals is None:
                write = self._number("General", scale.factor)
            else:
                pattern = f"{0:.{scale.decimals}f}" + (f' "{scale.unit}"' if scale.unit else "")
                write = self._number(pattern, scale.factor)
            self._measures[key] = write
        return write(reference, value)

    def _in_words(self, say: Callable[[Any], str]) -> Writer:
        def write(reference: str, value: object) -> str:
            text = say(value)
            return self._text(reference, text) if text else ""

        return write

    def _attributes(self, row: RouteRow) -> str:
        position = row.position
        named = self._words.attributes(position.attributes, position.protocol, row.cameras)
        return "; ".join(f"{name}: {text}" for name, text in named)

    def _text(self, reference: str, value: object) -> str:
        text = _cut(str(value), CELL_LENGTH)
        return text_cell(reference, self._quoted if is_like_formula(text) else 0, text)

    def _time_cell(self, reference: str, value: datetime) -> str:
        if value < OLDEST or value.year == 9999:
            return self._text(reference, value.isoformat())
        return time_cell(reference, self._time, value.astimezone(self._zone).replace(tzinfo=None))

    def _place(self, reference: str, value: tuple[float, float, str | None]) -> str:
        latitude, longitude, words = value
        text = words or f"{latitude:.6f}, {longitude:.6f}"
        if self._links >= SHEET_LINKS:
            return self._text(reference, text)
        self._links += 1
        self._present.link(reference, MAP.format(latitude, longitude))
        return text_cell(reference, self._link, _cut(text, CELL_LENGTH))


def safe_name(title: str, taken: set[str]) -> str:
    """Return a name that a sheet may have and that is not taken; `taken` holds case-folded names."""
    plain = "".join(each if each.isprintable() and each not in "[]:*?/\\" else " " for each in title)
    plain = " ".join(plain.split()).strip("' ") or "Sheet"
    if plain.casefold() == "history":  # reserved by Excel
        plain += "_"
    name = _cut(plain, NAME_LENGTH).rstrip("' ")
    number = 2
    while name.casefold() in taken:
        end = f" ({number})"
        name = _cut(plain, NAME_LENGTH - len(end)).rstrip("' ") + end
        number += 1
    return name


def _cut(text: str, length: int) -> str:
    """Shorten a text to at most `length` UTF-16 code units, in which spreadsheets count."""
    if 2 * len(text) > length:
        return text.encode("utf-16-le")[: 2 * length].decode("utf-16-le", "ignore")
    return text
