"""`motorpool simulate`: simulated vehicles, trackers and phones, or a recording, against any server."""

import argparse
import logging
import os
import signal
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import trio

from motorpool.bench.demo.program import run_demo
from motorpool.bench.replay import replay
from motorpool.bench.target import Account, RegistrationRefused, Target, register
from motorpool.bench.vehicles.cab import Cab
from motorpool.bench.vehicles.fleet import Fleet, plan_fleet
from motorpool.bench.vehicles.tracked_vehicle import plan_trackers
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import CodecError
from motorpool.runtime.clock import SystemClock

EMAIL, PASSWORD = "MOTORPOOL_SIMULATE_EMAIL", "MOTORPOOL_SIMULATE_PASSWORD"

_log = logging.getLogger(__name__)


class WrongArguments(Exception):
    """The command line is invalid; the text is one sentence."""


class Login(msgspec.Struct, frozen=True):
    """Content of a credentials file, as JSON."""

    email: str
    password: str
    operator: "Login | None" = None
    """The second user of the demonstration."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("--server", metavar="URL", help="register missing devices there: http://127.0.0.1:8082")
    add("--email", help=f"who registers them (or {EMAIL})")
    add("--password", help=f"better given by {PASSWORD} or --credentials: others see the command line")
    add("--credentials", type=Path, metavar="FILE", help='file of mode 0600: {"email": …, "password": …}')
    add("--host", help="where the devices connect (default: the host of --server, else 127.0.0.1)")
    add("--port-offset", type=int, default=0, help="added to every device port (default 0)")
    add("--vehicles", type=int, default=5, help="JT/T 808 vehicles with cameras (default 5)")
    add("--protocol", metavar="NAME", help="the vehicles have trackers of this protocol instead (gps103, …)")
    add("--model", metavar="NAME", help="the trackers have this maker's ways of it; with --protocol")
    add("--udp", action="store_true", help="the trackers send datagrams; with --protocol")
    add("--phones", type=int, default=0, help="OsmAnd phones (default 0)")
    add("--channels", type=int, default=2, help="cameras of a vehicle (default 2)")
    add("--interval", type=float, default=5.0, help="seconds between positions (default 5)")
    add("--fps", type=int, default=15, help="pictures a second (default 15)")
    add("--h265", type=int, default=0, metavar="COUNT", help="vehicles that send H.265 (default 0)")
    add("--stamped", action="store_true", help="the squares in the pictures hold the time, not the number")
    add("--alarms", type=float, default=0.0, help="seconds between alarms with files (default: none)")
    add("--talk-answer", type=Path, metavar="FILE", help="what drivers say: WAV, 16 bit, mono, 8 kHz")
    add("--talk-folder", type=Path, metavar="DIR", help="write what drivers hear there, as WAV")
    add("--seed", type=int, default=1, help="another seed is another fleet (default 1)")
    add("--replay", type=Path, metavar="FILE", help="play back what `serve --record` wrote, instead")
    add("--speed", type=float, default=1.0, help="of the replay: 2 is twice as fast (default 1)")
    add("--demo", action="store_true", help="the fleet of `serve --demo` and its configuration, instead")
    add("--end-with-input", action="store_true", help="end when the standard input is closed")


def run(args: argparse.Namespace) -> int:
    """Simulate until interrupted; return 0, 1 if the server refuses devices, 2 for a wrong command line."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # httpx logs a line for each request, which is too much here.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        return trio.run(_simulate, args)
    except WrongArguments as error:
        sys.stderr.write(f"motorpool simulate: {error}\n")
        return 2
    except (RegistrationRefused, CodecError, OSError) as error:
        sys.stderr.write(f"motorpool simulate: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 0


async def _simulate(args: argparse.Namespace) -> int:
    target = find_target(args)
    fleet, account = find_fleet(args), find_account(args, os.environ)
    if args.demo:
        find_demo_accounts(args, account)
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_await_signal, nursery.cancel_scope)
        if args.end_with_input:
            nursery.start_soon(_await_end_of_input, nursery.cancel_scope)
        try:
            if args.replay is not None:
                played = await replay(args.replay, target, args.speed)
                counts = (played.connections, played.failed, played.bytes_sent)
                _log.info("played %d connections (%d failed), %d bytes", *counts)
            elif args.demo:
                await run_demo(*find_demo_accounts(args, account), target, SystemClock())
            else:
                await _drive(fleet, account, target)
        except (RegistrationRefused, CodecError, OSError) as error:
            # Raised here it would be wrapped in a group.
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return 0


async def _drive(fleet: Fleet, account: Account | None, target: Target) -> None:
    if account is not None:
        added = await register(account, fleet.devices())
        _log.info(
            "%d devices registered at %s, %d were there", added, account.server, len(fleet.devices()) - added
        )
    vehicles = len(fleet.vehicles) + len(fleet.trackers)
    _log.info("%d vehicles and %d phones set out for %s", vehicles, len(fleet.phones), target.host)
    await fleet.run(target, SystemClock())


async def _await_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def _await_end_of_input(scope: trio.CancelScope) -> None:
    async with trio.lowlevel.FdStream(os.dup(sys.stdin.fileno())) as standard_input:
        while await standard_input.receive_some(4096):
            pass
    scope.cancel()


def find_target(args: argparse.Namespace) -> Target:
    """Return the address that devices connect to."""
    host = args.host or (urlsplit(args.server).hostname if args.server else None) or "127.0.0.1"
    return Target(host=host, port_offset=args.port_offset)


def find_fleet(args: argparse.Namespace) -> Fleet:
    """Plan the fleet that the command line describes.

    Raises:
        WrongArguments: a number makes no sense.
    """
    limits = (
        ("vehicles", 0, 99_999),
        ("phones", 0, 49_999),
        ("channels", 1, 31),
        ("interval", 0.1, 86_400),
        ("fps", 1, 60),
        ("h265", 0, 99_999),
        ("seed", 0, 999),
        ("speed", 0.001, 1000),
        ("alarms", 0, 86_400),
    )
    for name, least, most in limits:
        if not least <= getattr(args, name) <= most:
            raise WrongArguments(f"--{name} must lie between {least:g} and {most:g}")
    if args.model or args.protocol not in (None, "jt808", "osmand"):
        if args.protocol not in TRACKERS:
            raise WrongArguments(f"--protocol must be one of osmand, {', '.join(sorted(TRACKERS))}")
        models = TRACKERS[args.protocol].models
        if args.model and args.model not in models:
            known = f"one of {', '.join(models)}" if models else "left out"
            raise WrongArguments(f"--model must be {known} with --protocol {args.protocol}")
        if args.udp and not CODECS[args.protocol].udp:
            raise WrongArguments(f"{args.protocol} is not served over UDP")
        trackers = plan_trackers(
            args.protocol,
            count=args.vehicles,
            interval_seconds=args.interval,
            seed=args.seed,
            udp=args.udp,
            model=args.model or "",
        )
        return Fleet((), plan_fleet(vehicles=0, phones=args.phones, seed=args.seed).phones, trackers)
    if args.udp:
        raise WrongArguments("--udp needs --protocol with the name of a tracker's protocol")
    if args.protocol == "osmand":
        return plan_fleet(
            vehicles=0, phones=args.phones or args.vehicles, interval_seconds=args.interval, seed=args.seed
        )
    return plan_fleet(
        vehicles=args.vehicles,
        phones=args.phones,
        channels=args.channels,
        interval_seconds=args.interval,
        seed=args.seed,
        h265=args.h265,
        frames_per_second=args.fps,
        stamped=args.stamped,
        alarm_seconds=args.alarms,
        cab=find_cab(args),
    )


def find_cab(args: argparse.Namespace) -> Cab:
    """Return what is said and heard in talks.

    Raises:
        WrongArguments: the answer is no such file, or the folder is none.
    """
    if args.talk_folder is not None and not args.talk_folder.is_dir():
        raise WrongArguments(f"--talk-folder: {args.talk_folder} is no folder")
    cab = Cab(answer=args.talk_answer, folder=args.talk_folder)
    try:
        cab.read_answer()
    except (OSError, ValueError) as error:
        raise WrongArguments(f"--talk-answer: {error}") from error
    return cab


def find_account(args: argparse.Namespace, environ: Mapping[str, str]) -> Account | None:
    """Return the account that registers the devices; None without --server, when they must exist already.

    Raises:
        WrongArguments: credentials are missing, or lie open.
    """
    if not args.server:
        return None
    if urlsplit(args.server).scheme not in ("http", "https"):
        raise WrongArguments("--server must be an address such as http://127.0.0.1:8082")
    email = args.email or environ.get(EMAIL)
    password = args.password or environ.get(PASSWORD)
    if args.credentials is not None:
        login = read_credentials(args.credentials)
        email, password = login.email, login.password
    if not email or not password:
        raise WrongArguments(f"--server needs --credentials, or {EMAIL} and {PASSWORD}")
    return Account(server=args.server.rstrip("/"), email=email, password=password)


def find_demo_accounts(args: argparse.Namespace, account: Account | None) -> tuple[Account, Account]:
    """Return the administrator and the operator of the demonstration.

    Raises:
        WrongArguments: the credentials file does not name both.
    """
    operator = read_credentials(args.credentials).operator if args.credentials is not None else None
    if account is None or operator is None:
        raise WrongArguments('--demo needs --server, and --credentials with "operator"')
    return account, Account(server=account.server, email=operator.email, password=operator.password)


def read_credentials(path: Path) -> Login:
    """Read credentials from a file that only its owner may read.

    Raises:
        WrongArguments: it is missing, open to others, or no such file.
    """
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise WrongArguments(f"{path} must be readable by its owner only (chmod 600)")
        return msgspec.json.decode(path.read_bytes(), type=Login)
    except OSError as error:
        raise WrongArguments(f"cannot read {path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise WrongArguments(f'{path} must hold {{"email": …, "password": …}}') from error
