import errno
import io
import json
import logging

import pytest

from motorpool.actors.messages.conditions import DATABASE, DISK, OPEN_FILES
from motorpool.api.program.log import open_log, without_repetitions
from motorpool.api.settings import LogSettings
from motorpool.runtime import Conditions, SystemClock
from motorpool.storage.errors import StorageError, StorageUnavailable, TooManyFiles


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


def test_lines_of_one_of_several_processes_name_it():
    stream = io.StringIO()
    open_log(LogSettings(), stream, node=1)
    logging.getLogger("motorpool.test").info("heard")
    assert stream.getvalue().endswith("INFO    node 1 motorpool.test: heard\n")
    stream = io.StringIO()
    open_log(LogSettings(format="json"), stream, node=0)
    logging.getLogger("motorpool.test").info("heard")
    assert json.loads(stream.getvalue())["node"] == 0


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


@pytest.mark.parametrize("level", ["info", "debug"])
async def test_an_outage_that_was_told_is_not_repeated_by_everybody(level):
    stream = io.StringIO()
    open_log(LogSettings(level=level), stream)
    log, away = logging.getLogger("motorpool.test"), StorageUnavailable("away")
    conditions = Conditions(SystemClock())

    def write(when):
        log.warning("%s: not saved yet: %s", when, away)
        log.error("%s: lost: %s", when, away)
        log.warning("%s: refused: %s", when, StorageError("no"))

    with without_repetitions(conditions):
        write("before")
        conditions.enter(DATABASE, "away")
        write("during")
        conditions.leave(DATABASE)
        write("after")
    conditions.enter(DATABASE, "away")
    write("elsewhere")
    left_out = {"during: not saved yet"} if level == "info" else set()
    for when in ("before", "during", "after", "elsewhere"):
        for what in ("not saved yet", "lost", "refused"):
            assert (f"{when}: {what}" in stream.getvalue()) == (f"{when}: {what}" not in left_out)


async def test_each_file_that_finds_no_room_is_no_line_of_its_own(caplog):
    stream = io.StringIO()
    open_log(LogSettings(), stream)
    conditions = Conditions(SystemClock())
    log, full = logging.getLogger("motorpool.test"), OSError(errno.ENOSPC, "No space left on device")
    with without_repetitions(conditions):
        log.error("first not kept: %s", full)
        conditions.enter(DISK, "12 MiB are free")
        log.error("second not kept: %s", full)
        log.error("third not kept: %s", OSError(errno.EIO, "Input/output error"))
        log.error("%(what)s", {"what": "fourth not kept"})
        log.warning("fifth not kept: %s", TooManyFiles("Too many open files"))
        conditions.enter(OPEN_FILES, "the limit is 256")
        log.warning("sixth not kept: %s", TooManyFiles("Too many open files"))
    kept = {"first": True, "second": False, "third": True, "fourth": True, "fifth": True, "sixth": False}
    for which, is_there in kept.items():
        assert (f"{which} not kept" in stream.getvalue()) == is_there
