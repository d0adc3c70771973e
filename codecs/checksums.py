"""Checksums of device protocols. The CRCs are named as in the catalogue of CRC algorithms
(https://reveng.sourceforge.io/crc-catalogue/16.htm), computed by fastcrc.
"""

import fastcrc


def xor8(data: bytes) -> int:
    """Return the exclusive or of all bytes; 0 for a frame that includes its check byte.

    The bytes are folded as one big integer, which takes a tenth of the time of a loop in Python
    (docs/performance.md#checksums).
    """
    folded = int.from_bytes(data, "big")
    size = len(data)
    if size > 128:
        shift = 1 << (size * 4 - 1).bit_length()
        while shift > 512:
            folded ^= folded >> shift
            shift >>= 1
    if size > 32:
        folded ^= folded >> 512
        folded ^= folded >> 256
    if size > 16:
        folded ^= folded >> 128
    folded ^= folded >> 64
    folded ^= folded >> 32
    folded ^= folded >> 16
    return (folded ^ folded >> 8) & 0xFF


def sum8(data: bytes) -> int:
    """Return the low byte of the sum of all bytes."""
    return sum(data) & 0xFF


def crc16_arc(data: bytes) -> int:
    """Return CRC-16/ARC, also called CRC-16/IBM (Teltonika)."""
    return fastcrc.crc16.arc(data)


def crc16_x25(data: bytes) -> int:
    """Return CRC-16/X-25, also called CRC-ITU (GT06)."""
    return fastcrc.crc16.ibm_sdlc(data)


def crc16_kermit(data: bytes) -> int:
    """Return CRC-16/KERMIT, also called CRC-16/CCITT, reflected and from 0 (Ruptela)."""
    return fastcrc.crc16.kermit(data)
