"""From media fragments to segments, as live streams and playbacks have in common."""

import msgspec

from motorpool.actors.messages.counters import MEDIA_UNITS_DROPPED
from motorpool.actors.video.sound import SoundTranscoder
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.muxer import Segment, mux
from motorpool.runtime.actor import ActorLog


class SegmentBuilder:
    """Makes the audio of fragments AAC, sends them to subscribers and muxes them; in order, one at a time.

    A fragment whose container cannot hold it is left out, and the next one is marked as a discontinuity.
    """

    def __init__(
        self, subscribers: Subscribers, sound: SoundTranscoder, log: ActorLog, *, waits: bool = False
    ) -> None:
        """`waits`: for subscribers whose mailbox is full; otherwise they miss the fragment."""
        self._subscribers = subscribers
        self._log = log
        self._waits = waits
        self._sound = sound
        self._has_gap = False
        """The fragment before was left out."""

    def is_slow(self, fragment: MediaFragment) -> bool:
        """Whether the fragment needs transcoding, and with that `build_slowly`."""
        return self._sound.is_needed(fragment)

    def build(self, fragment: MediaFragment) -> Segment | None:
        """Return the segment of a fragment that is not slow, without waiting; None where it is left out.

        For subscribers that are not waited for.
        """
        if self._has_gap:
            fragment = msgspec.structs.replace(fragment, discontinuity=True)
        if self._subscribers.members:
            self._note_missed(fragment, len(self._subscribers.send((fragment,))))
        return self._mux(fragment)

    async def build_slowly(self, fragment: MediaFragment) -> Segment | None:
        """Return the fragment's segment; None where it is left out."""
        try:
            fragment = await self._sound.transcode(fragment)
        except CodecError as error:
            return self._leave_out(error)
        if self._has_gap:
            fragment = msgspec.structs.replace(fragment, discontinuity=True)
        if self._subscribers.members:
            missed = self._subscribers.send((fragment,))
            if missed and self._waits:
                missed = await self._subscribers.wait(missed, (fragment,))
            self._note_missed(fragment, len(missed))
        return self._mux(fragment)

    def _mux(self, fragment: MediaFragment) -> Segment | None:
        try:
            segment = mux(fragment)
        except CodecError as error:
            return self._leave_out(error)
        self._has_gap = False
        return segment

    def _note_missed(self, fragment: MediaFragment, captures: int) -> None:
        if captures:
            if not self._waits:
                MEDIA_UNITS_DROPPED.inc(captures * (len(fragment.pictures) + len(fragment.audio_frames)))
            self._log.warning(
                "%d captures are too slow and miss %d pictures", captures, len(fragment.pictures)
            )

    def _leave_out(self, error: CodecError) -> None:
        self._has_gap = True
        self._log.warning("a segment is left out: %s", error)
