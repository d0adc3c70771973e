"""The container formats of HLS segments (RFC 8216, section 3)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from motorpool.codecs.media.fragments import MediaFragment


class Container(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One file format of segments."""

    name: str
    """For documents."""
    suffix: str
    """Of file names and URLs, without the dot."""
    media_type: str
    """Of HTTP answers."""
    write: "Callable[[MediaFragment], bytes]"
    """Return the file of a fragment, whose audio is AAC; raises av.FFmpegError where FFmpeg rejects it."""
    write_initialization: "Callable[[MediaFragment], bytes] | None" = None
    """Return what players read before the files (EXT-X-MAP); empty where that of the file before serves."""
