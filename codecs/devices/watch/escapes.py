"""Bytes of sounds and pictures that would be marks of a frame (docs/protocols/watch.md#frames)."""

from motorpool.codecs.devices.framing import ByteStuffing

ESCAPES = ByteStuffing({b"}\x01": b"}", b"}\x02": b"[", b"}\x03": b"]", b"}\x04": b",", b"}\x05": b"*"})
