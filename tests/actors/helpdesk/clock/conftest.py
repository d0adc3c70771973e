from datetime import timedelta

import pytest
from tests.actors.helpdesk.clock.world import World
from tests.runtime.actor_testing import Probe

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX
from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.recalculations import TicketRecalculations
from motorpool.actors.helpdesk.ticket_clock import TicketClock
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.changes import ApplyChanges
from motorpool.actors.messages.tickets import (
    TICKET_CAPTURES,
    TICKET_CLOCK,
    TICKET_PICTURES,
    TICKET_RECALCULATIONS,
    WEBHOOK_SENDER,
)
from motorpool.runtime import ChildSpec

NEIGHBOURS = (OUTBOX, WEBHOOK_SENDER, TICKET_RECALCULATIONS, TICKET_CLOCK, TICKET_PICTURES, TICKET_CAPTURES)


@pytest.fixture
def tree(tree):
    """`tree` with actors in the places around those under test, which record what they are sent."""

    def running(*specs):
        given = {spec.kind.name for spec in specs}
        probes = [
            ChildSpec(kind=kind, factory=lambda: Probe({ApplyChanges: None}))
            for kind in NEIGHBOURS
            if kind.name not in given
        ]
        return tree(*probes, *specs)

    return running


@pytest.fixture
async def world(database):
    """A company with one status of each kind, and a webhook."""
    made = World(database)
    await made.make_company()
    return made


def batches():
    return TicketBatches(BusinessCalendars(timedelta(days=1830)), TicketMails(OutgoingServices().mail))


@pytest.fixture
def clock_spec(database):
    """`clock_spec(other_database)`: the ticket clock of a server."""
    return lambda of=database: ChildSpec(kind=TICKET_CLOCK, factory=lambda: TicketClock(of, batches()))


@pytest.fixture
def recalculations_spec(database):
    """`recalculations_spec(other_database)`: the recalculations of a server."""
    return lambda of=database: ChildSpec(
        kind=TICKET_RECALCULATIONS, factory=lambda: TicketRecalculations(of, batches())
    )
