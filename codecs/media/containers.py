"""The container formats of HLS segments (RFC 8216, section 3)."""

import msgspec


class Container(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One file format of segments."""

    name: str
    """For documents."""
    suffix: str
    """Of file names and URLs, without the dot."""
    media_type: str
    """Of HTTP answers."""


MPEG_TS = Container(name="MPEG-TS", suffix="ts", media_type="video/mp2t")

CONTAINERS = (MPEG_TS,)
"""All formats in which segments may be listed and served."""
