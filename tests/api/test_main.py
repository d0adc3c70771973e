import io
import json
import os
import subprocess
import sys

import pytest

from motorpool.api.main import main


def test_without_a_verb_the_help_is_printed_and_the_code_is_2(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().out
    for verb in ("serve", "simulate", "bench", "settings", "user"):
        assert verb in printed


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("motorpool ")


def test_settings_prints_every_key_with_its_variable(capsys):
    assert main(["settings"]) == 0
    printed = capsys.readouterr().out
    for name in (
        "MOTORPOOL_DATA",
        "MOTORPOOL_BIND",
        "MOTORPOOL_REGISTER_UNKNOWN",
        "MOTORPOOL_VIDEO_WINDOW_SEGMENTS",
    ):
        assert name in printed
    assert "(s)" in printed


def test_openapi_prints_the_document_without_a_database(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["openapi"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["openapi"] == "3.1.0"
    assert "/devices" in document["paths"]
    assert "Device" in document["components"]["schemas"]


def test_unknown_words_end_with_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--nonsense"])
    assert ended.value.code == 2


def test_an_empty_password_is_refused_before_anything_is_opened(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert main(["user", "boss@example.org", "--password"]) == 2
    assert capsys.readouterr().err == "motorpool: the password is empty\n"


COMMANDS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from motorpool.api.main import main

done = []
for words, given in json.loads(sys.argv[1]):
    sys.stdin, out, errors = io.StringIO(given), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        sys.argv = ["motorpool", *words]
        code = main()
    done.append([code, out.getvalue(), errors.getvalue()])
print(json.dumps(done))
"""
"""Runs one command line after the other: a process for each would mostly import."""


def test_a_user_is_made_and_changed_from_the_shell(tmp_path, database_url):
    environ = {**os.environ, "MOTORPOOL_DATA": str(tmp_path), "MOTORPOOL_DATABASE": database_url}
    lines = [
        (("user", *words), f"{given}\n")
        for words, given in (
            (("boss@example.org", "--administrator"), ""),
            (("boss@example.org", "--password"), "short"),
            (("boss@example.org", "--password"), "boss@example.org"),
            (("boss@example.org", "--password"), "Password123"),
            (("boss@example.org", "--password", "--administrator"), "secret word"),
            (("BOSS@example.org", "--no-administrator"), ""),
            (("BOSS@example.org", "--administrator", "--unlink-openid"), ""),
        )
    ]
    program = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environ,
        cwd=tmp_path,
    )
    missing, short, own, common, made, last, changed = json.loads(program.stdout)
    assert missing[0] == 1
    assert (
        missing[2].splitlines()[-1] == "motorpool: there is no user boss@example.org; --password creates one"
    )
    for code, _, errors in (short, own, common):
        assert (code, errors.splitlines()[-1][:20]) == (1, "motorpool: password:")
    assert made[:2] == [0, "user boss@example.org created, administrator\n"], made
    assert (last[0], "last administrator" in last[2].splitlines()[-1]) == (1, True)
    assert changed[:2] == [0, "user boss@example.org changed\n"]


def test_settings_whose_reader_has_left_are_no_traceback():
    program = subprocess.Popen(
        [sys.executable, "-m", "motorpool", "settings"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    # As `motorpool settings | head -1`: the pipe holds less than all settings.
    program.stdout.close()
    assert program.stderr.read() == ""
    assert program.wait(60) == 141
    program.stderr.close()
