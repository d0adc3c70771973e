"""JT/T 1078: media packets to access units."""

__all__ = ["MEDIA_PORTS"]

MEDIA_PORTS = {"live": 5263, "playback": 5363}
"""TCP ports, one for each kind of media, which the packets do not state
(docs/protocols/jt1078.md#media-connections)."""
