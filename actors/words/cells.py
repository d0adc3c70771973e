"""Rows of CSV files, and texts in cells of spreadsheets: what a program would take for a formula is marked as
text (docs/positions.md, docs/reports.md#workbooks).
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

_FORMULA = "=+-@"
_SKIPPED = ',;|"'
"""Separators and quotes: a program that expects another separator begins a cell after them."""


def is_like_formula(text: str) -> bool:
    """Return whether a spreadsheet might take a text for a formula or a command.

    It begins with one of `=+-@`, also full-width ones, after whatever spaces, separators and invisible
    characters, or with a tab or line break.
    """
    if text.startswith(("\t", "\r", "\n")):
        return True
    for letter in text:
        plain = unicodedata.normalize("NFKC", letter)
        if plain in _FORMULA:
            return True
        # Spaces other than U+0020 are not printable.
        if plain not in _SKIPPED and letter != " " and letter.isprintable():
            return False
    return False


def harmless(text: str) -> str:
    """Return a text as it is written into a CSV file: behind an apostrophe if it is like a formula."""
    return f"'{text}" if is_like_formula(text) else text


def csv_lines(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as lines of a CSV file (RFC 4180); what UTF-8 cannot have is written as `?`."""
    written = io.StringIO(newline="")
    csv.writer(written).writerows(rows)
    return written.getvalue().encode(errors="replace")
