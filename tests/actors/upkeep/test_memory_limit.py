"""Limits of memory, read from folders as the kernel makes them."""

import pytest

from motorpool.actors.upkeep.memory_limit import Memory, MemoryLimit

MIB = 1 << 20


class Machine:
    def __init__(self, folder):
        self.root = folder / "cgroup"
        self.membership = folder / "membership"

    def group(self, path, files):
        folder = self.root / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(f"{text}\n")

    def of_version_2(self, path, limit, used, cache=0):
        stat = f"anon {used}\ninactive_file {cache}\nactive_file 0\nslab 5"
        self.group(path, {"memory.max": limit, "memory.current": used, "memory.stat": stat})

    def of_version_1(self, path, limit, used, cache=0):
        stat = f"inactive_file 1\ntotal_inactive_file {cache}\ntotal_active_file 0"
        self.group(
            f"memory/{path}",
            {"memory.limit_in_bytes": limit, "memory.usage_in_bytes": used, "memory.stat": stat},
        )

    def read(self, membership):
        self.membership.write_text(membership)
        return MemoryLimit(self.membership, self.root).read()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_the_cache_of_files_does_not_count_as_used(machine):
    machine.of_version_2("system.slice/fleet.service", 512 * MIB, 500 * MIB, cache=200 * MIB)
    assert machine.read("0::/system.slice/fleet.service\n") == Memory(512 * MIB, 300 * MIB)


def test_the_limit_of_an_outer_group_holds_where_less_is_left(machine):
    machine.of_version_2("outer", 1000 * MIB, 990 * MIB)
    machine.of_version_2("outer/inner", 500 * MIB, 100 * MIB)
    assert machine.read("0::/outer/inner\n") == Memory(1000 * MIB, 990 * MIB)


def test_in_a_container_the_path_is_outside_and_the_root_is_ours(machine):
    machine.of_version_2("", 256 * MIB, 10 * MIB)
    assert machine.read("0::/docker/abc\n") == Memory(256 * MIB, 10 * MIB)


def test_version_1_has_other_names(machine):
    machine.of_version_1("docker/abc", 256 * MIB, 200 * MIB, cache=50 * MIB)
    membership = "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n"
    assert machine.read(membership) == Memory(256 * MIB, 150 * MIB)


def test_without_a_limit_there_is_none(machine, tmp_path):
    machine.of_version_2("a", "max", 10 * MIB)
    assert machine.read("0::/a\n") is None
    machine.of_version_1("a", 9223372036854771712, 10 * MIB)
    assert machine.read("4:memory:/a\n") is None
    assert MemoryLimit(tmp_path / "none", machine.root).read() is None


def test_files_that_say_nothing_are_no_limit(machine):
    machine.of_version_2("a", "what", 1)
    machine.group("b", {"memory.max": 5})
    assert machine.read("0::/a\n") is None
    assert machine.read("0::/b\n") is None


def test_a_limit_that_is_changed_is_followed(machine):
    machine.of_version_2("a", 100 * MIB, 10 * MIB)
    machine.membership.write_text("0::/a\n")
    limit = MemoryLimit(machine.membership, machine.root)
    assert limit.read() == Memory(100 * MIB, 10 * MIB)
    machine.of_version_2("a", 50 * MIB, 20 * MIB)
    assert limit.read() == Memory(50 * MIB, 20 * MIB)
