from pathlib import Path
from runpy import run_path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_of_attributes_is_what_the_table_says():
    write_page = run_path(str(DOCS / "attribute_page.py"))["write_page"]
    written = write_page()
    assert (DOCS / "attributes.md").read_text("utf-8") == written, (
        "write it anew: .venv/bin/python docs/attribute_page.py"
    )
    for row in (
        "| `battery` | Battery voltage | number | V | 2 | |",
        "| `tire#Pressure` | Tyre #, pressure | number | bar | 1 | |",
        "| `jt808.status` | Status | bits | | | `1` positioned, ",
        "| `load` | Load | number | | | `1` half full, `3` full |",
        "| `sos` | emergency button | |",
        "`phoneUse` phone in hand",
    ):
        assert row in written
