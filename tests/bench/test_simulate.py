"""The command line of `motorpool simulate`."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from motorpool.bench.simulate import (
    WrongArguments,
    add_arguments,
    find_account,
    find_fleet,
    find_target,
    read_credentials,
    run,
)
from motorpool.bench.target import Account


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def test_devices_connect_to_the_host_of_the_server_by_default() -> None:
    assert find_target(parse("--server", "http://fleet.example.org:8082")).host == "fleet.example.org"
    assert find_target(parse("--server", "http://fleet.example.org", "--host", "10.0.0.1")).host == "10.0.0.1"
    target = find_target(parse("--port-offset", "1000"))
    assert (target.host, target.port(5015)) == ("127.0.0.1", 6015)


def test_a_fleet_is_as_large_as_asked_for() -> None:
    fleet = find_fleet(parse("--vehicles", "3", "--phones", "2", "--channels", "4", "--interval", "1.5"))
    assert (len(fleet.vehicles), len(fleet.phones)) == (3, 2)
    assert {plan.channels for plan in fleet.vehicles} == {4}
    assert {plan.interval_seconds for plan in fleet.vehicles} == {1.5}
    assert not any(plan.video.stamped for plan in fleet.vehicles)
    assert all(plan.video.stamped for plan in find_fleet(parse("--stamped")).vehicles)


@pytest.mark.parametrize(
    "words",
    [("--vehicles", "-1"), ("--channels", "32"), ("--interval", "0"), ("--fps", "0"), ("--speed", "0")],
)
def test_a_number_that_makes_no_sense_is_one_line_and_code_2(
    words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(parse(*words)) == 2
    error = capsys.readouterr().err
    assert words[0] in error
    assert error.count("\n") == 1


def test_credentials_come_from_a_file_then_the_command_line_then_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "login.json"
    path.write_text('{"email": "f@example.org", "password": "file"}', encoding="utf-8")
    path.chmod(0o600)
    server = ("--server", "http://127.0.0.1:8082/")
    environ = {"MOTORPOOL_SIMULATE_EMAIL": "e@example.org", "MOTORPOOL_SIMULATE_PASSWORD": "environment"}
    assert find_account(parse(*server), environ) == Account(
        server="http://127.0.0.1:8082", email="e@example.org", password="environment"
    )
    given = find_account(parse(*server, "--email", "c@example.org", "--password", "line"), environ)
    assert given == Account(server="http://127.0.0.1:8082", email="c@example.org", password="line")
    assert find_account(parse(*server, "--credentials", str(path)), environ) == Account(
        server="http://127.0.0.1:8082", email="f@example.org", password="file"
    )
    assert find_account(parse(), environ) is None


@pytest.mark.parametrize("words", [("--server", "http://127.0.0.1:1"), ("--server", "127.0.0.1:8082")])
def test_a_server_without_credentials_or_scheme_is_refused(words: tuple[str, str]) -> None:
    with pytest.raises(WrongArguments, match="--server"):
        find_account(parse(*words), {})


def test_a_credentials_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "login.json"
    path.write_text('{"email": "f@example.org", "password": "file"}', encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(WrongArguments, match="chmod 600"):
        read_credentials(path)


@pytest.mark.parametrize("content", ["", "[]", '{"email": "only"}'])
def test_a_credentials_file_without_a_login_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "login.json"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(WrongArguments, match="must hold"):
        read_credentials(path)


def test_the_program_ends_when_its_input_is_closed() -> None:
    code = (
        "import argparse; from motorpool.bench.simulate import add_arguments, run;"
        "p = argparse.ArgumentParser(); add_arguments(p);"
        "args = p.parse_args(['--end-with-input', '--vehicles', '1', '--port-offset', '-5000']);"
        "raise SystemExit(run(args))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input=b"", timeout=60, check=False, capture_output=True
    )
    assert ended.returncode == 0
    assert b"1 vehicles and 0 phones set out" in ended.stderr
