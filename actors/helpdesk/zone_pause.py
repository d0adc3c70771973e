"""The pause of a ticket while its vehicle cannot be reached (docs/service-levels.md#outside-of-the-zone).

Pure, like the other rules of tickets.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.escalation import note_terms
from motorpool.actors.helpdesk.facts import LIVE_KINDS
from motorpool.storage.helpdesk.helpdesk_records import OUTSIDE_ZONE, TicketPause
from motorpool.storage.helpdesk.zone_pauses import Fix

MAX_FIX_AGE = timedelta(minutes=30)
"""An older fix does not begin a pause: nobody knows where the vehicle is."""
SETTLED = timedelta(minutes=3)
"""How long a single fix must have been the latest to count."""
MAX_ZONE_PAUSES = 200
"""Pauses of this kind that a ticket has at most: each change of a ticket reads all of its pauses."""


def is_outside(
    fixes: Sequence[Fix], contains: Callable[[Fix], bool], now: datetime, *, was_outside: bool
) -> bool:
    """Return whether a vehicle counts as outside of its zone.

    It enters and leaves by two valid fixes on the same side, or by one that has been the latest for three
    minutes, so that a vehicle on the border does not pause the ticket again and again.

    Args:
        fixes: the two latest valid ones, the latest first; fewer if there are no more.
        contains: whether a fix lies in the zone.
        now: the present.
        was_outside: whether the vehicle counted as outside before.
    """
    if not fixes:
        return was_outside
    outside = not contains(fixes[0])
    age = now - fixes[0].at
    if outside == was_outside or (outside and age > MAX_FIX_AGE):
        return was_outside
    is_confirmed = age >= SETTLED or (len(fixes) > 1 and contains(fixes[1]) is not outside)
    return outside if is_confirmed else was_outside


def set_outside(draft: Draft, *, is_outside: bool) -> None:
    """Begin or end the pause of a ticket that is worked on; nothing if that is as it was."""
    if is_outside:
        if not _may_begin(draft):
            return
        draft.pauses.append(TicketPause(draft.now, None, 0, OUTSIDE_ZONE))
        draft.enter("slaPaused", attributes={"reason": OUTSIDE_ZONE})
    elif not end_zone_pause(draft):
        return
    _, resolution = draft.clocks
    moved = service_levels.move(draft.resolution, resolution, draft.now)
    draft.resolution = note_terms(draft, "resolutionDue", draft.resolution, moved)


def _may_begin(draft: Draft) -> bool:
    held = [pause for pause in draft.pauses if pause.reason == OUTSIDE_ZONE]
    return (
        draft.ticket.status_kind in LIVE_KINDS
        and len(held) < MAX_ZONE_PAUSES
        and all(pause.ends is not None for pause in held)
    )


def end_zone_pause(draft: Draft) -> bool:
    """End the pause, and leave the clocks to the caller; return whether there was one."""
    for index, pause in enumerate(draft.pauses):
        if pause.ends is None and pause.reason == OUTSIDE_ZONE:
            draft.pauses[index] = msgspec.structs.replace(pause, ends=max(pause.begins, draft.now))
            draft.enter("slaResumed", attributes={"reason": OUTSIDE_ZONE})
            return True
    return False
