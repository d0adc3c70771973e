"""Headers written byte by byte after sections 2.1 and 2.2 of the specification of the PROXY protocol."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.errors import FrameError
from motorpool.codecs.proxy_protocol import MAX_HEADER_BYTES, ProxyHeader, read_proxy_header

SIGNATURE = bytes.fromhex("0D0A0D0A000D0A515549540A")


def binary(version_command, family, body, *, length=None):
    size = len(body) if length is None else length
    return SIGNATURE + bytes([version_command, family]) + size.to_bytes(2, "big") + body


IPV4 = bytes([198, 51, 100, 7, 203, 0, 113, 5]) + (40000).to_bytes(2, "big") + (5015).to_bytes(2, "big")
IPV6 = (
    bytes.fromhex("20010db8000000000000000000000007 20010db8000100000000000000000005")
    + (40000).to_bytes(2, "big")
    + (5015).to_bytes(2, "big")
)
NAMED_4 = ("198.51.100.7", "203.0.113.5")
NAMED_6 = ("2001:db8::7", "2001:db8:1::5")
TLV = bytes.fromhex("03 0004 12345678  04 0003 000000")

VALID = [
    (b"PROXY TCP4 198.51.100.7 203.0.113.5 40000 5015\r\n", NAMED_4),
    (b"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", ("255.255.255.255",) * 2),
    (b"PROXY TCP4 198.51.100.7 203.0.113.5 0 5015\r\n", NAMED_4),
    (b"PROXY TCP6 2001:db8::7 2001:DB8:1:0::5 40000 5015\r\n", NAMED_6),
    (b"PROXY UNKNOWN\r\n", (None, None)),
    (b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", (None, None)),
    (binary(0x21, 0x11, IPV4), NAMED_4),
    (binary(0x21, 0x11, IPV4 + TLV), NAMED_4),
    (binary(0x21, 0x21, IPV6), NAMED_6),
    (binary(0x21, 0x21, IPV6 + TLV), NAMED_6),
    # A health check of the proxy; what follows the command is ignored.
    (binary(0x20, 0x00, b""), (None, None)),
    (binary(0x20, 0x11, IPV4), (None, None)),
    (binary(0x20, 0xFF, b"anything"), (None, None)),
    # Without an address that a TCP client has.
    (binary(0x21, 0x00, b""), (None, None)),
    (binary(0x21, 0x12, IPV4), (None, None)),
    (binary(0x21, 0x31, bytes(216)), (None, None)),
    (binary(0x21, 0x11, IPV4 + bytes(MAX_HEADER_BYTES - 28)), NAMED_4),
]

MALFORMED = [
    b"GET / HTTP/1.1\r\n",
    b"\x7e\x01\x00",
    b"proxy TCP4 198.51.100.7 203.0.113.5 40000 5015\r\n",
    b"PROXY\r\n",
    b"PROXY \r\n",
    b"PROXY TCP5 198.51.100.7 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 40000\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 40000 5015 1\r\n",
    b"PROXY TCP4  198.51.100.7 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 40000 5015 \r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 40000 65536\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 040000 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 00 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 -1 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5  5015\r\n",
    b"PROXY TCP4 198.51.100.256 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP4 198.51.100.07 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP4 2001:db8::7 2001:db8:1::5 40000 5015\r\n",
    b"PROXY TCP6 198.51.100.7 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP6 fe80::1%eth0 2001:db8::5 40000 5015\r\n",
    b"PROXY TCP4 198.51.100.\xb2 203.0.113.5 40000 5015\r\n",
    b"PROXY TCP4 198.51.100.7 203.0.113.5 40000 5015\n\r\n",
    b"PROXY UNKNOWN " + b"x" * 92 + b"\r\n",
    b"PROXY " + b"x" * 101,
    SIGNATURE[:-1] + b"\x0b" + bytes(4),
    binary(0x11, 0x11, IPV4),
    binary(0x31, 0x11, IPV4),
    binary(0x22, 0x11, IPV4),
    binary(0x21, 0x41, IPV4),
    binary(0x21, 0x13, IPV4),
    binary(0x21, 0x11, IPV4[:-1]),
    binary(0x21, 0x21, IPV6[:-1]),
    binary(0x21, 0x31, bytes(215)),
    binary(0x21, 0x11, IPV4, length=MAX_HEADER_BYTES - 15),
    binary(0x21, 0x11, IPV4, length=0xFFFF),
]


@pytest.mark.parametrize(("header", "named"), VALID)
def test_a_header_is_read_and_what_follows_is_left(header, named):
    expected = ProxyHeader(len(header), *named)
    assert read_proxy_header(header) == expected
    for following in (b"\x7e", header, b"\r\n", bytes(5000)):
        assert read_proxy_header(header + following) == expected


@pytest.mark.parametrize(("header", "_named"), VALID)
def test_every_part_of_a_header_is_incomplete(header, _named):
    assert {read_proxy_header(header[:size]) for size in range(min(len(header), 600))} == {None}


@pytest.mark.parametrize("data", MALFORMED)
def test_what_is_no_header_is_refused(data):
    with pytest.raises(FrameError):
        read_proxy_header(data)


def test_the_longest_line_is_read():
    line = b"PROXY UNKNOWN " + b"x" * 91 + b"\r\n"
    assert len(line) == 107
    assert read_proxy_header(line) == ProxyHeader(107)


addresses_4 = st.ip_addresses(v=4)
addresses_6 = st.ip_addresses(v=6)
ports = st.integers(0, 65535)


@given(st.one_of(st.tuples(addresses_4, addresses_4), st.tuples(addresses_6, addresses_6)), ports, ports)
def test_what_a_proxy_writes_is_read(addresses, first, second):
    version = addresses[0].version
    client, server = map(str, addresses)
    line = f"PROXY TCP{version} {client} {server} {first} {second}\r\n".encode()
    body = b"".join(address.packed for address in addresses)
    body += first.to_bytes(2, "big") + second.to_bytes(2, "big")
    for header in (line, binary(0x21, 0x11 if version == 4 else 0x21, body)):
        found = read_proxy_header(header + b"rest")
        assert (found.size, ipaddress.ip_address(found.client)) == (len(header), addresses[0])
        assert ipaddress.ip_address(found.server) == addresses[1]


starts = st.sampled_from([b"", b"PROXY ", b"PROXY TCP4 1.2.3.4 ", SIGNATURE, SIGNATURE + b"\x21", *MALFORMED])


@given(starts, st.binary(max_size=200))
def test_hostile_bytes_are_a_header_incomplete_or_refused(start, rest):
    data = start + rest
    try:
        found = read_proxy_header(data)
    except FrameError:
        # What is refused stays so, whatever comes after it.
        with pytest.raises(FrameError):
            read_proxy_header(data + b"\r\n")
        return
    if found is None:
        assert len(data) < MAX_HEADER_BYTES
    else:
        assert found.size <= min(len(data), MAX_HEADER_BYTES)
        assert read_proxy_header(data[: found.size - 1]) is None
