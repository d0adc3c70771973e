"""A step's turn: what it may send, or why it is skipped, by the rights that its owner has at that moment."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motorpool.storage.accounts import access, links, users
from motorpool.storage.database import nodes
from motorpool.storage.devices import command_log, commands, devices
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import (
    MAX_QUEUE_MINUTES,
    MISSED_AFTER,
    EdgeOccurrence,
    StartedStep,
)

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


class Case:
    """A fired step of an ordinary user who may send it."""

    def __init__(self, world, owner, device, command, schedule):
        self.world, self.owner, self.device, self.command = world, owner, device, command
        self.schedule = schedule
        self.database = world.database

    async def begin(self, now=NOW + MINUTE):
        (run,) = await self.world.runs()
        (begun,) = await edge_occurrences.start_steps(self.database, [run.id], now)
        return begun

    async def edit_owner(self, **fields):
        owner = await users.TABLE.fetch(self.database, self.owner.id)
        await users.TABLE.update(self.database, msgspec.structs.replace(owner, **fields))

    async def unlink(self, what):
        pair, of = {
            "device": (links.USER_DEVICE, self.device),
            "command": (links.USER_COMMAND, self.command),
        }[what]
        await links.remove_many(self.database, pair, [(self.owner.id, of.id)])


@pytest.fixture
async def case(world):
    owner, device, command = await world.user(), await world.device(), await world.command()
    await links.add(world.database, links.USER_DEVICE, owner.id, device.id)
    await links.add(world.database, links.USER_COMMAND, owner.id, command.id)
    schedule = await world.schedule(device, start=[(command, 0)], owner=owner)
    await world.fire(schedule, NOW + MINUTE)
    return Case(world, owner, device, command, schedule)


class TestReasons:
    async def test_an_owner_with_both_links_sends(self, case):
        begun = await case.begin()
        (run,) = await case.world.runs()
        ids = run.id, case.schedule.id, case.device.id
        (logged,) = await command_log.fetch(case.database, [begun.log_id])
        assert (logged.origin, logged.scheduled_command_id) == ("SCHEDULE", case.schedule.id)
        assert begun == StartedStep(
            *ids,
            "start",
            NOW + MINUTE,
            followed=False,
            type="custom",
            owner_id=case.owner.id,
            log_id=logged.id,
        )
        assert (run.status, run.reason, run.time) == ("sending", None, NOW + MINUTE)

    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            (lambda case: case.unlink("device"), "no_permission"),
            (lambda case: case.unlink("command"), "no_permission"),
            (lambda case: case.edit_owner(disabled=True), "no_permission"),
            (lambda case: case.edit_owner(disabled=True, administrator=True), "no_permission"),
            (lambda case: case.edit_owner(expiration_time=NOW + MINUTE + SECOND / 2), "no_permission"),
            (lambda case: case.edit_owner(expiration_time=NOW + MINUTE + SECOND), None),
            (lambda case: users.TABLE.delete(case.database, case.owner.id), "no_permission"),
            # Neither keeps anybody from sending by hand (docs/permissions.md#who-may-do-what).
            (lambda case: case.edit_owner(readonly=True, limit_commands=True, device_readonly=True), None),
            (lambda case: devices.TABLE.delete(case.database, case.device.id), "device_not_found"),
            (lambda case: commands.TABLE.delete(case.database, case.command.id), "command_not_found"),
        ],
        ids=[
            "device not linked",
            "command not linked",
            "disabled",
            "disabled administrator",
            "expired just now",
            "expires soon",
            "owner deleted",
            "readonly",
            "device deleted",
            "command deleted",
        ],
    )
    async def test_what_has_become_of_things_since_it_fired_decides(self, case, what, reason):
        await what(case)
        begun = await case.begin(NOW + MINUTE + SECOND / 2)
        (run,) = await case.world.runs()
        assert begun.reason == run.reason == reason
        assert run.status == ("skipped" if reason else "sending")
        assert run.time == (NOW + MINUTE + SECOND / 2 if reason else NOW + MINUTE)

    async def test_an_administrator_needs_no_links(self, case):
        await case.unlink("device")
        await case.unlink("command")
        await case.edit_owner(administrator=True)
        assert (await case.begin()).reason is None

    @pytest.mark.parametrize(("late", "reason"), [(MISSED_AFTER, None), (MISSED_AFTER + SECOND, "missed")])
    async def test_more_than_five_minutes_past_its_time_it_is_missed(self, case, late, reason):
        assert (await case.begin(NOW + MINUTE + late)).reason == reason

    async def test_the_first_reason_is_told(self, case):
        # Each is mended in turn, and the next one comes out.
        late = NOW + MINUTE + MISSED_AFTER + SECOND
        device, command = case.device, case.command
        await devices.TABLE.delete(case.database, device.id)
        await commands.TABLE.delete(case.database, command.id)
        await case.edit_owner(disabled=True)
        told = []
        for now, mended in (
            (late, None),
            (NOW + MINUTE, ("devices", device)),
            (NOW + MINUTE, ("commands", command)),
            (NOW + MINUTE, None),
        ):
            await case.world.put([run.id for run in await case.world.runs()], "pending", time=NOW + MINUTE)
            told.append((await case.begin(now)).reason)
            if mended is not None:
                table, row = mended
                column = ("unique_id", "d") if table == "devices" else ("type", "custom")
                await case.database.execute(
                    f"insert into {table} (id, {column[0]}) values ($1, $2)", row.id, column[1]
                )
        assert told == ["missed", "device_not_found", "command_not_found", "no_permission"]


class TestTheStep:
    async def test_it_is_the_saved_command_as_it_is_now(self, case):
        changed = msgspec.structs.replace(
            case.command, type="engineStop", text_channel=True, attributes={"data": "x", "deep": {"a": [1.5]}}
        )
        await commands.TABLE.update(case.database, changed)
        begun = await case.begin()
        assert (begun.type, begun.text_channel) == ("engineStop", True)
        assert begun.attributes == {"data": "x", "deep": {"a": [1.5]}}

    @pytest.mark.parametrize(
        ("attributes", "minutes"),
        [
            ({}, 0),
            ({"queueMaxMinutes": None}, 0),
            ({"queueMaxMinutes": 0}, 0),
            ({"queueMaxMinutes": 15}, 15),
            ({"queueMaxMinutes": 2.5}, 2),
            ({"queueMaxMinutes": -5}, 0),
            ({"queueMaxMinutes": "15"}, 0),
            ({"queueMaxMinutes": True}, 0),
            ({"queueMaxMinutes": [15]}, 0),
            ({"queueMaxMinutes": 10**40}, MAX_QUEUE_MINUTES),
            ({"queueMaxMinutes": -1e300}, 0),
        ],
    )
    async def test_it_may_wait_as_many_minutes_as_the_schedule_says_now(self, case, attributes, minutes):
        await scheduled_commands.TABLE.update(
            case.database, msgspec.structs.replace(case.schedule, attributes=attributes)
        )
        assert (await case.begin()).queue_minutes == minutes

    async def test_only_what_is_pending_has_a_turn(self, world):
        device, command = await world.device(), await world.command()
        statuses = ["pending", "sending", "queued", "delivering", "delivered", "sent", "skipped", "failed"]
        schedule = await world.schedule(device, start=[(command, 0)] * len(statuses))
        await world.fire(schedule, NOW + MINUTE)
        made = await world.runs()
        for run, status in zip(made, statuses, strict=True):
            await world.put([run.id], status)
        ids = [run.id for run in made]
        (begun,) = await edge_occurrences.start_steps(world.database, [*ids, ids[-1] + 1], NOW + MINUTE)
        assert (begun.run_id, begun.followed) == (ids[0], True)
        assert [run.status for run in await world.runs()] == ["sending", *statuses[1:]]
        assert await edge_occurrences.start_steps(world.database, ids, NOW + MINUTE) == []
        assert await edge_occurrences.start_steps(world.database, [], NOW) == []

    async def test_each_of_many_is_judged_by_itself(self, world):
        mine, strange, command = await world.device(), await world.device(), await world.command()
        owner = await world.user()
        await links.add(world.database, links.USER_DEVICE, owner.id, mine.id)
        await links.add(world.database, links.USER_COMMAND, owner.id, command.id)
        his = await world.schedule(mine, strange, start=[(command, 0)], owner=owner)
        ours = await world.schedule(strange, start=[(command, 0)], attributes={"queueMaxMinutes": 7})
        for schedule in (his, ours):
            await world.fire(schedule, NOW + MINUTE)
        ids = [run.id for run in await world.runs()]
        came = {
            (step.schedule_id, step.device_id): (step.reason, step.queue_minutes)
            for step in await edge_occurrences.start_steps(world.database, ids, NOW + MINUTE)
        }
        assert came == {
            (his.id, mine.id): (None, 0),
            (his.id, strange.id): ("no_permission", 0),
            (ours.id, strange.id): (None, 7),
        }


worlds = st.fixed_dictionaries(
    {
        # Each group lies in an earlier one, or in none (0); a device in one of them, or in none.
        "above": st.lists(st.integers(0, 5), min_size=6, max_size=6),
        "inside": st.lists(st.integers(0, 6), min_size=5, max_size=5),
        "devices": st.sets(st.integers(0, 4), max_size=2),
        "groups": st.sets(st.integers(0, 5), max_size=2),
        "command": st.integers(0, 4).map(bool),
    }
)


async def test_whoever_may_see_a_device_may_send_to_it_in_random_small_worlds(world):
    """Group links on three levels, and on the fourth not; one database for all of them."""
    database = world.database
    command = await world.command()
    drawn = []

    # Drawn by hypothesis and tried below: its own loop is not Trio's.
    @settings(max_examples=40, database=None, suppress_health_check=list(HealthCheck))
    @given(worlds)
    def draw(one):
        drawn.append(one)

    draw()
    seen = set()
    for one in drawn:
        owner = await world.user()
        chain = []
        for number, above in enumerate(one["above"]):
            chain.append(await world.group(chain[above - 1] if 0 < above <= number else None))
        vehicles = [await world.device(chain[group - 1] if group else None) for group in one["inside"]]
        for number in one["devices"]:
            await links.add(database, links.USER_DEVICE, owner.id, vehicles[number].id)
        for number in one["groups"]:
            await links.add(database, links.USER_GROUP, owner.id, chain[number].id)
        if one["command"]:
            await links.add(database, links.USER_COMMAND, owner.id, command.id)
        schedule = await world.schedule(*vehicles, start=[(command, 0)], owner=owner)
        made = await world.fire(schedule, NOW + MINUTE)
        begun = await edge_occurrences.start_steps(database, [record.id for record, _ in made], NOW + MINUTE)
        allowed = {step.device_id for step in begun if step.reason is None}
        visible = await access.device_ids(database, owner.id) & {each.id for each in vehicles}
        assert allowed == (visible if one["command"] else set()), one
        seen.add((bool(allowed), len(allowed) < len(vehicles)))
    assert (True, True) in seen


async def test_a_group_link_reaches_three_levels_and_not_a_fourth(world):
    chain = [await world.group()]
    for _ in range(3):
        chain.append(await world.group(chain[-1]))
    owner, command = await world.user(), await world.command()
    inside = [await world.device(group) for group in chain]
    await links.add(world.database, links.USER_COMMAND, owner.id, command.id)
    await links.add(world.database, links.USER_GROUP, owner.id, chain[0].id)
    # All four are targets, whatever depth.
    schedule = await world.schedule(chain[0], start=[(command, 0)], owner=owner)
    made = await world.fire(schedule, NOW + MINUTE)
    begun = await edge_occurrences.start_steps(
        world.database, [record.id for record, _ in made], NOW + MINUTE
    )
    assert {step.device_id: step.reason for step in begun} == {
        inside[0].id: None,
        inside[1].id: None,
        inside[2].id: None,
        inside[3].id: "no_permission",
    }


async def test_later_steps_of_a_run_by_hand_have_the_rights_of_who_asked_for_it(world):
    """However its owner's may be; and whoever asked must still have them."""
    asker, device, command = await world.user(), await world.device(), await world.command()
    await links.add(world.database, links.USER_DEVICE, asker.id, device.id)
    schedule = await world.schedule(device, start=[(command, 0), (command, 60)], owner=await world.user())
    occurrence = EdgeOccurrence(schedule.id, 0, NOW, "manual", "start", asker.id)
    await world.fire_many(occurrence, now=NOW)
    first, second = await world.runs()
    (begun,) = await edge_occurrences.start_steps(world.database, [first.id], NOW)
    assert (begun.reason, begun.owner_id) == (None, asker.id)
    await users.TABLE.update(world.database, msgspec.structs.replace(asker, disabled=True))
    (begun,) = await edge_occurrences.start_steps(world.database, [second.id], NOW + MINUTE)
    assert begun.reason == "no_permission"


async def test_a_step_whose_owner_was_deleted_says_so(case):
    await users.TABLE.delete(case.database, case.owner.id)
    begun = await case.begin()
    (run,) = await case.world.runs()
    (told,) = await runs.fetch(case.database, [run.id])
    assert (begun.reason, told.detail) == ("no_permission", edge_occurrences.OWNER_DELETED)


async def test_a_server_that_was_declared_dead_starts_no_step(case):
    async with case.database.session() as session:
        dead, living = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    await nodes.leave(case.database, dead)
    (run,) = await case.world.runs()
    # It was frozen, and wakes with a step that was due meanwhile.
    assert await edge_occurrences.start_steps(case.database, [run.id], NOW + MINUTE, dead) == []
    (step,) = await edge_occurrences.start_steps(case.database, [run.id], NOW + MINUTE, living)
    assert step.reason is None
