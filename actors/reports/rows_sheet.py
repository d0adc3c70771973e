"""A worksheet that is given its rows whole, as cells that are written already.

XlsxWriter takes cells one by one, of any type and in any order, which costs several times what a row of a
report does. The parts of the file around the rows are its own.
"""

import re
from datetime import datetime
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]  # it ships no types

_EPOCH: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone
"""Day 0 of the format."""
_ODD: Final = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff&<>]|_x[0-9a-fA-F]{4}_|^\s|\s$")
"""What a text has to be written otherwise for."""


class RowsSheet(Worksheet):  # type: ignore[misc]  # as above
    """A sheet of a workbook with `constant_memory`, to be made by its `add_worksheet`."""

    def __init__(self) -> None:
        super().__init__()
        self._links: list[tuple[str, str, str]] = []
        """References, addresses, and the places in them."""

    def add_row(self, row: int, columns: int, cells: str) -> None:
        """Write a row, counted from 0, below all that have been written; its cells lie in `columns`."""
        if row > self.previous_row:
            self._write_single_row(row)
        self.fh.write(f'<row r="{row + 1}">{cells}</row>')
        self._check_dimensions(row, 0)
        self._check_dimensions(row, columns - 1)

    def link(self, reference: str, url: str) -> None:
        """Let a cell lead to an address."""
        address, _, place = url.partition("#")
        self._links.append((reference, address, place))

    def _write_hyperlinks(self) -> None:
        """Write the element of the links; the library asks for it, and for their addresses after it."""
        if not self._links:
            return
        self.fh.write("<hyperlinks>")
        for number, (reference, address, place) in enumerate(self._links, self.rel_count + 1):
            self.fh.write(f'<hyperlink ref="{reference}" r:id="rId{number}" location={quoteattr(place)}/>')
            self.external_hyper_links.append(["/hyperlink", address, "External"])
        self.rel_count += len(self._links)
        self.fh.write("</hyperlinks>")


def number_cell(reference: str, style: int, value: float) -> str:
    """Return a cell with a number; `style` is the index of a format."""
    return f'<c r="{reference}" s="{style}"><v>{value:.16G}</v></c>'


def time_cell(reference: str, style: int, value: datetime) -> str:
    """Return a cell with a time without a zone, from 1 March 1900 on."""
    since = value - _EPOCH
    return number_cell(reference, style, since.days + since.seconds / 86_400)


def switch_cell(reference: str, value: bool) -> str:
    """Return a cell with yes or no."""
    return f'<c r="{reference}" t="b"><v>{value:d}</v></c>'


def text_cell(reference: str, style: int, text: str) -> str:
    """Return a cell with a text."""
    kept = ""
    if _ODD.search(text):
        kept = ' xml:space="preserve"'
        text = escape(Worksheet._escape_control_characters(text))
    return f'<c r="{reference}" s="{style}" t="inlineStr"><is><t{kept}>{text}</t></is></c>'
