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
