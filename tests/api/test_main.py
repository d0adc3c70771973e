import io
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


def test_unknown_words_end_with_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--nonsense"])
    assert ended.value.code == 2


def test_an_empty_password_is_refused_before_anything_is_opened(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert main(["user", "boss@example.org", "--password"]) == 2
    assert capsys.readouterr().err == "motorpool: the password is empty\n"


def test_a_user_is_made_and_changed_from_the_shell(tmp_path, database_url):
    environ = {**os.environ, "MOTORPOOL_DATA": str(tmp_path), "MOTORPOOL_DATABASE": database_url}

    def run(*words, given="secret word\n"):
        return subprocess.run(
            [sys.executable, "-m", "motorpool", "user", *words],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=environ,
            cwd=tmp_path,
        )

    missing = run("boss@example.org", "--administrator")
    assert missing.returncode == 1
    assert (
        missing.stderr.splitlines()[-1]
        == "motorpool: there is no user boss@example.org; --password creates one"
    )
    for weak in ("short\n", "boss@example.org\n"):
        refused = run("boss@example.org", "--password", given=weak)
        assert (refused.returncode, refused.stderr.splitlines()[-1][:20]) == (1, "motorpool: password:")
    made = run("boss@example.org", "--password", "--administrator")
    assert (made.returncode, made.stdout) == (0, "user boss@example.org created, administrator\n"), (
        made.stderr
    )
    last = run("BOSS@example.org", "--no-administrator")
    assert (last.returncode, "last administrator" in last.stderr.splitlines()[-1]) == (1, True)
    changed = run("BOSS@example.org", "--administrator", "--unlink-openid")
    assert (changed.returncode, changed.stdout) == (0, "user boss@example.org changed\n")


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
