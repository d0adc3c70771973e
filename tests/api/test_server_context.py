import pytest

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import (
    CalendarChanged,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    UserChanged,
)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (DeviceChanged(1, "updated", ("name",)), {2}),
        (DeviceChanged(1, "deleted"), {2}),
        (GroupChanged(1, "updated", ("name",)), {1, 2}),
        (GroupChanged(1, "deleted"), set()),
        (CalendarChanged(1, "updated", ("data",)), {1, 2}),
        (CalendarChanged(1, "deleted"), set()),
        (UserChanged(1, "updated"), {1, 2}),
        (EverythingChanged(), set()),
    ],
)
async def test_cached_rows_of_devices_are_dropped_by_the_changes_that_concern_them(served, change, kept):
    numbers = [await served.device(served.admin, name) for name in ("1", "2")]
    assert numbers == [1, 2]
    cache = served.context.devices
    before = await cache.get_many(numbers)
    await publish_changes(served.context.system, change)
    after = await cache.get_many(numbers)
    assert {number for number in numbers if after[number] is before[number]} == kept


async def test_the_context_has_the_clock_of_the_actor_system(served):
    assert served.context.clock is served.clock
    assert not served.context.lifetime.closing.is_set()
