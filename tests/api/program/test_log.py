import io
import json
import logging

import pytest

from motorpool.api.program.log import open_log
from motorpool.api.program.settings import LogSettings


@pytest.fixture(autouse=True)
def kept_root():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_json_lines_hold_the_whole_record_on_one_line():
    stream = io.StringIO()
    open_log(LogSettings(format="json"), stream)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("motorpool.test").exception("a device said %s", 'quote " and\nnewline')
    (line,) = stream.getvalue().splitlines()
    record = json.loads(line)
    assert record["level"] == "error"
    assert record["logger"] == "motorpool.test"
    assert record["message"] == 'a device said quote " and\nnewline'
    assert record["traceback"].endswith("ValueError: two\nlines")
    assert record["time"].endswith("Z")


def test_text_lines_are_for_people_and_the_level_holds():
    stream = io.StringIO()
    open_log(LogSettings(level="warning"), stream)
    logging.getLogger("motorpool.test").info("unheard")
    logging.getLogger("motorpool.test").warning("heard")
    (line,) = stream.getvalue().splitlines()
    assert line.endswith("WARNING motorpool.test: heard")
