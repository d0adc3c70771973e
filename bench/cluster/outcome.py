"""The figures of a drill: what was wrong, how long take-overs took, and what was measured without faults."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from motorpool.bench.cluster.drill import DrillOutcome
from motorpool.bench.cluster.faults import KILL, Fault
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.output import percentile_ms
from motorpool.bench.load.plan import TerminalSession

SHOWN = 10
"""Anomalies that are described."""
TAKE_OVER_SECONDS = 12.0
SAME_MACHINE_SECONDS = 2.0
"""A supervisor tells the database at once that a process has ended."""
RESUME_SECONDS = 10.0
"""From the return of a device to the next segment of its stream (docs/servers.md#video)."""
NOTICE_SECONDS = 1.0
"""A terminal notices within this time that its server's process has ended."""
WAYS = {True: "own server", False: "other server"}


def report_drill(summary: Summary, name: str, outcome: DrillOutcome) -> None:
    """Add the figures of a drill to the scenario with this name."""
    history, result = outcome.history, outcome.result
    acknowledged = sum(len(each.acknowledged) for each in history.positions)
    summary.add(name, "anomalies", len(outcome.anomalies), "anomalies", goals=(Goal(0),))
    for rule, count in Counter(each.rule for each in outcome.anomalies).items():
        summary.note(f"{name}: {rule}: {count}")
    for anomaly in outcome.anomalies[:SHOWN]:
        summary.note(f"{name}: {anomaly.rule}: {anomaly.text}")
    for fault, count in sorted(Counter(each.name for each in outcome.faults).items()):
        summary.add(name, f"faults, {fault}", count, "faults")
    summary.add(name, "positions acknowledged", acknowledged, "positions")
    unanswered = sum(len(each.unanswered) for each in history.positions)
    summary.add(name, "positions unanswered", unanswered, "positions")
    summary.add(name, "positions rejected", result.rejected, "positions")
    for answer, count in sorted(Counter(each.result for each in outcome.requested).items()):
        summary.add(name, f"commands requested, {answer}", count, "commands")
    summary.add(name, "edges", len(history.edges), "edges")
    for answer, count in sorted(Counter(each.result for each in outcome.asked_by_reader).items()):
        summary.add(name, f"commands of a user whose rights change, {answer}", count, "commands")
    due = sum(each.is_due and each.result == "ok" for each in history.commands)
    summary.add(name, "commands that had to arrive", due, "commands")
    summary.add(name, "reads of rights", len(history.reads), "reads")
    summary.add(name, "statuses shown", len(history.shown), "statuses")
    summary.add(name, "versions of homes, duties and servers", len(history.versions), "versions")
    summary.add(name, "decisions of owners", len(history.decisions), "decisions")
    if outcome.filmed:
        summary.add(name, "playlists", len(history.playlists), "playlists")
        summary.add(name, "segments", len(history.segments), "segments")
    _report_baseline(summary, name, outcome)
    _report_take_over(summary, name, outcome)


def _report_baseline(summary: Summary, name: str, outcome: DrillOutcome) -> None:
    """Report what was measured while there was no fault."""
    baseline = outcome.baseline
    seconds = baseline.ended - baseline.began
    summary.add(name, "positions a second, calm", baseline.answers / seconds, "positions/s")
    for who, cpu in (("all servers", baseline.server_seconds), ("PostgreSQL", baseline.database_seconds)):
        summary.add(
            name, f"positions per CPU second of {who}", baseline.answers / cpu if cpu else 0.0, "positions/s"
        )
    delays = _socket_delays(outcome)
    for own, way in WAYS.items():
        summary.add(name, f"position on a WebSocket, {way}, p50", percentile_ms(delays[own], 0.50), "ms")
        summary.add(name, f"position on a WebSocket, {way}, p99", percentile_ms(delays[own], 0.99), "ms")
    waits = _command_waits(outcome)
    for own, way in WAYS.items():
        summary.add(name, f"command, {way}, p50", percentile_ms(waits[own], 0.50), "ms")
        summary.add(name, f"command, {way}, p99", percentile_ms(waits[own], 0.99), "ms")


def _socket_delays(outcome: DrillOutcome) -> dict[bool, list[float]]:
    """Return how long positions took to the WebSocket at their own server and at the other one, sorted.

    In seconds, from their sending; of those that were sent without faults.
    """
    place_of = {device: place for place, device in enumerate(outcome.devices)}
    sessions = _by_terminal(outcome.result.sessions)
    found: dict[bool, list[float]] = {True: [], False: []}
    for server, arrivals in enumerate(outcome.baseline.sockets.arrivals):
        seen: set[tuple[int, int]] = set()
        for arrival in arrivals:
            terminal = place_of.get(arrival.device_id)
            number = round(arrival.device_time - outcome.first_epoch)
            if terminal is None or not 0 <= number < len(outcome.result.times[terminal]):
                continue
            sent = outcome.result.times[terminal][number]
            if sent < outcome.baseline.began or (terminal, number) in seen:
                continue
            seen.add((terminal, number))
            own = sessions[terminal]
            session = own[max(0, bisect_right([each.began for each in own], sent) - 1)]
            found[session.server == server].append(arrival.instant - sent)
    return {own: sorted(delays) for own, delays in found.items()}


def _command_waits(outcome: DrillOutcome) -> dict[bool, list[float]]:
    """Return how long commands took to devices at the server that was asked, and at the other one, sorted."""
    received = {each.text: each for each in outcome.result.texts}
    waits: dict[bool, list[float]] = {True: [], False: []}
    for each in outcome.requested:
        at = received.get(each.text)
        if at is not None and outcome.baseline.began <= each.invoked < outcome.baseline.ended:
            waits[at.server == each.place].append(at.instant - each.invoked)
    return {own: sorted(found) for own, found in waits.items()}


def _report_take_over(summary: Summary, name: str, outcome: DrillOutcome) -> None:
    """Report how long it took until others had what a killed server had, where they were well themselves."""
    alone = [fault for fault in outcome.faults if fault.name == KILL and _is_alone(fault, outcome.faults)]
    kills = [fault for fault in alone if fault.place not in outcome.machines]
    _report_kills(summary, name, outcome, kills, "", TAKE_OVER_SECONDS)
    supervised = [fault for fault in alone if fault.place in outcome.machines]
    _report_kills(summary, name, outcome, supervised, " of a process of a machine", SAME_MACHINE_SECONDS)
    streams = [wait for fault in kills for wait in stream_waits(outcome, fault)]
    _add_waits(summary, name, "return of a camera", (returned for returned, _ in streams))
    resumed = [resumed - returned for returned, resumed in streams]
    _add_waits(summary, name, "next segment after its return", resumed, (Goal(RESUME_SECONDS),))
    _add_waits(summary, name, "take-over of a stream", (resumed for _, resumed in streams))
    late = (run.noted - run.due for run in outcome.runs if any(_is_away(fault, run.due) for fault in kills))
    _add_waits(summary, name, "edges late", late, (Goal(TAKE_OVER_SECONDS),))


def _report_kills(
    summary: Summary, name: str, outcome: DrillOutcome, kills: Sequence[Fault], whose: str, limit: float
) -> None:
    """Report how long it took until devices and duties of killed servers were taken."""
    devices = (wait for fault in kills for wait in device_waits(outcome, fault))
    _add_waits(summary, name, f"take-over of a device{whose}", devices, (Goal(limit),))
    duties = (wait for fault in kills for wait in duty_waits(outcome, fault))
    _add_waits(summary, name, f"take-over of a duty{whose}", duties, (Goal(limit),))


def _add_waits(
    summary: Summary, name: str, metric: str, waits: Iterable[float], goals: tuple[Goal, ...] = ()
) -> None:
    ordered = sorted(waits)
    if ordered:
        summary.add(name, f"{metric}, p50", percentile_ms(ordered, 0.5) / 1000, "s")
        summary.add(name, f"{metric}, worst", percentile_ms(ordered, 1.0) / 1000, "s", goals=goals)


def _is_alone(fault: Fault, faults: Iterable[Fault]) -> bool:
    """Return whether no other fault was shortly before, or while what the fault took away was taken over."""
    first, last = fault.began - TAKE_OVER_SECONDS, fault.began + TAKE_OVER_SECONDS
    return not any(other.began < last and other.ended > first for other in faults if other is not fault)


def _is_away(fault: Fault, instant: float) -> bool:
    """Return whether an edge waits at this instant for the duty of a killed server to be taken."""
    return fault.began <= instant < fault.began + TAKE_OVER_SECONDS


def device_waits(outcome: DrillOutcome, fault: Fault) -> list[float]:
    """Return how many seconds after a kill each device of that server had a position acknowledged.

    Of one that never had, until the end of the load.
    """
    waits = []
    end = max((each.noted for each in outcome.runs), default=fault.ended)
    for own in _by_terminal(outcome.result.sessions).values():
        if _was_there(own, fault) and (fault.place not in outcome.machines or _has_lost_it(own, fault)):
            after = [each.acknowledged for each in own if each.began > fault.began and each.acknowledged]
            waits.append((after[0] if after else max(end, fault.ended)) - fault.began)
    return waits


def duty_waits(outcome: DrillOutcome, fault: Fault) -> list[float]:
    """Return how long after a kill each duty of that server was taken by another one, in seconds."""
    waits = []
    for duty in {each.duty for each in outcome.taken}:
        own = [each for each in outcome.taken if each.duty == duty]
        before = [each for each in own if each.instant < fault.began]
        after = [each for each in own if each.instant >= fault.began]
        if before and before[-1].server == fault.server:
            waits.append((after[0].instant if after else fault.ended) - fault.began)
    return waits


def stream_waits(outcome: DrillOutcome, fault: Fault) -> list[tuple[float, float]]:
    """Return how long after a kill each camera of that server was back, and then its stream at the other one.

    A stream is back with the first segment, of a higher number than all before, that a viewer at the other
    server got. A camera or a stream that did not come back counts to the end of the history.
    """
    if outcome.cameras is None:
        return []
    waits = []
    end = max((each.instant for each in outcome.history.segments), default=fault.ended)
    for place, own in _by_terminal(outcome.cameras.sessions).items():
        if not _was_there(own, fault):
            continue
        stream = f"{outcome.filmed[place]}/1"
        listed = [each for each in outcome.history.segments if each.stream == stream]
        last = max((each.index for each in listed if each.instant <= fault.began), default=-1)
        returned = next((each.began for each in own if each.began > fault.began), end)
        elsewhere = (
            each for each in listed if each.server != outcome.names[fault.place] and each.index > last
        )
        resumed = min((each.instant for each in elsewhere if each.instant > returned), default=end)
        waits.append((returned - fault.began, max(returned, resumed) - fault.began))
    return waits


def _was_there(sessions: Sequence[TerminalSession], fault: Fault) -> bool:
    """Return whether a terminal was connected to the server when the fault began."""
    before = [each for each in sessions if each.began < fault.began]
    return bool(before) and before[-1].server == fault.place and before[-1].ended >= fault.began


def _has_lost_it(sessions: Sequence[TerminalSession], fault: Fault) -> bool:
    """Return whether a terminal's connection ended with the fault: it was to that process of a machine."""
    return any(fault.began <= each.ended < fault.began + NOTICE_SECONDS for each in sessions)


def _by_terminal(sessions: Iterable[TerminalSession]) -> dict[int, list[TerminalSession]]:
    found: dict[int, list[TerminalSession]] = defaultdict(list)
    for session in sessions:
        found[session.terminal].append(session)
    return found
