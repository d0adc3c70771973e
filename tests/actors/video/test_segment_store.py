"""Segments of playbacks on a real disk, under one quota."""

import errno

import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.files.file_locks import create_locked
from motorpool.actors.messages.playback import (
    SegmentsEvicted,
)
from motorpool.actors.video.segment_store import (
    SEGMENT_STORE,
    DeleteSessions,
    EndSession,
    StoreSegment,
    segment_path,
    segment_store_spec,
)
from motorpool.codecs.media.muxer import MPEG_TS
from motorpool.runtime import DynamicSpec, Kind

OWNER = Kind("owner")


class Disk:
    """The files' actor, and owners that record."""

    def __init__(self, system, owners, data):
        self.system, self.owners, self.data = system, owners, data
        self.ref = system.ref(SEGMENT_STORE)

    async def store(self, run, index, size=100):
        content = bytes([index % 256]) * size
        return await self.ref.ask(StoreSegment(run, self.system.ref(OWNER, run[0]), index, content, MPEG_TS))

    def kept(self):
        """Indices on disk by run."""
        found = {}
        for path in sorted((self.data / "playback").rglob("*.ts")):
            found.setdefault(path.parent.name, []).append(int(path.stem))
        return {run: sorted(indices) for run, indices in found.items()}

    def told(self, owner):
        return self.owners[owner].messages if owner in self.owners else []


@pytest.fixture
def disk(tree, tmp_path):
    """`async with disk(quota_bytes=1000) as files:`"""

    class Opened:
        def __init__(self, quota_bytes=1000):
            self.quota_bytes = quota_bytes

        async def __aenter__(self):
            owners = {}
            owned = DynamicSpec(
                kind=OWNER, name="owners", factory=lambda key: owners.setdefault(key, Probe())
            )
            self.running = tree(segment_store_spec(tmp_path, self.quota_bytes), owned)
            return Disk(await self.running.__aenter__(), owners, tmp_path)

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


async def test_a_segment_lies_where_its_path_says(disk, tmp_path, time):
    async with disk() as files:
        assert await files.store("a-1", 7) == 7
        assert await files.store("a-1", 8) == 7
        assert segment_path(tmp_path, "a-1", 8, MPEG_TS).read_bytes() == b"\x08" * 100
        assert files.kept() == {"a-1": [7, 8]}


async def test_what_an_earlier_server_left_is_removed_at_the_start(disk, tmp_path, time):
    old = segment_path(tmp_path, "a-1", 3, MPEG_TS)
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    other = tmp_path / "media" / "3.ts"
    other.parent.mkdir()
    other.write_bytes(b"not ours")
    async with disk() as files:
        await files.store("b-1", 1)
        assert files.kept() == {"b-1": [1]}
        assert other.exists()


async def test_what_another_server_plays_stays_and_its_folder_goes_after_its_end(disk, tmp_path, time):
    neighbour = tmp_path / "playback" / "0123abcd"
    (neighbour / "a-1").mkdir(parents=True)
    (neighbour / "a-1" / "3.ts").write_bytes(b"theirs")
    with create_locked(neighbour / ".lock"):
        async with disk() as files:
            await files.store("b-1", 1)
            assert files.kept() == {"a-1": [3], "b-1": [1]}
    async with disk() as files:
        assert files.kept() == {}
        await files.store("c-1", 1)
        assert files.kept() == {"c-1": [1]}


async def test_what_has_ended_makes_room_oldest_first(disk, time):
    async with disk() as files:
        for run in ("a-1", "b-1", "c-1"):
            for index in range(3):
                await files.store(run, index)
        await files.ref.tell(EndSession("b-1"))
        await files.ref.tell(EndSession("c-1"))
        await files.ref.tell(EndSession("never-was"))
        await files.store("a-1", 3)
        assert files.told("b") == []
        assert await files.store("a-1", 4) == 0
        await time.settle()
        assert files.kept() == {"a-1": [0, 1, 2, 3, 4], "c-1": [0, 1, 2]}
        assert files.told("b") == [SegmentsEvicted("b-1", None)]
        assert files.told("c") == []


async def test_one_that_alone_is_over_the_quota_loses_its_beginning(disk, time):
    async with disk(quota_bytes=350) as files:
        assert [await files.store("a-1", index) for index in range(6)] == [0, 0, 0, 1, 2, 3]
        assert files.kept() == {"a-1": [3, 4, 5]}
        assert files.told("a") == []  # it has its answers
        # Larger than all the room there is: it is kept all the same, alone.
        assert await files.store("a-1", 6, size=1000) == 6
        assert files.kept() == {"a-1": [6]}
        assert await files.store("a-1", 7) == 7


async def test_of_those_that_run_the_oldest_loses_its_beginning_and_keeps_its_last(disk, time):
    async with disk(quota_bytes=500) as files:
        for index in range(3):
            await files.store("a-1", index)
        for index in range(5):
            assert await files.store("b-1", index) == max(0, index - 3)
        await time.settle()
        assert files.kept() == {"a-1": [2], "b-1": [1, 2, 3, 4]}
        assert files.told("a") == [SegmentsEvicted("a-1", 1), SegmentsEvicted("a-1", 2)]


async def test_forgotten_runs_are_removed_with_their_bytes(disk, time):
    async with disk(quota_bytes=400) as files:
        for run in ("a-1", "a-2", "b-1"):
            await files.store(run, 0)
        await files.ref.tell(DeleteSessions(files.system.ref(OWNER, "a")))
        for index in range(1, 4):
            assert await files.store("b-1", index) == 0
        assert files.kept() == {"b-1": [0, 1, 2, 3]}


async def test_a_full_disk_costs_the_segment_alone(disk, tmp_path, time):
    async with disk() as files:
        await files.store("a-1", 0)
        # The device that is always full stands for a disk that is.
        segment_path(tmp_path, "a-1", 1, MPEG_TS).symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space") as caught:
            await files.store("a-1", 1)
        assert caught.value.errno == errno.ENOSPC
        assert await files.store("b-1", 0) == 0
        assert files.kept() == {"a-1": [0], "b-1": [0]}
        assert await files.store("a-1", 2) == 0
