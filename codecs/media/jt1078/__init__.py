"""JT/T 1078: media packets to access units, and sound to packets."""

__all__ = ["MEDIA_PORTS"]

MEDIA_PORTS = {"live": 5263, "playback": 5363, "talk": 5463}
"""TCP ports, one for each kind of media, which the packets do not state
(docs/protocols/jt1078.md#media-connections)."""
