"""What the machine runs out of, and its clock."""

import pytest

from motorpool.actors.files.disk_space import disk_space
from motorpool.actors.messages.conditions import CLOCK, DISK, MEMORY, OPEN_FILES
from motorpool.actors.upkeep.memory_limit import MemoryLimit
from motorpool.actors.upkeep.resource_monitor import LOOK_SECONDS, SHOWN_SECONDS, ResourceMonitor
from motorpool.runtime import TaskSpec

LIMIT = 1 << 30


@pytest.fixture
def monitoring(tree, tmp_path):
    """`async with monitoring(reserve_bytes=…) as system:`"""

    def running(reserve_bytes=0, memory_limit=None):
        return tree(
            TaskSpec(
                name="resource_monitor",
                factory=lambda: ResourceMonitor(tmp_path, reserve_bytes, memory_limit),
            )
        )

    return running


@pytest.fixture
def uses(tmp_path):
    """`uses(0.95)`: a control group that uses so much of its limit; `uses("max")`: it has none."""
    folder = tmp_path / "cgroup"
    folder.mkdir()
    (tmp_path / "membership").write_text("0::/\n")

    def write(part):
        (folder / "memory.max").write_text("max" if part == "max" else str(LIMIT))
        (folder / "memory.current").write_text(str(LIMIT if part == "max" else int(LIMIT * part)))
        (folder / "memory.stat").write_text("inactive_file 0\nactive_file 0\n")
        return MemoryLimit(tmp_path / "membership", folder)

    return write


def of_monitor(caplog):
    return [record.getMessage() for record in caplog.records if "conditions" in record.name]


async def test_a_machine_that_has_enough_says_nothing(monitoring, time, caplog):
    async with monitoring() as system:
        await time.passes(10 * LOOK_SECONDS, step=LOOK_SECONDS)
        assert list(system.conditions) == []
    assert of_monitor(caplog) == []


async def test_a_disk_with_less_than_the_reserve_is_told_from_the_start(monitoring, time, tmp_path, caplog):
    reserve = disk_space(tmp_path).total + (1 << 40)
    async with monitoring(reserve) as system:
        condition = system.conditions.find(DISK)
        assert condition.kind.fails_health
        assert f"less than {reserve >> 20} MiB" in condition.cause
        await time.passes(5 * LOOK_SECONDS, step=LOOK_SECONDS)
        assert len(of_monitor(caplog)) == 1


async def test_memory_near_the_limit_is_told_until_some_more_than_that_is_free(
    monitoring, uses, time, caplog
):
    async with monitoring(memory_limit=uses(0.5)) as system:
        for part, is_present in ((0.89, False), (0.91, True), (0.88, True), (0.8, False), (0.99, True)):
            uses(part)
            await time.passes(LOOK_SECONDS)
            assert (system.conditions.find(MEMORY) is not None) == is_present, part
        uses("max")
        await time.passes(LOOK_SECONDS)
        assert system.conditions.find(MEMORY) is None
    assert "memory: 931 MiB of the limit of 1024 MiB of memory are used" in of_monitor(caplog)[0]


async def test_a_clock_that_is_set_is_told_once_with_the_size_of_the_step(monitoring, time, clock, caplog):
    async with monitoring() as system:
        clock.move_wall(2)
        await time.passes(LOOK_SECONDS)
        assert system.conditions.find(CLOCK) is None
        clock.move_wall(3600)
        await time.passes(LOOK_SECONDS)
        assert "was set forward by 3600 s" in system.conditions.find(CLOCK).cause
        await time.passes(SHOWN_SECONDS / 2, step=LOOK_SECONDS)
        clock.move_wall(-90)
        await time.passes(LOOK_SECONDS)
        assert "was set back by 90 s" in system.conditions.find(CLOCK).cause
        await time.passes(SHOWN_SECONDS / 2, step=LOOK_SECONDS)
        assert system.conditions.find(CLOCK) is not None
        await time.passes(SHOWN_SECONDS, step=LOOK_SECONDS)
        assert system.conditions.find(CLOCK) is None
    assert [line for line in of_monitor(caplog) if "was set" in line] == [
        "clock: the clock was set forward by 3600 s, or this machine was suspended:"
        " times of the last minutes may be wrong, set it by NTP",
        "clock: the clock was set back by 90 s, or this machine was suspended:"
        " times of the last minutes may be wrong, set it by NTP",
    ]


async def test_too_few_files_that_can_be_opened_are_told_whoever_needs_them(
    monitoring, time, out_of_files, caplog
):
    async with monitoring() as system:
        with out_of_files():
            await time.passes(5 * LOOK_SECONDS, step=LOOK_SECONDS)
            assert "LimitNOFILE" in system.conditions.find(OPEN_FILES).cause
        await time.passes(LOOK_SECONDS)
        assert system.conditions.find(OPEN_FILES) is None
    assert len(of_monitor(caplog)) == 2
