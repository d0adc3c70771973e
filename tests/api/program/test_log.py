import io
import json
import logging

import pytest

from motorpool.api.program.log import open_log
from motorpool.api.settings import LogSettings


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


def test_control_characters_cannot_forge_a_line():
    stream = io.StringIO()
    open_log(LogSettings(), stream)
    forged = "x\n2026-01-01T00:00:00.000Z INFO    motorpool: all is well\x1b[2K\r\x9b2K\x00\u2028\u202e"
    logging.getLogger("motorpool.test").warning("device %s", forged)
    (line,) = stream.getvalue().splitlines()
    assert line.isprintable()
    assert line.endswith(
        r"device x\n2026-01-01T00:00:00.000Z INFO    motorpool: all is well\x1b[2K\r\x9b2K\x00\u2028\u202e"
    )


def test_no_line_of_a_traceback_looks_like_a_record():
    stream = io.StringIO()
    open_log(LogSettings(), stream)
    try:
        raise ValueError("x\n2026-01-01T00:00:00.000Z INFO forged \x1b[2K")
    except ValueError:
        logging.getLogger("motorpool.test").exception("failed")
    first, *rest = stream.getvalue().splitlines()
    assert first.endswith("ERROR   motorpool.test: failed")
    assert len(rest) >= 4
    assert all(line.startswith("    ") and line.isprintable() for line in rest)
