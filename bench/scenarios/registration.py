"""A whole fleet connects in the same moment: unknown to the server, and again once it is known."""

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import RegistrationResult
from motorpool.bench.options import Options, Step
from motorpool.bench.phases.registration import connected_fleet
from motorpool.bench.server import Server, run_server

NAME = "registration"
TITLE = "unknown terminals that register all at once, beside the same terminals once they are known"
STEPS = 3
LIMIT_SECONDS = 10.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Register unknown terminals, register them again, and count the devices."""
    count = options.idle_terminals
    with run_server() as server:
        step(f"{count:,} unknown terminals register")
        with connected_fleet(server, count) as unknown:
            pass
        step("the same terminals again")
        with connected_fleet(server, count) as known:
            pass
        step("counting devices")
        registered = _registered(server)
    summary.add(
        NAME,
        "unknown terminals",
        unknown.seconds,
        "s",
        reference="known terminals",
        beside=known.seconds,
        goals=(Goal(LIMIT_SECONDS),),
    )
    summary.add(NAME, "known terminals", known.seconds, "s")
    for name, result in (("unknown", unknown), ("known", known)):
        _report_answers(summary, name, result)
    summary.add(NAME, "not registered", count - registered, "devices", goals=(Goal(0),))


def _report_answers(summary: Summary, name: str, result: RegistrationResult) -> None:
    summary.add(NAME, f"{name} terminals p50", result.p50_ms, "ms")
    summary.add(NAME, f"{name} terminals p99", result.p99_ms, "ms")
    failed = result.refused + result.unanswered
    summary.add(NAME, f"{name} terminals refused or not answered", failed, "terminals", goals=(Goal(0),))


def _registered(server: Server) -> int:
    with server.client() as client:
        return len(client.get("/devices", params={"all": "true"}).json())
