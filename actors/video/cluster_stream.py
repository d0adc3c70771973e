"""Live streams of a server of a cluster: the device may have streamed at another one meanwhile."""

from collections.abc import Coroutine
from dataclasses import replace

from motorpool.actors.messages.live_stream import HoldStream, ReadKeyframe, ReadPlaylist, StreamMessage
from motorpool.actors.messages.publishing import Publish, Subscribe
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.stream import Stream, stream_spec
from motorpool.runtime import DynamicSpec
from motorpool.storage.database.database import Database


class ClusterStream(Stream):
    """Begins anew above the numbers of another server before it streams again: playlists only grow."""

    def handle(self, message: StreamMessage) -> object:
        """Handle a message; the numbers are checked before one that may begin the stream."""
        match message:
            case Publish() | HoldStream() | Subscribe() | ReadPlaylist() | ReadKeyframe() if (
                self._publisher is None
            ):
                return self._handle_above_others(message)
            case _:
                return super().handle(message)

    async def _handle_above_others(self, message: StreamMessage) -> object:
        if not await self._numbers.are_latest():
            if self._has_published:
                self._reads.answer_all()
            await self._begin_playlist()
        outcome = super().handle(message)
        return await outcome if isinstance(outcome, Coroutine) else outcome


def cluster_stream_spec(
    database: Database, settings: VideoSettings
) -> DynamicSpec[tuple[int, int], StreamMessage]:
    """Return the spec of the live streams of a server of a cluster, as `stream_spec` does for one alone."""
    return replace(
        stream_spec(database, settings), factory=lambda key: ClusterStream(key, database, settings)
    )
