"""The command line: one function for each subcommand.

A subcommand imports what it needs when it is run: importing the whole server takes a second of CPU time, and
`motorpool --version`, `settings` or a mistyped setting should not need it.
"""

import argparse
import gc
import getpass
import importlib
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from motorpool.api.configuration.errors import SettingsError
from motorpool.api.program.errors import StartFailed, error_line
from motorpool.api.program.private_files import use_private_umask
from motorpool.api.version import program_version

if TYPE_CHECKING:
    from motorpool.api.settings import Settings

GC_THRESHOLDS = (10_000, 20, 20)
"""Thresholds of Python's cyclic garbage collector. Cycles are rare here; with Python's default of 700 new
objects the collector took a tenth of the CPU time that 500 viewers cost, and a sixth at startup."""


REPLAY_DIFFERS = 3
"""Exit code of `replay-rules` if the events differ."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; return the exit code: 0, 1 for a failure, 2 for invalid arguments or settings."""
    # Before the imports of a subcommand, which create most of the objects of a start.
    gc.set_threshold(*GC_THRESHOLDS)
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser(given)
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        run: Callable[[argparse.Namespace], int] = options.run
        code = run(options)
        sys.stdout.flush()
    except SettingsError as error:
        return _fail(str(error), 2)
    except StartFailed as error:
        return _fail(str(error), 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader wants no more, as in `motorpool settings | head`. Python flushes again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="motorpool", description="A server for vehicle fleets.")
    parser.add_argument("--version", action="version", version=f"motorpool {program_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    command = commands.add_parser("serve", help="run the server")
    _add_config(command)
    command.add_argument("--demo", action="store_true", help="with a simulated fleet, in data/demo")
    command.add_argument("--record", type=Path, metavar="FILE", help="write what devices send to FILE")
    command.add_argument(
        "--nodes", metavar="N", help="run N server processes on the ports of this machine; 0: one a core"
    )
    # How the supervisor of several starts each of them: a descriptor.
    command.add_argument("--control", type=int, help=argparse.SUPPRESS)
    command.set_defaults(run=_serve)
    command = commands.add_parser("simulate", help="run simulated devices against a server")
    _add_lazily(command, "simulate", "motorpool.bench.simulate", given)
    command = commands.add_parser("bench", help="run benchmarks")
    _add_lazily(command, "bench", "motorpool.bench.main", given)
    command = commands.add_parser("settings", help="print every setting with its default, unit and meaning")
    command.set_defaults(run=_print_settings)
    command = commands.add_parser(
        "decode",
        help="print what captured bytes of a device mean",
        description="Each argument is one read of a connection, or one datagram: hexadecimal digits, with or"
        " without blanks; with --text a text with escapes. Of the standard input each line is one."
        " The exit code is 1 if anything was dropped or is incomplete.",
    )
    command.add_argument("protocol", metavar="NAME", help="protocol: gps103, jt808 …")
    command.add_argument("data", nargs="+", metavar="HEX", help="what the device sent; -: standard input")
    command.add_argument("--text", action="store_true", help=r"HEX is text with \r, \n and \xhh as escapes")
    command.add_argument("--udp", action="store_true", help="each argument is a datagram")
    command.add_argument("--strict", action="store_true", help="drop frames with a wrong check value")
    command.add_argument("--model", default="", help="the device's model, where the layout depends on it")
    command.add_argument(
        "--attribute", action="append", default=[], metavar="KEY=VALUE", help="an attribute of the device"
    )
    command.add_argument(
        "--fields", action="store_true", help="explain each part of what the device sent, also unknown ones"
    )
    command.add_argument("--json", action="store_true", help="print a line of JSON for each report")
    command.set_defaults(run=_decode)
    command = commands.add_parser("openapi", help="print the OpenAPI document of the API")
    command.set_defaults(run=_print_openapi)
    command = commands.add_parser("user", help="create a user, or set their password or role")
    _add_config(command)
    command.add_argument("email")
    command.add_argument("--demo", action="store_true", help="use the data of the demonstration")
    command.add_argument(
        "--password", action="store_true", help="set the password, from a prompt or standard input"
    )
    role = command.add_mutually_exclusive_group()
    role.add_argument(
        "--administrator", action="store_true", default=None, help="make the user an administrator"
    )
    role.add_argument(
        "--no-administrator", action="store_false", dest="administrator", help="revoke the administrator role"
    )
    command.add_argument(
        "--unlink-openid", action="store_true", help="forget which login of the OpenID provider is the user's"
    )
    command.add_argument(
        "--remove-codes", action="store_true", help="switch off one-time codes, whose key the user has lost"
    )
    command.set_defaults(run=_edit_user)
    command = commands.add_parser(
        "replay-rules", help="say what events the present configuration would make of stored positions"
    )
    _add_config(command)
    command.add_argument("--device", required=True, metavar="ID", help="unique id or id of a device")
    command.add_argument(
        "--from", required=True, type=_instant, dest="start", metavar="TIME", help="ISO 8601 with a zone"
    )
    command.add_argument("--to", required=True, type=_instant, dest="end", metavar="TIME", help="included")
    command.add_argument("--demo", action="store_true", help="use the data of the demonstration")
    command.set_defaults(run=_replay_rules)
    command = commands.add_parser(
        "backup", help="write all data of a server to one file, whether it runs or not"
    )
    _add_config(command)
    command.add_argument("file", type=Path)
    command.add_argument("--demo", action="store_true", help="use the data of the demonstration")
    command.add_argument(
        "--without-key", action="store_true", help="leave out encryption.key, the key of the secrets in it"
    )
    command.set_defaults(run=_back_up)
    command = commands.add_parser("restore", help="restore a backup")
    _add_config(command)
    command.add_argument("file", type=Path)
    command.add_argument("--demo", action="store_true", help="use the data of the demonstration")
    command.add_argument("--force", action="store_true", help="replace existing data")
    command.add_argument(
        "--without-key", action="store_true", help="although the key of its secrets is not here"
    )
    command.set_defaults(run=_restore)
    command = commands.add_parser(
        "move-database",
        help="move the embedded database to an external PostgreSQL",
        description="Copies the embedded database into an empty one of PostgreSQL 15 or newer, wholly or not"
        " at all, and compares the numbers of rows. The server must be stopped. What is embedded stays as it"
        " is, until the setting `database` names the other one. Files of devices stay in the data folder.",
    )
    _add_config(command)
    command.add_argument(
        "target",
        metavar="URL",
        help="postgresql://USER@HOST/NAME; with a password best in a file (?passfile=FILE): others on this"
        " machine see arguments",
    )
    command.set_defaults(run=_move_database, demo=False)
    command = commands.add_parser(
        "forget-secrets", help="remove secrets whose key is lost from the database, so that the server starts"
    )
    _add_config(command)
    command.add_argument("--demo", action="store_true", help="use the data of the demonstration")
    command.add_argument("--confirm", action="store_true", help="without it only say which those are")
    command.set_defaults(run=_forget_secrets)
    return parser


def _add_config(command: argparse.ArgumentParser) -> None:
    command.add_argument("--config", type=Path, metavar="FILE", help="settings (motorpool.toml)")


def _add_lazily(command: argparse.ArgumentParser, name: str, module: str, given: Sequence[str]) -> None:
    """Import a subcommand of bench/ and add its arguments, but only if it is the one given."""
    if next((word for word in given if not word.startswith("-")), None) == name:
        loaded = importlib.import_module(module)
        loaded.add_arguments(command)
        command.set_defaults(run=loaded.run)


def _settings(options: argparse.Namespace) -> "Settings":
    from motorpool.api.program.configuration import load

    nodes = getattr(options, "nodes", None)
    environ = os.environ if nodes is None else {**os.environ, "MOTORPOOL_NODES": nodes}
    settings, warnings = load(options.config, environ, demo=options.demo)
    for warning in warnings:
        print(f"motorpool: warning: {warning}", file=sys.stderr)
    return settings


def _serve(options: argparse.Namespace) -> int:
    use_private_umask()
    if options.control is not None:
        return _serve_supervised(options)
    # A setting that is wrong is reported before the server is imported.
    settings = _settings(options)
    from motorpool.api.program.log import open_log

    open_log(settings.log)
    from motorpool.actors.gateway.inherited_sockets import inherit_sockets
    from motorpool.api.program.reboot import restart_process
    from motorpool.api.program.supervisor import node_count, supervise

    try:
        inherited = inherit_sockets(os.environ)
    except ValueError as error:
        return _fail(str(error), 1)

    count = node_count(settings)
    if count > 1:
        if options.record is not None:
            return _fail("--record is for one process: --nodes 1", 2)
        words = [f"--config={options.config}"] if options.config is not None else []
        words += ["--demo"] if options.demo else []
        words.append(f"--nodes={count}")
        supervisor = partial(supervise, settings, count, words, demo=options.demo, inherited=inherited)
        return _run_program(supervisor, lambda: 0)
    from motorpool.api.program.serve import serve

    run = partial(serve, settings, demo=options.demo, record=options.record, inherited=inherited)
    return _run_program(run, partial(restart_process, inherited))


def _serve_supervised(options: argparse.Namespace) -> int:
    """Serve as one of several processes; what goes wrong is told to the supervisor."""
    from motorpool.api.nodes.control import Failed, receive_plan, send_line

    try:
        plan, connection = receive_plan(options.control)
    except OSError as error:
        return _fail(str(error), 1)
    own = connection.dup()

    def tell(line: str) -> None:
        with suppress(OSError):
            send_line(own, Failed(line))

    try:
        settings = _settings(options)
    except SettingsError as error:
        tell(str(error))
        return 2
    from motorpool.api.nodes.supervised import Supervised
    from motorpool.api.program.log import open_log
    from motorpool.api.program.reboot import RESTART_CODE
    from motorpool.api.program.serve import serve

    open_log(settings.log, node=plan.index)

    async def run() -> bool:
        return await serve(settings, supervised=Supervised(plan, connection))

    return _run_program(run, lambda: RESTART_CODE, tell)


def _run_program(
    run: Callable[[], Awaitable[bool]], restart: Callable[[], int], tell: Callable[[str], None] | None = None
) -> int:
    """Run the server; return the exit code. Why it failed is printed, or told."""
    import trio

    try:
        must_restart = trio.run(run)
    except BaseExceptionGroup as group:
        expected, unexpected = group.split(StartFailed)
        if unexpected is not None:
            # Unexpected errors are logged with a traceback; the last line is still one.
            logging.getLogger(__name__).critical("the server failed", exc_info=unexpected)
        line = error_line(unexpected or expected or group)
        if tell is None:
            return _fail(line, 1)
        tell(line)
        return 1
    return restart() if must_restart else 0


def _print_settings(options: argparse.Namespace) -> int:
    from motorpool.api.program.settings_listing import describe

    del options
    for line in describe():
        print(line)
    return 0


def _decode(options: argparse.Namespace) -> int:
    from motorpool.api.program import decoding
    from motorpool.api.program.log import ESCAPES
    from motorpool.codecs.reports import FrameRejected

    given = options.data
    if given == ["-"]:
        given = [line.strip() for line in sys.stdin if line.strip()]
    attributes = dict(each.partition("=")[::2] for each in options.attribute)
    is_whole = True
    try:
        pieces = [decoding.parse_bytes(each, is_text=options.text) for each in given]
        found = decoding.decode(
            options.protocol,
            pieces,
            udp=options.udp,
            strict=options.strict,
            model=options.model,
            attributes=attributes,
            fields=options.fields,
        )
        for decoded in found:
            if isinstance(decoded, decoding.Decoded):
                is_whole &= not isinstance(decoded.report, FrameRejected)
            is_whole &= not isinstance(decoded, str)
            if options.json:
                print(decoding.as_json(decoded))
                continue
            for line in decoding.describe(decoded, options.protocol):
                print(line.translate(ESCAPES))
    except ValueError as error:
        return _fail(f"decode: {error}", 2)
    return 0 if is_whole else 1


def _print_openapi(options: argparse.Namespace) -> int:
    import msgspec

    from motorpool.api.app import openapi_document

    del options
    print(msgspec.json.format(msgspec.json.encode(openapi_document()), indent=2).decode())
    return 0


def _edit_user(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.user_command import UserEdit, edit_user

    settings = _settings(options)
    password = None
    if options.password:
        entered = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        if not entered:
            return _fail("the password is empty", 2)
        password = entered
    edit = UserEdit(
        options.email, password, options.administrator, options.unlink_openid, options.remove_codes
    )
    use_private_umask()
    print(trio.run(edit_user, settings, edit))
    return 0


def _instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a time such as 2026-05-01T12:00:00Z") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no zone, such as the Z of 2026-05-01T12:00:00Z")
    return found


def _replay_rules(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.replay_command import Span, replay_rules

    settings = _settings(options)
    span = Span(options.device, options.start, options.end)
    differences = trio.run(replay_rules, settings, span)
    for line in differences.lines():
        print(line)
    return REPLAY_DIFFERS if differences.added or differences.missing else 0


def _back_up(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.backup import back_up

    use_private_umask()
    print(trio.run(partial(back_up, _settings(options), options.file, with_key=not options.without_key)))
    return 0


def _restore(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.backup import restore

    use_private_umask()
    work = partial(restore, force=options.force, without_key=options.without_key)
    print(trio.run(work, _settings(options), options.file))
    return 0


def _forget_secrets(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.lost_keys import forget_secrets

    use_private_umask()
    print(trio.run(partial(forget_secrets, _settings(options), confirmed=options.confirm)))
    return 0


def _move_database(options: argparse.Namespace) -> int:
    import trio

    from motorpool.api.program.move_command import move_database

    use_private_umask()
    print(trio.run(move_database, _settings(options), options.target))
    return 0


def _fail(line: str, code: int) -> int:
    print(f"motorpool: {line}", file=sys.stderr)
    return code
