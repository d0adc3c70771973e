"""Pauses tickets whose vehicle is outside of its zone (docs/service-levels.md#outside-of-the-zone,
docs/decisions/0224).

Every half minute the tickets that this concerns are compared with the stored positions of their devices, so
that nothing is asked of positions as they arrive, and a restart or another server finds the same.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, Never

import trio

from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.facts import SYSTEM, Author, Outcome, TicketFacts
from motorpool.actors.helpdesk.settle import settle_first
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.helpdesk.zone_pause import MAX_FIX_AGE, is_outside, set_outside
from motorpool.actors.rules.geofence_index import IndexedGeofence, index_geofence
from motorpool.actors.work.polling import PollingActor
from motorpool.storage import plain_tables
from motorpool.storage.database.database import Database
from motorpool.storage.helpdesk import zone_pauses
from motorpool.storage.helpdesk.zone_pauses import Fix, ZoneTicket

POLL_SECONDS = 30.0
BATCH = 200
"""Tickets that are compared at once, and changed in one transaction."""
TICKETS_AT_A_TIME = 20
"""Tickets that are compared without a pause for other tasks: a fix near a geofence with many points may take
a millisecond."""


class _Zone(NamedTuple):
    version: int
    geofence: IndexedGeofence | None
    """None: its area is not valid."""


class ZoneFollower(PollingActor[Never]):
    """Compares all tickets, then sleeps."""

    FAILURE = "zones of tickets are not looked at yet"

    def __init__(self, database: Database, batches: TicketBatches) -> None:
        super().__init__()
        self._database = database
        self._batches = batches
        self._zones: dict[int, _Zone] = {}
        """Zones used in the present pass or the one before."""

    async def look(self) -> float:
        """Compare all tickets."""
        after_id, found, used = 0, BATCH, set[int]()
        while found == BATCH:
            tickets = await zone_pauses.tickets(self._database, after_id=after_id, limit=BATCH)
            if tickets:
                await self._compare(tickets)
                after_id = tickets[-1].id
            found = len(tickets)
            used |= {ticket.geofence_id for ticket in tickets}
        self._zones = {number: zone for number, zone in self._zones.items() if number in used}
        return POLL_SECONDS

    async def _compare(self, tickets: Sequence[ZoneTicket]) -> None:
        """Pause those whose vehicle has left its zone; end the pause of those whose vehicle has not."""
        now = self.context.clock.now()
        zones = await self._read_zones({ticket.geofence_id for ticket in tickets if ticket.geofence_id})
        since: dict[int, datetime] = {}
        for ticket in tickets:
            if ticket.geofence_id in zones:
                start = (ticket.paused_since or now) - MAX_FIX_AGE
                since[ticket.device_id] = min(start, since.get(ticket.device_id, start))
        fixes = await zone_pauses.latest_fixes(self._database, since) if since else {}
        moved: dict[int, ZoneTicket] = {}
        for number, ticket in enumerate(tickets, start=1):
            was_outside = ticket.paused_since is not None
            zone = zones.get(ticket.geofence_id)
            outside = False
            if zone is not None:
                contains = partial(_contains, zone)
                outside = is_outside(fixes[ticket.device_id], contains, now, was_outside=was_outside)
            if outside != was_outside:
                moved[ticket.id] = ticket
            if number % TICKETS_AT_A_TIME == 0:
                await trio.lowlevel.checkpoint()
        if moved:
            await self._move(moved)

    async def _read_zones(self, geofence_ids: set[int]) -> dict[int, IndexedGeofence]:
        versions = await zone_pauses.geofence_versions(self._database, geofence_ids) if geofence_ids else {}
        changed = [
            number
            for number, version in versions.items()
            if number not in self._zones or self._zones[number].version != version
        ]
        for number in changed:
            # One at a time: areas may be long.
            row = await plain_tables.GEOFENCES.fetch_versioned(self._database, number)
            if row is not None:
                geofence = await trio.to_thread.run_sync(index_geofence, row.record)
                self._zones[number] = _Zone(row.version, geofence)
        known = {number: self._zones[number].geofence for number in versions if number in self._zones}
        return {number: geofence for number, geofence in known.items() if geofence is not None}

    async def _move(self, moved: Mapping[int, ZoneTicket]) -> None:
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            outcome = await self._batches.decide(transaction, sorted(moved), partial(_follow, moved), now=now)
        for ticket_id, error in outcome.failed.items():
            self.context.log.error("ticket %d cannot be paused or resumed", ticket_id, exc_info=error)
        await announce(self.context.system, outcome.changes)


def _contains(zone: IndexedGeofence, fix: Fix) -> bool:
    return zone.contains(fix.latitude, fix.longitude, fix.altitude)


def _follow(seen: Mapping[int, ZoneTicket], facts: TicketFacts, now: datetime) -> Outcome:
    """Pause a ticket, or end its pause, unless it has been changed since it was compared."""
    ticket, compared = facts.ticket, seen[facts.ticket.id]
    if (ticket.device_id, ticket.category_id, ticket.branch_id) != compared[1:4]:
        return Draft(facts, SYSTEM, now).finish()
    return follow_zone(facts, SYSTEM, now, is_outside=compared.paused_since is None)


def follow_zone(facts: TicketFacts, author: Author, now: datetime, *, is_outside: bool) -> Outcome:
    """Return the ticket paused, or with its pause ended; it has no entries if nothing changes."""
    draft = Draft(facts, author, now)
    settle_first(draft)
    set_outside(draft, is_outside=is_outside)
    return draft.finish()
