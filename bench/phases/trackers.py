"""The load of another protocol and of JT/T 808, by turns on one server."""

from collections.abc import Callable, Sequence

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.clients import Measured
from motorpool.bench.options import BenchError, Step
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS

TURNS = 3
"""Comparisons, the middle one of which is reported."""
MIN_SHARE = 0.8
"""Of the throughput of JT/T 808 that another protocol must reach."""


def check_protocol(name: str, *, udp: bool) -> None:
    """Refuse what cannot be measured.

    Raises:
        BenchError: no such tracker, one whose positions are not answered, or no datagrams.
    """
    measured = sorted(name for name, tracker in TRACKERS.items() if tracker.is_acknowledged)
    if name not in measured:
        raise BenchError(f"positions of {name} are not acknowledged; there are {', '.join(measured)}")
    if udp and not CODECS[name].udp:
        raise BenchError(f"{name} has no datagrams")


def tracker_ids(protocol: str, group: int, count: int) -> tuple[str, ...]:
    """Return unique ids, as many digits long as the trackers of the protocol have."""
    digits = TRACKERS[protocol].digits
    return tuple(f"35{group}{number:0{digits - 3}d}" for number in range(1, count + 1))


def compare_turns(
    name: str, measure_808: Callable[[int], Measured], measure: Callable[[int], Measured], step: Step
) -> tuple[list[Measured], list[Measured]]:
    """Measure both in turn; return the turns of the protocol and of JT/T 808."""
    others: list[Measured] = []
    turns: list[Measured] = []
    for turn in range(TURNS):
        step(f"saturation by JT/T 808 and by {name}, {turn + 1} of {TURNS}")
        others.append(measure_808(turn))
        turns.append(measure(turn))
    return turns, others


def report_turns(
    scenario: str, summary: Summary, label: str, turns: Sequence[Measured], others: Sequence[Measured]
) -> None:
    """Report the turn with the middle of the ratios."""
    pairs = sorted(zip(turns, others, strict=True), key=lambda pair: pair[0].rate / pair[1].rate)
    turn, beside = pairs[len(pairs) // 2]
    must = (Goal(MIN_SHARE, at_least=True, of_ratio=True),)
    metric = f"throughput of {label}"
    summary.add(scenario, metric, turn.rate, "messages/s", reference="jt808", beside=beside.rate, goals=must)
    summary.add(scenario, f"{metric} p99", turn.result.p99_ms, "ms")
    summary.add(
        scenario,
        f"{metric} server CPU",
        turn.server_cpu_us,
        "µs/message",
        reference="jt808",
        beside=beside.server_cpu_us,
    )
    rates = ", ".join(
        f"{each.rate:,.0f} of {other.rate:,.0f}" for each, other in zip(turns, others, strict=True)
    )
    summary.note(f"messages/s of {label} beside JT/T 808, by turns: {rates}")
    if again := sum(each.result.late for each in turns):
        summary.note(f"{label}: {again} datagrams were sent again")
