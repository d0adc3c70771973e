import io
from datetime import UTC, datetime

import openpyxl
from openpyxl.cell.cell import Cell

from motorpool.actors.reports.columns import Column, Form
from motorpool.actors.reports.workbook import WorkbookWriter
from motorpool.actors.words.preferences import Preferences


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
