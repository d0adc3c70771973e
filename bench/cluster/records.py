"""History from the tables: triggers record overwritten versions of rows, and the server that decided."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from motorpool.bench.checks.server_history import Decision, Edge, Reported, Version
from motorpool.bench.cluster.cluster import Cluster
from motorpool.bench.cluster.noting import NOTE_OWNERS
from motorpool.bench.load.plan import RoamerResult

DAY_SECONDS = 86_400
DECLARED_SECONDS = 12.0
"""A server that is declared dead may have done nothing for so long."""
STARTING_SECONDS = 45.0
"""From the row of a server that starts until it answers, and settles."""
# Each server has a user of its own, so that the triggers know whose transaction it is. An edge is decided
# under the last epoch that its server had, and numbered at the commit, while the lock of the fence is held.
# The processes of a machine are one user, so of these it is the last epoch that any of them had.
_NOTE_EDGES = """
    create index history_versions_key on history_versions (key);
    insert into history_versions
        select nextval('history_order'), 'duty ' || name, epoch, coalesce(node, 0) from duties;
    create table bench_servers (role text not null, address text primary key, processes int not null);
    create table bench_runs (
        schedule bigint not null, device bigint not null, phase text not null, due timestamptz not null,
        noted timestamptz not null default clock_timestamp()
    );
    create function bench_note_run() returns trigger language plpgsql as $$
    declare
        servers bigint[] := (
            select array_agg(nodes.id) from nodes join bench_servers using (address)
            where role = session_user and (processes > 1 or nodes.id = (
                select max(id) from nodes last where last.address = nodes.address)));
        decided bigint := (
            select max(epoch) from history_versions where key = 'duty schedule' and owner = any (servers));
        server bigint := (
            select owner from history_versions where key = 'duty schedule' and epoch = decided
            and owner = any (servers) limit 1);
    begin
        insert into bench_runs (schedule, device, phase, due)
        values (new.scheduled_command_id, new.device_id, new.phase, new.time);
        insert into history_decisions values (
            nextval('history_order'), 'duty schedule', coalesce(decided, 0),
            'server ' || coalesce(server, 0) || ', ' || new.phase || ' of ' || new.scheduled_command_id
                || ' at ' || new.time
        );
        return null;
    end
    $$;
    create constraint trigger bench_note_runs after insert on scheduled_command_runs
        deferrable initially deferred for each row
        when (new.step = 0 and new.phase <> 'manual') execute function bench_note_run();
"""


class EdgeRun(msgspec.Struct, frozen=True):
    """The first run record of an edge for one device; times in seconds since 1970."""

    schedule: int
    device: int
    phase: str
    due: float
    noted: float
    """When it was inserted."""


class Absence(msgspec.Struct, frozen=True):
    """A time without a server: others have declared it dead, and it has started again."""

    place: int
    died: float
    """When it was declared dead, in seconds since 1970."""
    ended: float
    """When it answered again at the latest."""

    @property
    def began(self) -> float:
        """When it did its last at the earliest."""
        return self.died - DECLARED_SECONDS


class DutyTaken(msgspec.Struct, frozen=True):
    """That a server has taken a duty."""

    duty: str
    server: int
    instant: float
    """Seconds since 1970."""


async def note(cluster: Cluster) -> None:
    """Note from now on who owns what, and who decides."""
    await cluster.rows(NOTE_OWNERS + _NOTE_EDGES)
    for place in cluster.places:
        for address in place.addresses:
            row = f"'{place.role}', '{address}', {place.processes}"
            await cluster.rows(f"insert into bench_servers values ({row})")  # noqa: S608 - the bench's own


async def versions(cluster: Cluster) -> list[Version]:
    """Return the versions of the rows that say who owns what."""
    rows = await cluster.rows("select key, epoch, owner, number from history_versions")
    return [Version(row[0], int(row[1]), int(row[2]), float(row[3])) for row in rows]


async def decisions(cluster: Cluster) -> list[Decision]:
    """Return what only an owner may decide."""
    rows = await cluster.rows("select key, epoch, number, what from history_decisions")
    return [Decision(row[0], int(row[1]), float(row[2]), row[3]) for row in rows]


async def duties_taken(cluster: Cluster) -> list[DutyTaken]:
    """Return when duties were taken, the earliest first."""
    rows = await cluster.rows(
        "select substr(key, 6), owner, extract(epoch from noted) from history_versions"
        " where key like 'duty %' and owner <> 0 order by number"
    )
    return [DutyTaken(row[0], int(row[1]), float(row[2])) for row in rows]


async def absences(cluster: Cluster) -> list[Absence]:
    """Return when servers were declared dead, whatever for, until they had time to start again."""
    rows = await cluster.rows(
        "select address, extract(epoch from noted), extract(epoch from coalesce("
        " (select min(started) from nodes later where later.address = nodes.address and later.id > nodes.id),"
        " now())) from history_versions versions join nodes on versions.key = 'server ' || nodes.id"
        " where owner = 0"
    )
    places = {address: place for place, each in enumerate(cluster.places) for address in each.addresses}
    return [Absence(places[row[0]], float(row[1]), float(row[2]) + STARTING_SECONDS) for row in rows]


async def edge_runs(cluster: Cluster) -> list[EdgeRun]:
    """Return the first run record of each edge and device, the earliest first."""
    rows = await cluster.rows(
        "select schedule, device, phase, extract(epoch from due), extract(epoch from noted)"
        " from bench_runs order by noted"
    )
    return [EdgeRun(int(row[0]), int(row[1]), row[2], float(row[3]), float(row[4])) for row in rows]


def edges(
    runs: Sequence[EdgeRun], targets: Sequence[tuple[int, int]], due: Mapping[str, Sequence[float]]
) -> list[Edge]:
    """Return the edges of each schedule and device that were due, by phase, and those that have runs."""
    counts = Counter((run.schedule, run.device, run.phase, run.due) for run in runs)
    expected = {
        (schedule, device, phase, at)
        for schedule, device in targets
        for phase, instants in due.items()
        for at in instants
    }
    return [
        Edge(f"schedule {schedule}, device {device}, {phase}", at, counts[schedule, device, phase, at])
        for schedule, device, phase, at in sorted(expected | counts.keys())
    ]


async def reported(
    cluster: Cluster, phones: Sequence[str], result: RoamerResult, first_epoch: float, *, is_last: bool
) -> list[Reported]:
    """Return what became of the positions of each terminal; their times begin a day before the drill.

    Those that the server makes of answers to commands have the present time. Unless the result is the last
    one, the terminals have sent more since: that is left out.
    """
    rows = await cluster.rows(
        "select unique_id, string_agg((extract(epoch from device_time)::bigint)::text, ',')"  # noqa: S608 - a number
        " from devices join positions on device_id = devices.id"
        f" where device_time < to_timestamp({first_epoch + DAY_SECONDS / 2}) group by unique_id"
    )
    stored = {row[0]: [int(word) - round(first_epoch) for word in row[1].split(",")] for row in rows}
    found = []
    for phone, sent, unanswered in zip(phones, result.sent, result.unanswered, strict=True):
        unknown = frozenset(unanswered)
        own = tuple(number for number in stored.get(phone, ()) if is_last or number < sent)
        found.append(Reported(phone, frozenset(range(sent)) - unknown, unknown, own))
    return found
