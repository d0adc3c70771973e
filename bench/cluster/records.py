"""What the tables say afterwards: triggers note the versions of rows that are overwritten."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from motorpool.bench.checks.server_history import Edge, Reported, Version
from motorpool.bench.cluster.pair import Pair
from motorpool.bench.load.plan import RoamerResult

__all__ = ["DAY_SECONDS", "EdgeRun", "edge_runs", "edges", "note_versions", "reported", "versions"]

DAY_SECONDS = 86_400
_NOTE = """
    create table bench_versions (
        number bigint generated always as identity,
        key text not null, epoch bigint not null, owner bigint not null
    );
    create function bench_note_version() returns trigger language plpgsql as $$
    declare
        found jsonb := to_jsonb(new);
    begin
        insert into bench_versions (key, epoch, owner)
        values (tg_argv[0] || ' ' || (found ->> tg_argv[1]), new.epoch, coalesce(new.node, 0));
        return null;
    end
    $$;
    create trigger bench_note_homes after insert or update on homes
        for each row execute function bench_note_version('home', 'device_id');
    create table bench_runs (
        schedule bigint not null, device bigint not null, phase text not null, due timestamptz not null,
        noted timestamptz not null default clock_timestamp()
    );
    create function bench_note_run() returns trigger language plpgsql as $$
    begin
        insert into bench_runs (schedule, device, phase, due)
        values (new.scheduled_command_id, new.device_id, new.phase, new.time);
        return null;
    end
    $$;
    create trigger bench_note_runs after insert on scheduled_command_runs
        for each row when (new.step = 0) execute function bench_note_run();
    do $$
    begin
        if to_regclass('duties') is not null then
            create trigger bench_note_duties after insert or update on duties
                for each row execute function bench_note_version('duty', 'name');
        end if;
    end
    $$;
"""


class EdgeRun(msgspec.Struct, frozen=True):
    """The first run record of an edge for one device; times in seconds since 1970."""

    schedule: int
    device: int
    phase: str
    due: float
    noted: float
    """When it was inserted."""


async def note_versions(pair: Pair) -> None:
    """Note every version of the rows that say who owns what from now on."""
    await pair.rows(_NOTE)


async def versions(pair: Pair) -> list[Version]:
    """Return them; a row is locked while it is changed, so their numbers are in the order of commits."""
    rows = await pair.rows("select key, epoch, owner, number from bench_versions")
    return [Version(row[0], int(row[1]), int(row[2]), float(row[3])) for row in rows]


async def edge_runs(pair: Pair) -> list[EdgeRun]:
    """Return the first run record of each edge and device, the earliest first."""
    rows = await pair.rows(
        "select schedule, device, phase, extract(epoch from due), extract(epoch from noted)"
        " from bench_runs order by noted"
    )
    return [EdgeRun(int(row[0]), int(row[1]), row[2], float(row[3]), float(row[4])) for row in rows]


def edges(
    runs: Sequence[EdgeRun], targets: Sequence[tuple[int, int]], due: Mapping[str, Sequence[float]]
) -> list[Edge]:
    """Return the edges that were due, by phase, of each schedule and device, with their runs."""
    counts = Counter((run.schedule, run.device, run.phase, run.due) for run in runs)
    return [
        Edge(f"schedule {schedule}, device {device}, {phase}", at, counts[schedule, device, phase, at])
        for schedule, device in targets
        for phase, instants in due.items()
        for at in instants
    ]


async def reported(
    pair: Pair, phones: Sequence[str], result: RoamerResult, first_epoch: float
) -> list[Reported]:
    """Return what became of the positions of each terminal; their times begin a day before the drill.

    Those that the server makes of answers to commands have the present time.
    """
    rows = await pair.rows(
        "select unique_id, string_agg((extract(epoch from device_time)::bigint)::text, ',')"  # noqa: S608 - a number
        " from devices join positions on device_id = devices.id"
        f" where device_time < to_timestamp({first_epoch + DAY_SECONDS / 2}) group by unique_id"
    )
    stored = {row[0]: tuple(int(word) - round(first_epoch) for word in row[1].split(",")) for row in rows}
    found = []
    for phone, sent, unanswered in zip(phones, result.sent, result.unanswered, strict=True):
        unknown = frozenset(unanswered)
        found.append(Reported(phone, frozenset(range(sent)) - unknown, unknown, stored.get(phone, ())))
    return found
