"""The newest events of devices."""

import random
from datetime import UTC, datetime, timedelta

from motorpool.storage.events import events
from motorpool.storage.events.event_lists import FEW_DEVICES, newest
from motorpool.storage.records import Event, Review

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def test_pages_hold_what_a_slow_model_finds_in_its_order(database):
    chance = random.Random(7)
    devices = range(1, FEW_DEVICES + 30)
    stored = [
        Event(
            id=number,
            type=chance.choice(("alarm", "media", "geofenceEnter", "maintenance")),
            # Often at the same instant, and some days in which nothing happens.
            event_time=NOON - timedelta(minutes=chance.choice((0, 1, 59, 60, 61, 240, 300, 9000, 9001))),
            device_id=chance.choice(devices),
            geofence_id=chance.choice((0, 0, 4, 5)),
            maintenance_id=chance.choice((0, 0, 0, 6)),
            attributes={"alarm": chance.choice(("sos", "door"))},
            severity=chance.choice(("CRITICAL", "WARNING")),
            review=chance.choice((None, Review(), Review("DISMISSED"))),
        )
        for number in chance.sample(range(1, 1000), 400)
    ]
    await events.insert_many(database, stored)

    for _ in range(120):
        of = chance.sample(devices, chance.choice((1, 3, FEW_DEVICES, FEW_DEVICES + 20)))
        start, end = sorted(NOON - timedelta(minutes=chance.choice((0, 60, 90, 240, 20000))) for _ in "ab")
        types = chance.choice(((), ("alarm",), ("media", "alarm")))
        alarms = chance.choice(((), ("sos",)))
        severities = chance.choice(((), ("WARNING",)))
        states = chance.choice(((), ("OPEN",), ("OPEN", "DISMISSED")))
        now = NOON - timedelta(minutes=chance.choice((-60, 0, 30, 20001)))
        visible = chance.choice((None, (frozenset({4}), frozenset())))
        expected = sorted(
            (
                each
                for each in stored
                if each.device_id in of
                and start <= each.event_time <= end
                and (not types or each.type in types)
                and (not alarms or each.type != "alarm" or each.attributes["alarm"] in alarms)
                and (not severities or each.severity in severities)
                and (not states or (each.review and each.review.state in states))
                and (visible is None or (each.geofence_id in {0, 4} and each.maintenance_id == 0))
            ),
            key=lambda each: (each.event_time, each.id),
            reverse=True,
        )
        found, limit = [], chance.choice((1, 7, 500))
        page = {"end": end}
        while len(found) <= len(expected):
            part = await newest(
                database,
                of,
                start,
                now=now,
                limit=limit,
                types=types,
                alarms=alarms,
                severities=severities,
                states=states,
                visible=visible,
                **page,
            )
            found += part
            if len(part) < limit:
                break
            page = {"end": part[-1].event_time, "before_id": part[-1].id}
        assert found == expected
