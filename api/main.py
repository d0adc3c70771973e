"""The command line: one function for each verb.

A verb imports what it needs when it is run: the whole server takes a second of CPU to import, and
`motorpool --version`, `settings` or a mistyped setting should not.
"""

import argparse
import getpass
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from motorpool.api.program.errors import SettingsError, StartFailed
from motorpool.api.program.version import program_version

if TYPE_CHECKING:
    from motorpool.api.program.settings import Settings

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the result is the exit code: 0, 1 for a failure, 2 for wrong words or settings."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser(given)
    words = parser.parse_args(given)
    if words.verb is None:
        parser.print_help()
        return 2
    try:
        run: Callable[[argparse.Namespace], int] = words.run
        return run(words)
    except SettingsError as error:
        return _fail(str(error), 2)
    except StartFailed as error:
        return _fail(str(error), 1)
    except KeyboardInterrupt:
        return 130


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="motorpool", description="A server for vehicle fleets.")
    parser.add_argument("--version", action="version", version=f"motorpool {program_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verb = verbs.add_parser("serve", help="run the server")
    _add_config(verb)
    verb.add_argument("--demo", action="store_true", help="with a simulated fleet, in data/demo")
    verb.add_argument("--record", type=Path, metavar="FILE", help="write what devices send to FILE")
    verb.set_defaults(run=_serve)
    verb = verbs.add_parser("simulate", help="run simulated devices against a server")
    _add_lazily(verb, "simulate", "motorpool.bench.simulate", given)
    verb = verbs.add_parser("bench", help="measure")
    _add_lazily(verb, "bench", "motorpool.bench.main", given)
    verb = verbs.add_parser("settings", help="print every setting with its default, unit and meaning")
    verb.set_defaults(run=_print_settings)
    verb = verbs.add_parser("user", help="create a user, or set a password or role, from the shell")
    _add_config(verb)
    verb.add_argument("email")
    verb.add_argument("--demo", action="store_true", help="of the demonstration's data")
    verb.add_argument("--password", action="store_true", help="set the password (asked for, or from input)")
    role = verb.add_mutually_exclusive_group()
    role.add_argument("--administrator", action="store_true", default=None, help="make an administrator")
    role.add_argument("--no-administrator", action="store_false", dest="administrator", help="take it away")
    verb.set_defaults(run=_edit_user)
    verb = verbs.add_parser("backup", help="write all that a server knows to one file, while it runs or not")
    _add_config(verb)
    verb.add_argument("file", type=Path)
    verb.add_argument("--demo", action="store_true", help="of the demonstration's data")
    verb.set_defaults(run=_back_up)
    verb = verbs.add_parser("restore", help="put a backup in the place of what is there")
    _add_config(verb)
    verb.add_argument("file", type=Path)
    verb.add_argument("--demo", action="store_true", help="of the demonstration's data")
    verb.add_argument("--force", action="store_true", help="even where there is something")
    verb.set_defaults(run=_restore)
    return parser


def _add_config(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--config", type=Path, metavar="FILE", help="settings (motorpool.toml)")


def _add_lazily(verb: argparse.ArgumentParser, name: str, module: str, given: Sequence[str]) -> None:
    """Let a verb of bench/ declare its arguments, but import it only when it is the one asked for."""
    if next((word for word in given if not word.startswith("-")), None) == name:
        loaded = importlib.import_module(module)
        loaded.add_arguments(verb)
        verb.set_defaults(run=loaded.run)


def _settings(words: argparse.Namespace) -> "Settings":
    from motorpool.api.program.configuration import load

    settings, warnings = load(words.config, os.environ, demo=words.demo)
    for warning in warnings:
        print(f"motorpool: warning: {warning}", file=sys.stderr)
    return settings


def _serve(words: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.log import open_log
    from motorpool.api.program.reboot import restart_process
    from motorpool.api.program.serve import error_line, serve

    settings = _settings(words)
    open_log(settings.log)
    try:
        again = trio.run(partial(serve, settings, demo=words.demo, record=words.record))
    except BaseExceptionGroup as group:
        expected, mistakes = group.split(StartFailed)
        if mistakes is not None:
            # Nobody foresaw it, so the log gets all of it; the last line is still one.
            logging.getLogger(__name__).critical("the server failed", exc_info=mistakes)
        return _fail(error_line(mistakes or expected or group), 1)
    return restart_process() if again else 0


def _print_settings(words: argparse.Namespace) -> int:
    from motorpool.api.program.configuration import describe

    del words
    for line in describe():
        print(line)
    return 0


def _edit_user(words: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.serve import edit_user

    settings = _settings(words)
    password = None
    if words.password:
        asked = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        if not asked:
            return _fail("the password is empty", 2)
        password = asked
    done = trio.run(partial(edit_user, settings, words.email, password, words.administrator))
    print(done)
    return 0


def _back_up(words: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.backup import back_up

    print(trio.run(back_up, _settings(words), words.file))
    return 0


def _restore(words: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.backup import restore

    print(trio.run(partial(restore, _settings(words), words.file, force=words.force)))
    return 0


def _fail(line: str, code: int) -> int:
    print(f"motorpool: {line}", file=sys.stderr)
    return code
