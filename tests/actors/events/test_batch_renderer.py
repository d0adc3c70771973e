"""An event in the words of many readers."""

from datetime import UTC, datetime

import pytest
import trio

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events import batch_renderer
from motorpool.actors.events.batch_renderer import USERS_AT_A_TIME, BatchRenderer
from motorpool.actors.events.deliveries import BatchPlan, Manner
from motorpool.actors.geocoding.towns import read_towns
from motorpool.storage.records import Device, Event, Geofence, Position, User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
READERS = range(1, 301)
ALIKE = dict.fromkeys(READERS, Manner())


@pytest.fixture
def facts():
    return EventFacts(
        event=Event(id=7, type="deviceMoving", event_time=NOW, device_id=1, position_id=1),
        device=Device(id=1, unique_id="1", name="van"),
        position=Position(
            id=1, device_id=1, server_time=NOW, device_time=NOW, fix_time=NOW, latitude=52.42, longitude=13.1
        ),
        zones=tuple(Geofence(id=number, name=f"zone {number}") for number in (0, *READERS)),
    )


def renderer_of(facts, seen):
    plan = BatchPlan((), 0, users={number: User(id=number) for number in READERS}, seen_zones=seen)
    return BatchRenderer(plan, facts, {}, read_towns())


async def test_others_get_their_turns_between_texts(facts, monkeypatch):
    steps = []
    render = batch_renderer.render

    def counting(*arguments):
        steps[-1] += 1
        return render(*arguments)

    class Steps(trio.abc.Instrument):
        def before_task_step(self, task):
            steps.append(0)

    monkeypatch.setattr(batch_renderer, "render", counting)
    # Each sees another zone, and has the event in other words.
    renderer = renderer_of(facts, {(7, number): number for number in READERS})
    instrument = Steps()
    trio.lowlevel.add_instrument(instrument)
    await trio.lowlevel.checkpoint()
    await renderer.render(ALIKE)
    trio.lowlevel.remove_instrument(instrument)
    # The first is no reason for a pause: most events have one text.
    assert (sum(steps), max(steps)) == (300, 2)


async def test_users_who_read_alike_have_one_text(facts, monkeypatch):
    rendered = []
    render = batch_renderer.render
    monkeypatch.setattr(
        batch_renderer, "render", lambda *arguments: rendered.append(arguments) or render(*arguments)
    )
    renderer = renderer_of(facts, {(7, number): 250 if number > USERS_AT_A_TIME else 3 for number in READERS})
    await renderer.render(ALIKE)
    await renderer.render(ALIKE)
    assert [arguments[2] for arguments in rendered] == ["zone 3", "zone 250"]
    assert [len(event.user_ids) for event in renderer.web_events(ALIKE)] == [300]
