"""Workbooks (XLSX) of reports (docs/reports.md#workbooks).

XlsxWriter writes rows to files as they come (`constant_memory`), so memory does not grow with the report.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import IO, Any, Final

from xlsxwriter import Workbook  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.format import Format  # type: ignore[import-untyped]  # as above
from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]  # as above

from motorpool.actors.events.rendering import Reader, describe
from motorpool.actors.reports.columns import Column, Form
from motorpool.actors.reports.routes import RouteRow
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

Writer = Callable[[int, int, Any], object]
"""Writes a value into a row and a column of the present sheet."""


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
            "default_date_format": "yyyy-mm-dd hh:mm:ss",
        }
        self._workbook = Workbook(file, options)
        self._workbook.use_zip64()
        self._workbook.set_properties({"created": created.replace(tzinfo=None)})
        self._preferences = preferences
        self._words = ValueWriter(preferences)
        self._reader = Reader(preferences)
        self._zone: tzinfo = preferences.zone
        self._bold = self._workbook.add_format({"bold": True})
        self._link = self._workbook.get_default_url_format()
        self._quoted = self._workbook.add_format({"quote_prefix": True})
        self._writers: dict[Form, Writer] = {}
        self._measures: dict[str, Writer] = {}
        """By the key of an attribute."""
        self._names: set[str] = set()
        self._sheet: Worksheet | None = None
        self._title = ""
        self._header: Sequence[tuple[str, str]] = ()
        self._columns: Sequence[Column] = ()
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
        self._title, self._header, self._columns = title, header, columns
        self._sheet = sheet = self._workbook.add_worksheet(safe_name(title, self._names))
        self._names.add(sheet.get_name().casefold())
        for index, column in enumerate(columns):
            sheet.set_column(index, index, column.width)
        for row, (label, text) in enumerate(header):
            sheet.write_string(row, 0, self.heading(label), self._bold)
            self._write_text(row, 1, text)
        self._row = len(header) + 1
        for index, column in enumerate(columns):
            sheet.write_string(self._row, index, self.heading(column.title), self._bold)
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
        cells = [
            (index, column.value, self._writer(column.form)) for index, column in enumerate(self._columns)
        ]
        for row in rows:
            if self._row >= SHEET_ROWS:
                self.begin_sheet(self._title, self._header, self._columns)
            for index, value_of, write in cells:
                value = value_of(row)
                if value is not None:
                    write(self._row, index, value)
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
                return self._write_measure
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
                return self._write_time
            case Form.SWITCH:
                return lambda row, column, value: self._present.write_boolean(row, column, bool(value))
            case Form.PLACE:
                return self._write_place
            case Form.EVENT:
                return self._in_words(lambda facts: describe(facts, self._reader))
            case Form.EVENT_TYPE:
                return self._in_words(lambda kind: self._words.language.names.get(kind, kind))
            case Form.ATTRIBUTES:
                return self._in_words(self._attributes)
            case Form.STATE:
                return self._in_words(lambda status: self._words.language.states.get(status, status))
            case _:
                return self._write_text

    @property
    def _present(self) -> Worksheet:
        assert self._sheet is not None
        return self._sheet

    def _number(self, pattern: str, factor: float) -> Writer:
        shown: Format = self._workbook.add_format({"num_format": pattern})

        def write(row: int, column: int, value: float) -> None:
            # What a device reported may be too large for the unit of the user.
            if as_number(value) is not None:
                self._present.write_number(row, column, value * factor, shown)

        return write

    def _write_measure(self, row: int, column: int, measure: tuple[str, float | None]) -> None:
        key, value = measure
        if value is None:
            return
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
        write(row, column, value)

    def _in_words(self, say: Callable[[Any], str]) -> Writer:
        def write(row: int, column: int, value: object) -> None:
            if text := say(value):
                self._write_text(row, column, text)

        return write

    def _attributes(self, row: RouteRow) -> str:
        position = row.position
        named = self._words.attributes(position.attributes, position.protocol, row.cameras)
        return "; ".join(f"{name}: {text}" for name, text in named)

    def _write_text(self, row: int, column: int, value: object) -> None:
        text = str(value)[:CELL_LENGTH]
        self._present.write_string(row, column, text, self._quoted if is_like_formula(text) else None)

    def _write_time(self, row: int, column: int, value: datetime) -> None:
        if value < OLDEST or value.year == 9999:
            self._write_text(row, column, value.isoformat())
            return
        local = value.astimezone(self._zone).replace(tzinfo=None, microsecond=0)
        self._present.write_datetime(row, column, local)

    def _write_place(self, row: int, column: int, value: tuple[float, float, str | None]) -> None:
        latitude, longitude, words = value
        text = (words or f"{latitude:.6f}, {longitude:.6f}")[:CELL_LENGTH]
        if self._links >= SHEET_LINKS:
            self._write_text(row, column, text)
            return
        self._links += 1
        self._present.write_url(row, column, MAP.format(latitude, longitude), self._link, text)


def safe_name(title: str, taken: set[str]) -> str:
    """Return a name that a sheet may have and that is not taken; `taken` holds case-folded names."""
    plain = "".join(each if each.isprintable() and each not in "[]:*?/\\" else " " for each in title)
    plain = " ".join(plain.split()).strip("' ") or "Sheet"
    if plain.casefold() == "history":  # reserved by Excel
        plain += "_"
    name = _cut(plain, NAME_LENGTH)
    number = 2
    while name.casefold() in taken:
        end = f" ({number})"
        name = _cut(plain, NAME_LENGTH - len(end)) + end
        number += 1
    return name


def _cut(text: str, length: int) -> str:
    """Shorten a text to at most `length` UTF-16 code units, in which spreadsheets count."""
    while len(text.encode("utf-16-le")) > 2 * length:
        text = text[:-1]
    return text.rstrip("' ")
