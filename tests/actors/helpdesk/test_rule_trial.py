"""What a ticket rule would have made of events."""

from datetime import UTC, datetime, timedelta

from motorpool.actors.helpdesk.rule_trial import try_rule
from motorpool.actors.helpdesk.ticket_rules import RuleCondition, TicketRule
from motorpool.storage.records import Event, Maintenance

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
VAN, TRUCK = 1, 2


def alarm(number, minutes, device_id=VAN, word="sos"):
    return Event(
        id=number,
        type="alarm",
        event_time=NOON + timedelta(minutes=minutes),
        device_id=device_id,
        attributes={"alarm": word},
    )


def rule(**fields):
    return TicketRule(name="SOS", when=RuleCondition(event_types=("alarm",), alarms=("sos",)), **fields)


def tried(tested, events, *, groups=None, is_open=lambda _: True):
    found = try_rule(tested, events, groups or {}, {}, is_open)
    return found.events, [(each.event.id, each.events) for each in found.tickets], found.muted


def test_events_join_a_ticket_until_a_time_after_the_last_one():
    events = [
        alarm(1, 0),
        alarm(2, 50),
        alarm(3, 55, TRUCK),
        alarm(4, 109),
        alarm(5, 169),
        alarm(6, 170, word="low"),
    ]
    assert tried(rule(dedupe_minutes=60), events) == (5, [(1, 3), (3, 1), (5, 1)], 0)
    assert tried(rule(dedupe_minutes=0), events)[1] == [(number, 1) for number in range(1, 6)]


def test_no_more_than_some_are_opened_in_an_hour_that_begins_with_the_first():
    events = [alarm(number, 10 * number) for number in range(1, 9)]
    # From 12:10 to 13:10 there is room for two.
    assert tried(rule(dedupe_minutes=0, max_per_hour=2), events) == (8, [(1, 1), (2, 1), (7, 1), (8, 1)], 4)


def test_a_calendar_and_groups_restrict_it():
    events = [alarm(1, 0), alarm(2, 60, TRUCK)]
    assert tried(rule(), events, is_open=lambda at: at > NOON) == (1, [(2, 1)], 0)
    of_group = TicketRule(name="x", when=RuleCondition(event_types=("alarm",), group_ids=(7,)))
    assert tried(of_group, events, groups={VAN: (3, 7), TRUCK: (3,)}) == (1, [(1, 1)], 0)


def test_maintenance_has_one_ticket_for_each_period():
    row = Maintenance(id=4, name="Oil", type="odometer", start=0, period=1000)
    events = [
        Event(
            id=number,
            type="maintenance",
            event_time=NOON + timedelta(days=number),
            device_id=VAN,
            maintenance_id=4,
            attributes={"odometer": value},
        )
        for number, value in ((1, 1000), (2, 1900), (3, 2100))
    ]
    found = try_rule(
        TicketRule(name="x", when=RuleCondition(event_types=("maintenance",))),
        events,
        {},
        {4: row},
        lambda _: True,
    )
    assert [(each.event.id, each.events) for each in found.tickets] == [(1, 2), (3, 1)]
