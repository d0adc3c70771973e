"""What can be wrong with bytes. A codec raises nothing else, for any input whatsoever."""


class CodecError(Exception):
    """The peer's bytes break the protocol."""


class FrameError(CodecError):
    """A frame's head, length or end is not what the protocol allows."""


class ChecksumError(CodecError):
    """A frame's checksum does not fit its bytes."""


class Truncated(CodecError):
    """A field lies past the end of its frame."""


class UnsupportedCommand(CodecError):
    """This protocol has no message for such a command, or its attributes are wrong."""
