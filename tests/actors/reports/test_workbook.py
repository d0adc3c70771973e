import io
import tempfile
from datetime import UTC, datetime, timedelta

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.cell.cell import Cell
from openpyxl.utils.escape import unescape

from motorpool.actors.reports.columns import Column, Form
from motorpool.actors.reports.workbook import WorkbookWriter
from motorpool.actors.words.preferences import Preferences

MARCH = datetime(1900, 3, 1, tzinfo=UTC)
TIMES = st.integers(0, 2_900_000 * 86_400).map(lambda seconds: MARCH + timedelta(seconds=seconds))


def test_a_text_that_looks_like_a_formula_stays_a_text_when_it_is_edited(tmp_path):
    file = io.BytesIO()
    writer = WorkbookWriter(file, str(tmp_path), Preferences(), datetime(2026, 5, 1, tzinfo=UTC))
    columns = [
        Column("Text", Form.TEXT, lambda row: row[0], 10),
        Column("Place", Form.PLACE, lambda row: (1.0, 2.0, row[0]), 10),
        Column("Number", Form.DEGREES, lambda row: row[1], 10),
    ]
    writer.begin_sheet("x", [("Device", " =1+1")], columns)
    writer.add_rows([("\uff1d1", -1.5), ("plain", 2.5)])
    writer.close()
    sheet = openpyxl.load_workbook(file).active
    cells: list[Cell] = [cell for line in sheet.iter_rows() for cell in line if cell.value is not None]
    assert {cell.value for cell in cells if cell.quotePrefix} == {" =1+1", "\uff1d1"}
    assert {cell.value: cell.data_type for cell in cells if cell.value in {-1.5, 2.5}} == {
        -1.5: "n",
        2.5: "n",
    }
    assert all(cell.data_type != "f" for cell in cells)


def test_a_number_that_is_no_measurement_leaves_its_cell_empty(tmp_path):
    file = io.BytesIO()
    writer = WorkbookWriter(file, str(tmp_path), Preferences(), datetime(2026, 5, 1, tzinfo=UTC))
    columns = [
        Column("Speed", Form.SPEED, lambda row: row, 10),
        Column("Figure", Form.FIGURE, lambda row: row, 10),
        Column("Measure", Form.MEASURE, lambda row: ("hours", row), 10),
        Column("Number", Form.COUNT, lambda row: 1, 10),
    ]
    writer.begin_sheet("x", [], columns)
    writer.add_rows([1e308, -1e308])
    writer.close()
    rows = list(openpyxl.load_workbook(file).active.iter_rows(min_row=3, values_only=True))
    assert rows == [(None, None, None, 1), (None, None, None, 1)]


def opened(folder, columns, rows):
    file = io.BytesIO()
    writer = WorkbookWriter(file, str(folder), Preferences(), datetime(2026, 5, 1, tzinfo=UTC))
    writer.begin_sheet("x", [], columns)
    writer.add_rows(rows)
    writer.close()
    return list(openpyxl.load_workbook(file).active.iter_rows(min_row=3))


CONTROLS = st.characters(codec="utf-8", exclude_characters="\r")


@given(
    st.lists(st.text(CONTROLS, min_size=1) | st.sampled_from(["<r>x</r>", "_x0041_", " &amp; "]), min_size=1)
)
def test_texts_are_read_as_they_were_written(texts):
    with tempfile.TemporaryDirectory() as folder:
        rows = opened(folder, [Column("Text", Form.TEXT, lambda row: row, 10)], texts)
    assert [unescape(cell.value) for (cell,) in rows] == texts


def test_a_text_is_cut_where_the_format_ends_and_not_within_a_letter(tmp_path):
    ((cell,),) = opened(tmp_path, [Column("Text", Form.TEXT, lambda row: row, 10)], ["\U0001f69b" * 20_000])
    assert cell.value == "\U0001f69b" * 16_383


@given(st.lists(st.tuples(TIMES, st.floats(-1e6, 1e6), st.booleans()), min_size=1))
def test_times_numbers_and_switches_are_read_as_they_were_written(rows):
    columns = [
        Column("Time", Form.TIME, lambda row: row[0], 10),
        Column("Number", Form.DEGREES, lambda row: row[1], 10),
        Column("Switch", Form.SWITCH, lambda row: row[2], 10),
        Column("Place", Form.PLACE, lambda row: (row[1] / 1e5, 2.0, None), 10),
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = opened(folder, columns, rows)
    for cells, (time, number, switch) in zip(found, rows, strict=True):
        assert abs(cells[0].value - time.replace(tzinfo=None)) <= timedelta(milliseconds=1)
        assert cells[0].is_date
        assert cells[1].value == pytest.approx(number, rel=1e-15)
        assert cells[2].value is switch
        assert cells[3].hyperlink.target.startswith(
            f"https://www.openstreetmap.org/?mlat={number / 1e5:.6f}&"
        )
        assert cells[3].hyperlink.ref == cells[3].coordinate
