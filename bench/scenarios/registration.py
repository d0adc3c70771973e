"""A whole fleet connects in the same moment: unknown to the server, and again once it is known."""

from contextlib import ExitStack

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import RegistrationResult
from motorpool.bench.measured_server import device_ids, known_devices, open_server
from motorpool.bench.options import Options, Step
from motorpool.bench.phases.registration import PREFIX, connected_fleet
from motorpool.bench.server import run_server

NAME = "registration"
TITLE = "unknown terminals that register all at once, beside the same terminals once they are known"
SERVER = "any"
STEPS = 3
LIMIT_SECONDS = 10.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Register unknown terminals, register them again, and count the devices.

    A foreign server that knows a terminal only once it has been entered is asked for known ones alone.
    """
    count = options.idle_terminals
    with ExitStack() as stack:
        server = stack.enter_context(open_server(options, run_server))
        phones = server.phones(PREFIX, count)
        stack.enter_context(known_devices(server, phones))
        step(f"{count:,} unknown terminals register")
        unknown = None
        if server.is_own:
            with connected_fleet(server, count) as unknown:
                pass
        step("the same terminals again")
        with connected_fleet(server, count) as known:
            pass
        step("counting devices")
        with server.client() as client:
            registered = len(set(phones) & device_ids(client).keys())
    if unknown is None:
        reason = "devices of a server that somebody else started are entered over its API"
        summary.add_absent(NAME, "unknown terminals", "s", reason)
    else:
        _report_unknown(summary, unknown, known)
    summary.add(NAME, "known terminals", known.seconds, "s")
    _report_answers(summary, "known", known)
    summary.add(NAME, "not registered", count - registered, "devices", goals=(Goal(0),))


def _report_unknown(summary: Summary, unknown: RegistrationResult, known: RegistrationResult) -> None:
    summary.add(
        NAME,
        "unknown terminals",
        unknown.seconds,
        "s",
        reference="known terminals",
        beside=known.seconds,
        goals=(Goal(LIMIT_SECONDS),),
    )
    _report_answers(summary, "unknown", unknown)


def _report_answers(summary: Summary, name: str, result: RegistrationResult) -> None:
    summary.add_latencies(NAME, f"{name} terminals", result.latencies)
    failed = result.refused + result.unanswered
    summary.add(NAME, f"{name} terminals refused or not answered", failed, "terminals", goals=(Goal(0),))
