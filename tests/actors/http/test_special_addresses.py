"""Which addresses belong to anybody on the internet, by the registries of IANA."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from motorpool.actors.http.special_addresses import is_public, reached

# Copied by hand from the registries, entries within others too, in their order.
IPV4_REGISTRY = """
    0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
    198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32
"""
IPV6_REGISTRY = """
    ::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128
    2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
    2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10
"""
EMBEDDING = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""The entries of the registry that stand for IPv4 addresses, which are looked at."""
MULTICAST = "224.0.0.0/4 ff00::/8"
NOT_UNICAST = """
    ::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/2 8000::/2 c000::/3 e000::/4 f000::/5 f800::/6
    fec0::/10
"""
"""Reserved by IETF: in no registry of special purposes, and assigned to nobody."""
CLOUDS = """
    169.254.169.254 169.254.170.2 169.254.170.23 fd00:ec2::254 fd20:ce::254 100.100.100.200 192.0.0.192
    168.63.129.16 169.254.0.23 fe80::a9fe:a9fe
"""
"""Where virtual machines get their settings and keys from: most clouds, AWS (3), Google, Alibaba, Oracle, the
host of a machine at Azure, Tencent; link-local over IPv6."""
RANGES = [
    ip_network(text)
    for text in f"{IPV4_REGISTRY} {IPV6_REGISTRY} {MULTICAST} {NOT_UNICAST} 168.63.129.16/32".split()
]
IPV4_RANGES = [each for each in RANGES if isinstance(each, IPv4Network)]
PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0
    192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255
    192.169.0.0 192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0
    203.0.112.255 203.0.114.0 223.255.255.255
    2001:200:: 2001:db7:ffff::1 2001:db9::1 2001:4860:4860::8888 2003::1 2400:cb00::1 2606:4700::1
    2620:4f:7fff::1 2620:4f:8001::1 2a00:1450:4001::1 2c0f:fb50::1 3fff:1000::1
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2606:4700::5efe:8.8.8.8 2606:4700::200:5efe:8.8.8.8
    2606:4700::5eff:10.0.0.1
"""


def ipv6(prefix, number):
    return IPv6Address(int(IPv6Address(prefix)) + number)


FORMS = {
    "mapped": lambda number: ipv6("::ffff:0:0", number),
    "NAT64": lambda number: ipv6("64:ff9b::", number),
    "NAT64 of one's own": lambda number: ipv6("64:ff9b:1::", number),
    "compatible": lambda number: ipv6("::", number),
    "translated": lambda number: ipv6("::ffff:0:0:0", number),
    "6to4": lambda number: ipv6("2002::", number << 80),
    "Teredo server": lambda number: ipv6("2001::", number << 64),
    "Teredo client": lambda number: ipv6("2001::", number ^ 0xFFFF_FFFF),
    "ISATAP": lambda number: ipv6("2606:4700::5efe:0:0", number),
    "ISATAP, universal": lambda number: ipv6("2a00:1450:4001:80b:200:5efe:0:0", number),
    "ISATAP, group": lambda number: ipv6("2606:4700::300:5efe:0:0", number),
}
"""The address with the number of an IPv4 address in it."""
ONLY_INNER_COUNTS = ("mapped", "NAT64", "ISATAP", "ISATAP, universal", "ISATAP, group")


def addresses_in(networks):
    def within(network):
        numbers = st.integers(int(network[0]), int(network[-1]))
        return numbers.map(type(network[0]))

    return st.sampled_from(networks).flatmap(within)


@pytest.mark.parametrize("network", RANGES, ids=str)
def test_no_range_of_the_registries_is_public(network):
    assert not is_public(network[0])
    assert not is_public(network[-1])


@given(addresses_in(RANGES))
def test_no_address_of_a_range_is_public(address):
    assume(not any(address in network for network in EMBEDDING))
    assert not is_public(address)


@given(addresses_in(IPV4_RANGES), st.sampled_from(sorted(FORMS)))
def test_no_ipv4_address_of_a_range_is_public_in_any_form(address, form):
    assert not is_public(FORMS[form](int(address)))


@pytest.mark.parametrize("text", CLOUDS.split())
def test_what_clouds_serve_to_their_machines_is_not_public(text):
    address = ip_address(text)
    assert not is_public(address)
    if isinstance(address, IPv4Address):
        assert not any(is_public(form(int(address))) for form in FORMS.values())


@pytest.mark.parametrize("text", PUBLIC.split())
def test_addresses_of_the_internet_are_public(text):
    assert is_public(ip_address(text))


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(FORMS)))
def test_an_ipv4_address_in_another_form_is_as_public_as_it_is_or_never(number, form):
    plain = IPv4Address(number)
    expected = not any(plain in network for network in IPV4_RANGES)
    assert is_public(plain) is expected
    assert is_public(FORMS[form](number)) is (expected and form in ONLY_INNER_COUNTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8.8.8.8", ["8.8.8.8"]),
        ("2606:4700::1", ["2606:4700::1"]),
        ("::ffff:10.0.0.1", ["10.0.0.1"]),
        ("64:ff9b::10.0.0.1", ["10.0.0.1"]),
        ("2606:4700::5efe:10.0.0.1", ["2606:4700::5efe:a00:1", "10.0.0.1"]),
        ("2002:a00:1::1", ["2002:a00:1::1"]),
    ],
)
def test_what_a_connection_to_an_address_reaches(text, expected):
    assert [str(each) for each in reached(ip_address(text))] == expected
