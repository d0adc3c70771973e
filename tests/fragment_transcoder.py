"""Makes the audio of whole fragments AAC, as a stream does through a process of its own."""

from motorpool.codecs.media.audio_transcoding import AudioTranscoder, with_audio
from motorpool.codecs.media.fragments import MediaFragment


class FragmentTranscoder:
    """The fragments of one stream, in order."""

    def __init__(self) -> None:
        self._transcoder = AudioTranscoder()

    def transcode(self, fragment: MediaFragment) -> MediaFragment:
        """Return the fragment with AAC alone."""
        return with_audio(fragment, self._transcoder.transcode(fragment.audio_frames, last=fragment.last))
