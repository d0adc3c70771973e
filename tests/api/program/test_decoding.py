"""`motorpool decode`."""

import io
import json

import pytest

from motorpool.api.main import main
from motorpool.api.program.decoding import parse_bytes

LOCATION = (
    "7E02000028013912345678000700000000000000030158702C06CA4D14002301D6005C24030522223101040000480E30011831010B64"
    "7E"
)


def decode(capsys, *words):
    code = main(["decode", *words])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err


def test_a_position_is_printed_with_its_units_and_the_answer(capsys):
    code, lines, _ = decode(capsys, "jt808", LOCATION)
    assert code == 0
    assert lines[:2] == ["Login", '  unique_ids: ["013912345678", "13912345678"]']
    assert {
        "PositionReport",
        "  device_time: 2024-03-05T14:22:31Z",
        "  latitude: 22.5731 °",
        "  altitude: 35.0 m",
        "  odometer: 1844600 m",
        "  ignition: true",
        "  answer: 7e8001000501391234567800000007020000b17e",
    } <= set(lines)


def test_each_argument_is_one_read_and_blanks_do_not_matter(capsys):
    halves = f"0x{LOCATION[:20]}", " ".join(LOCATION[at : at + 2] for at in range(20, len(LOCATION), 2))
    code, lines, _ = decode(capsys, "jt808", *halves)
    assert code == 0
    assert "PositionReport" in lines


def test_texts_have_escapes_and_their_answers_are_readable(capsys):
    code, lines, _ = decode(capsys, "gps103", "--text", r"##,imei:353358017784062,A;\r\n", "--udp")
    assert code == 0
    assert lines == ["Login", '  unique_ids: ["353358017784062"]', "  answer: 4c4f4144 'LOAD'"]
    assert parse_bytes(r"\x7e\0é", is_text=True) == b"\x7e\0\xc3\xa9"


STATES = "78780a1346040300020005f4c10d0a"


def test_the_parts_of_a_message_are_a_table(capsys):
    code, lines, _ = decode(capsys, "gt06", "--fields", STATES)
    assert code == 0
    assert any(line.split() == ["5", "1", "04", "batteryLevel", "66", "%"] for line in lines)
    assert any(line.split() == ["8", "1", "02", "(unknown)"] for line in lines)


def test_units_are_those_of_the_protocol(capsys):
    beacon = "787829b21803050e161fc4001122334455e2c56db5dffb48d2b060d0f5a71096e001020304013108000934670d0a"
    _, lines, _ = decode(capsys, "gt06", "--fields", beacon)
    assert sum("tagBattery" in line and line.endswith("3.05 V") for line in lines) == 2


def test_the_parts_of_a_text_are_shown_as_text(capsys):
    _, lines, _ = decode(capsys, "gps103", "--text", "--fields", "##,imei:353358017784062,A;")
    assert any("353358017784062" in line and "unique_ids" in line for line in lines[3:])


def test_reports_and_parts_as_lines_of_json(capsys):
    code, lines, _ = decode(capsys, "gt06", "--fields", "--json", "--model", "R11", STATES)
    report, fields = (json.loads(line) for line in lines)
    assert code == 0
    assert (report["report"], report["answer"]) == ("PositionReport", "787805130005afd50d0a")
    (states,) = (part for part in fields["fields"] if part["offset"] == 4)
    assert states == {
        "offset": 4,
        "length": 1,
        "bytes": "46",
        "kind": "value",
        "values": {"alarm": "powerCut", "blocked": False, "charge": True, "ignition": True, "status": 70},
    }


def test_a_secret_is_in_no_json(capsys):
    _, lines, _ = decode(
        capsys, "osmand", "--json", "--text", r"GET /?id=1&secret=hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    assert json.loads(lines[0])["secret"] == "not shown"


def test_a_secret_is_not_printed(capsys):
    code, lines, _ = decode(
        capsys, "osmand", "--text", r"GET /?id=1&secret=hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    assert code == 0
    assert "  secret: not shown" in lines


@pytest.mark.parametrize("options", [(), ("--fields",)])
@pytest.mark.parametrize(
    ("protocol", "text"),
    [
        ("watch", r"[3G*8800000015*0009*\x1b[31mX\x07!!]"),
        (
            "osmand",
            r"GET /?id=1&lat=1&lon=2&%1b]0;x%07=%1b[2J%0aid:&y=%c2%9b HTTP/1.1\r\nHost: x\r\n\r\n",
        ),
    ],
)
def test_what_a_device_sends_gives_the_terminal_no_orders(capsys, options, protocol, text):
    _, lines, _ = decode(capsys, protocol, *options, "--text", text)
    assert any(r"\x1b[" in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_lines_of_the_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{LOCATION[:40]}\n\n{LOCATION[40:]}\n"))
    code, lines, _ = decode(capsys, "jt808", "-")
    assert code == 0
    assert "PositionReport" in lines


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("gps103", "--text", "noise;"), "FrameRejected"),
        (("gps103", "41 42"), "# 2 bytes wait for the rest of a message"),
        (("osmand", "--text", "x\\r\\n\\r\\n" * 3), "FrameRejected"),
    ],
)
def test_what_was_dropped_or_is_incomplete_is_code_1(capsys, words, expected):
    code, lines, _ = decode(capsys, *words)
    assert code == 1
    assert expected in lines


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nmea", "00"), "no such protocol: nmea"),
        (("jt808", "7"), "fromhex"),
        (("osmand", "--udp", "00"), "osmand is not served over UDP"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(capsys, words, expected):
    code, _, error = decode(capsys, *words)
    assert code == 2
    assert expected in error
    assert error.count("\n") == 1
