import random
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.actors.devices.position_writer import POSITION_WRITER, Append
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.geofence_index import GeofenceIndex, index_geofence
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.api.main import main
from motorpool.api.program.errors import StartFailed
from motorpool.api.program.replay_command import Span, replay_rules, replay_span
from motorpool.api.settings import Settings
from motorpool.codecs.reports import PositionReport
from motorpool.storage.devices import devices
from motorpool.storage.events import events
from motorpool.storage.records import Device, Geofence

START = datetime(2026, 4, 28, tzinfo=UTC)
HOUR = timedelta(hours=1)
YARD = index_geofence(Geofence(id=1, name="Yard", area="CIRCLE (52.5 13.4, 3000)"))
RULES = DeviceRules(settings=RuleSettings(speed_limit=60.0), geofences=GeofenceIndex([YARD]))


def reports(seed):
    """Four days of a vehicle that drives and parks; some reports are missing, late, or from elsewhere."""
    chance = random.Random(seed)
    now, latitude, driven, found = START, 52.5, 0.0, []
    while now < START + 4 * 24 * HOUR:
        moves = chance.random() < 0.5
        for _ in range(chance.randint(2, 40)):
            now += timedelta(seconds=chance.choice([30, 60, 60, 300]))
            speed = chance.uniform(20, 70) if moves else 0.0
            latitude += (0.004 if moves else 0.0) * chance.choice([1, 1, -1])
            driven += speed
            elsewhere = 0.7 if chance.random() < 0.03 else 0.0
            attributes = {"ignition": moves, "driverUniqueId": chance.choice(["a", "a", "a", "b"])}
            if chance.random() < 0.05:
                attributes["alarm"] = "sos"
            found.append(
                PositionReport(
                    attributes,
                    device_time=now,
                    fix_time=now,
                    valid=True,
                    latitude=latitude + elsewhere,
                    longitude=13.4,
                    speed=speed,
                )
            )
        now += chance.choice([0, 1, 7]) * HOUR
    for _ in range(20):
        place = chance.randrange(len(found) - 5)
        found.insert(place + chance.randint(1, 4), found.pop(place))
    return found


async def drive(served, device_id, seed):
    """Store the reports with their events, as the device's actor does."""
    state, count = FoldState(), 0
    async with served.context.system.topic(POSITIONS).subscribe() as subscription:
        for report in reports(seed):
            context = FoldContext(device_id, "jt808", server_time=report.fix_time, rules=RULES)
            result = fold(report, state, context)
            state = result.state
            await served.context.system.ref(POSITION_WRITER).tell(
                Append(
                    result.position, events=result.events, point=result.point, dated_back=result.dated_back
                )
            )
            count += 1
        while count:
            count -= sum(len(batch) for batch in await subscription.receive_batch())


@pytest.mark.parametrize("seed", [1, 2])
async def test_stored_positions_make_the_events_that_are_stored(served, seed):
    database = served.context.database
    device = await devices.TABLE.insert(database, Device(name="Bus", unique_id="1"))
    await drive(served, device.id, seed)
    stored = await events.between(database, [device.id], START, START + 99 * HOUR)
    assert {"deviceMoving", "deviceStopped", "deviceOverspeed", "geofenceExit", "alarm"} <= {
        each.type for each in stored
    }
    prepare = RuleCache(database).prepare
    for first, last in ((0, 99), (30, 40), (47.5, 60), (71, 71.5), (200, 300)):
        differences = await replay_span(
            database, device, RULES, START + first * HOUR, START + last * HOUR, prepare
        )
        assert (differences.added, differences.missing) == ([], [])
    assert differences.positions == 0
    slower = msgspec.structs.replace(RULES, settings=RuleSettings(speed_limit=30.0))
    differences = await replay_span(database, device, slower, START, START + 99 * HOUR, prepare)
    assert {each.type for each in differences.added} == {"deviceOverspeed"}
    assert {each.type for each in differences.missing} <= {"deviceOverspeed"}
    without = msgspec.structs.replace(RULES, settings=RuleSettings())
    differences = await replay_span(database, device, without, START, START + 99 * HOUR, prepare)
    assert differences.added == []
    assert {each.type for each in differences.missing} == {"deviceOverspeed"}
    assert next(differences.lines()).startswith("- 2026-04-2")


async def test_nothing_is_made_of_a_device_without_positions(database, database_url, tmp_path):
    await devices.TABLE.insert(database, Device(name="Bus", unique_id="b-1"))
    settings = Settings(data=tmp_path, database=database_url)
    for name in ("b-1", "1"):
        differences = await replay_rules(settings, Span(name, START, START + HOUR))
        assert list(differences.lines()) == [
            "Bus (b-1): 0 positions, 0 events; 0 would be new, 0 would not be made"
        ]
    with pytest.raises(StartFailed, match="there is no device b-2"):
        await replay_rules(settings, Span("b-2", START, START + HOUR))


@pytest.mark.parametrize("time", ["yesterday", "2026-05-01T12:00:00"])
def test_times_need_a_zone(capsys, time):
    with pytest.raises(SystemExit) as ended:
        main(["replay-rules", "--device", "1", "--from", time, "--to", "2026-05-01T12:00:00Z"])
    assert ended.value.code == 2
    assert "2026-05-01T12:00:00Z" in capsys.readouterr().err
