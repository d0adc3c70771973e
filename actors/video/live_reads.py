"""Reads of a live stream, answered at once or when the requested data is there."""

from collections.abc import Callable
from datetime import datetime
from math import inf
from typing import Any

from motorpool.actors.messages.live_stream import AwaitPlaylist, ExpireReads, Held, ReadPart, WaitFailure
from motorpool.actors.video.pending_reads import PendingReads
from motorpool.actors.video.reload_pacing import ReloadPacing
from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.runtime.actor import Context

RELOAD_TARGETS = 3
"""A reader waits at most this many target durations for what comes next (rfc8216bis, 6.2.5.2)."""


class LiveReads:
    """The readers of one stream that wait: for its first segment, for what comes next, for a key frame."""

    def __init__(self, context: Context[Any], is_published: Callable[[], bool]) -> None:
        self.pending = PendingReads()
        self._context = context
        self._is_published = is_published
        # Made by `begin`.
        self._playlist: LivePlaylist
        self._pacing: ReloadPacing
        self._expire_at = inf
        """When `ExpireReads` comes, in monotonic seconds."""

    def begin(self, playlist: LivePlaylist) -> None:
        """Read this playlist from now on; who waits for the first segment waits for its first one."""
        self._playlist = playlist
        self._pacing = ReloadPacing()
        if len(playlist):
            # Its readers have begun with another server's.
            self._pacing.note_listed(0.0, self._context.clock.monotonic(), first=False)

    def expire(self) -> None:
        """Answer reads that are timed out, and look again when the next one is."""
        now = self._context.clock.monotonic()
        self.pending.settle(now)
        earliest = self.pending.earliest_timeout()
        self._expire_at = inf if earliest is None else earliest
        if earliest is not None:
            self._context.after(earliest - now, ExpireReads())

    def list_segment(self, segment: Segment, started_at: datetime) -> None:
        """List the next segment, or the next part of one, whose first picture came at `started_at`."""
        playlist, now = self._playlist, self._context.clock.monotonic()
        count, index = len(playlist), playlist.next_index
        playlist.append(segment, started_at)
        if playlist.next_index > index:
            self._pacing.note_listed(playlist.last_seconds, now, first=not count)
            if not count and self.pending and not playlist.has_parts:
                self._expire_in(self._pacing.start_hold(now))
        if self.pending:
            self.pending.settle(now)

    def read_playlist(self, start_seconds: float) -> object:
        """Return the playlist once it has enough to begin with, after `start_seconds` as it is.

        A request shortly before the next segment waits for that (`reload_pacing`).
        """
        if not self._may_begin():
            return self._hold(start_seconds, self._may_begin, self._render)
        playlist = self._playlist
        hold = self._pacing.reload_hold(self._context.clock.monotonic())
        if not hold or playlist.has_parts or not self._is_published():
            return playlist.render()
        index = playlist.next_index
        return self._hold(
            hold, lambda: playlist.next_index > index or not self._is_published(), playlist.render
        )

    def _render(self) -> str:
        return self._playlist.render()

    def _may_begin(self) -> bool:
        playlist = self._playlist
        if not len(playlist):
            return False
        return (
            playlist.has_parts
            or not self._is_published()
            or not self._pacing.start_hold(self._context.clock.monotonic())
        )

    def await_playlist(self, message: AwaitPlaylist) -> object:
        """Return the playlist of a published stream once it holds the requested segment or part."""
        playlist, index, part = self._playlist, message.index, message.part
        if playlist.holds(index, part):
            return playlist.render()
        if playlist.is_too_far_ahead(index, part):
            return WaitFailure.TOO_FAR_AHEAD

        def answer() -> str | WaitFailure:
            is_over = playlist.holds(index, part) or not self._is_published()
            return playlist.render() if is_over else WaitFailure.TIMED_OUT

        return self._wait_for_next(lambda: playlist.holds(index, part), answer)

    def read_part(self, message: ReadPart) -> object:
        """Return a part; wait for it if it is the next one."""
        playlist, index, part = self._playlist, message.index, message.part
        if not self._is_published() or not playlist.is_next(index, part):
            return playlist.get_part(index, part)
        return self._wait_for_next(
            lambda: not playlist.is_next(index, part), lambda: playlist.get_part(index, part)
        )

    def _wait_for_next(
        self, is_ready: Callable[[], bool], answer: Callable[[], str | bytes | WaitFailure | None]
    ) -> object:
        """Answer once `is_ready()`, or once the stream is no longer published."""
        seconds = RELOAD_TARGETS * self._playlist.target_duration
        return self._hold(seconds, lambda: not self._is_published() or is_ready(), answer)

    def _hold(
        self,
        seconds: float,
        is_ready: Callable[[], bool],
        answer: Callable[[], str | bytes | WaitFailure | None],
    ) -> object:
        """Answer as `wait` does, and say for how long the player was held."""
        clock = self._context.clock
        began = clock.monotonic()
        return self.wait(seconds, is_ready, lambda: Held(answer(), clock.monotonic() - began))

    def wait(self, seconds: float, is_ready: Callable[[], bool], answer: Callable[[], object]) -> object:
        """Answer with `answer()` once `is_ready()`, or after `seconds`."""
        return self.pending.add(self._expire_in(seconds), is_ready, answer)

    def _expire_in(self, seconds: float) -> float:
        """See that `expire` is called after `seconds` at the latest; return when that is."""
        until = self._context.clock.monotonic() + seconds
        if until < self._expire_at:
            self._expire_at = until
            self._context.after(seconds, ExpireReads())
        return until
