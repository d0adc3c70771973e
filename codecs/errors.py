"""The errors of codecs. A codec raises nothing else, for any input."""


class CodecError(Exception):
    """The peer violates the protocol; base of all errors of codecs."""


class FrameError(CodecError):
    """A frame's header, length or end is malformed."""


class ChecksumError(CodecError):
    """A frame's checksum is wrong."""


class Truncated(CodecError):
    """A field extends beyond the end of its frame."""


class UnsupportedCommand(CodecError):
    """The protocol has no such command, or an attribute of it cannot be encoded."""
