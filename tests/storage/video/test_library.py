"""Captures, files of devices and stills as one list."""

import random
from datetime import UTC, datetime, timedelta

from motorpool.storage.events import events
from motorpool.storage.records import Event
from motorpool.storage.video.library import FEW_DEVICES, newest

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DEVICES = range(1, FEW_DEVICES + 30)
MEDIA = {"image": "photo", "video": "film", "audio": "sound", "other": "file"}


async def test_pages_hold_what_a_slow_model_finds_in_its_order(database):
    chance = random.Random(11)
    await database.execute(
        "insert into devices (id, unique_id) overriding system value select n, 'v' || n"
        " from generate_series(1, $1) as n",
        DEVICES[-1],
    )

    def instant():
        # Some at the same instant, some after days, and years, in which nothing happens.
        return NOON - timedelta(minutes=chance.choice((0, 1, 1439, 1440, 1441, 9000, 2_000_000)))

    def device():
        # Many have nothing that is old.
        return chance.choice(DEVICES) if chance.random() < 0.3 else chance.choice(DEVICES[:9])

    stored = []
    for number in range(1, 301):
        time, of, kind = instant(), device(), chance.choice(tuple(MEDIA))
        named = chance.random() < 0.8
        attributes = {"media": kind, "file": f"e{number}"} if named else {"media": kind}
        await events.insert_many(
            database,
            [Event(id=number, type="media", event_time=time, device_id=of, attributes=attributes)],
        )
        if named:
            stored.append((time, 0, number, of, MEDIA[kind], f"e{number}"))
    for number in range(1, 101):
        time, of, status = instant(), device(), chance.choice(("COMPLETE", "FAILED"))
        await database.execute(
            "insert into captures (id, number, device_id, channel, live, file_name, started_at, status, node)"
            " overriding system value values ($1, $2, $3, 1, false, $1, $4, $5, 1)",
            f"c{number}",
            number,
            of,
            time,
            status,
        )
        if status == "COMPLETE":
            stored.append((time, 1, number, of, "capture", f"c{number}"))
    for number in range(1, 101):
        time, of = instant(), device()
        await database.execute(
            "insert into stills (id, name, device_id, channel, time)"
            " overriding system value values ($1, $2, $3, 1, $4)",
            number,
            f"s{number}",
            of,
            time,
        )
        stored.append((time, 2, number, of, "still", f"s{number}"))

    for _ in range(80):
        wanted = chance.sample(DEVICES, chance.choice((1, FEW_DEVICES, FEW_DEVICES + 20)))
        start, end = sorted(
            NOON - timedelta(minutes=chance.choice((-1, 0, 1440, 9000, 3_000_000))) for _ in "ab"
        )
        kinds = chance.choice((("capture",), ("photo", "still"), ("sound",), ("capture", *MEDIA.values())))
        expected = sorted(
            (each for each in stored if each[3] in wanted and start <= each[0] <= end and each[4] in kinds),
            key=lambda each: each[:3],
            reverse=True,
        )
        found, after, limit = [], None, chance.choice((1, 7, 200))
        while len(found) <= len(expected):
            page = await newest(database, wanted, start, end, limit=limit, after=after, kinds=kinds)
            found += page
            if len(page) < limit:
                break
            after = page[-1].place
        assert [each.file_name for each in found] == [each[5] for each in expected]
