"""Viewers of live streams at all servers, wherever the devices are: what they were listed and got."""

import hashlib
import time
from collections.abc import Sequence

import httpx
import trio

from motorpool.bench.checks.server_history import Listed, Playlist
from motorpool.bench.cluster.cluster import Cluster
from motorpool.bench.cluster.probes import Troubles
from motorpool.bench.viewer import Viewer, listed_segments

ANSWER_SECONDS = 15.0
"""The first reader of a stream waits until there is a segment."""
AGAIN_SECONDS = 1.0
"""Between two requests after one that failed."""


class StreamProbe:
    """A viewer of each stream at each server, who plays it as a player does."""

    def __init__(self, cluster: Cluster, devices: Sequence[int], troubles: Troubles) -> None:
        """Watch the first channel of each of these devices."""
        self._cluster = cluster
        self._devices = devices
        self._troubles = troubles
        self.playlists: list[Playlist] = []
        self.segments: list[Listed] = []
        self._unseen = {(f"{device}/1", name) for device in devices for name in cluster.names}
        self._all_seen = trio.Event()

    async def run(self) -> None:
        """Play until cancelled."""
        async with trio.open_nursery() as nursery:
            places = self._cluster.places
            for place in range(len(places)):
                for device in self._devices:
                    nursery.start_soon(self._play, place, device)
                    # Their requests do not coincide.
                    await trio.sleep(1 / (len(places) * len(self._devices)))

    async def until_all_are_seen(self) -> None:
        """Wait until each viewer has got a segment."""
        await self._all_seen.wait()

    async def _play(self, place: int, device: int) -> None:
        viewer = Viewer(f"/stream/{device}/1", time.perf_counter())
        where = self._cluster.places[place]
        connection, connections = None, 0
        async with self._cluster.client(place) as client:
            client.timeout = httpx.Timeout(ANSWER_SECONDS)
            while True:
                await trio.sleep(max(0.0, viewer.due - time.perf_counter()))
                wants_segment = viewer.wants_segment
                path, asked, invoked = viewer.request(), time.perf_counter(), time.time()
                was_settled = self._troubles.is_clear(place)
                try:
                    answer = await client.get(path)
                except httpx.HTTPError as error:
                    self._troubles.note_error(place, f"GET {path}", error, was_clear=was_settled)
                    answer = None
                now = time.perf_counter()
                if answer is None or answer.status_code != 200:
                    if wants_segment:
                        viewer.skip_segment()
                    viewer.due = now + AGAIN_SECONDS
                elif wants_segment:
                    self._take_segment(place, f"{device}/1", path, answer.content)
                    viewer.take_segment(now)
                else:
                    is_settled = was_settled and self._troubles.is_clear(place)
                    # Another connection to a machine may be one to another process.
                    if answer.extensions["network_stream"] is not connection:
                        connection, connections = answer.extensions["network_stream"], connections + 1
                    process = f"{where.name}, connection {connections}" if where.is_machine else where.name
                    self._take_playlist(process, f"{device}/1", answer.text, invoked, is_settled=is_settled)
                    viewer.take_playlist(answer.text, asked)

    def _take_segment(self, place: int, stream: str, path: str, content: bytes) -> None:
        name = self._cluster.names[place]
        index = int(path.rpartition("/")[2].removesuffix(".ts"))
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        self.segments.append(Listed(stream, index, digest, time.time(), name))
        self._unseen.discard((stream, name))
        if not self._unseen:
            self._all_seen.set()

    def _take_playlist(
        self, process: str, stream: str, text: str, invoked: float, *, is_settled: bool
    ) -> None:
        listed = listed_segments(text)
        if listed:
            first, last = listed[0][0], listed[-1][0]
            self.playlists.append(Playlist(stream, first, last, invoked, time.time(), process, is_settled))
