"""The container formats of HLS segments (RFC 8216, section 3)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from motorpool.codecs.media.fragments import MediaFragment


class Container(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One file format of segments."""

    name: str
    """Name of the container, for documentation."""
    suffix: str
    """Extension of file names and URLs, without the dot."""
    media_type: str
    """Content type of HTTP responses."""
    write: "Callable[[MediaFragment], bytes]"
    """Return the file of a fragment, whose audio is AAC; raises CodecError where it cannot hold that."""
    write_initialization: "Callable[[MediaFragment], bytes] | None" = None
    """Return the initialization section (EXT-X-MAP); empty where the previous one still applies."""
