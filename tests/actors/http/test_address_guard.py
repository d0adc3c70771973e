"""What is public, and what a name may lead to."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.http import address_guard as guard_module
from motorpool.actors.http.address_guard import AddressGuard, OwnServer, is_own, is_public
from motorpool.actors.http.errors import DeliveryRefused, Unreachable

PRIVATE = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 fc00::1 fd12:3456::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 2001:db8::1 100::1 64:ff9b:1::1
    ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:0 ::127.0.0.1 2002:7f00:1:: 2002:a00:1::1 64:ff9b::7f00:1
    64:ff9b::a9fe:a9fe
"""
PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.0.1
    193.0.0.1 223.255.255.1 2a00:1450:4001::1 2606:4700::1 ::ffff:8.8.8.8 64:ff9b::808:808
"""


@pytest.mark.parametrize("text", PRIVATE.split())
def test_private_local_and_reserved_addresses_are_not_public(text):
    assert not is_public(ip_address(text))
    assert not AddressGuard().permits(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.split())
def test_addresses_of_the_internet_are_public(text):
    assert is_public(ip_address(text))
    assert AddressGuard().permits(ip_address(text))


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_counts_the_same_in_every_ipv6_form(number):
    plain = IPv4Address(number)
    mapped = IPv6Address(f"::ffff:{plain}")
    translated = IPv6Address(int(IPv6Address("64:ff9b::")) + number)
    assert is_public(mapped) == is_public(translated) == is_public(plain)


def test_an_allowed_network_may_be_reached_in_either_form():
    guard = AddressGuard(("10.1.0.0/16", "fd00:1::/32"))
    assert guard.permits(ip_address("10.1.2.3"))
    assert guard.permits(ip_address("::ffff:10.1.2.3"))
    assert guard.permits(ip_address("fd00:1::5"))
    assert not guard.permits(ip_address("10.2.0.1"))
    assert not guard.permits(ip_address("fd00:2::5"))


async def test_of_a_names_addresses_only_those_that_may_be_reached_are_left(names):
    names({"mixed.example": [["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1"]]})
    assert await AddressGuard().resolve("mixed.example", 443) == ("8.8.8.8", "2606:4700::1")


async def test_a_name_in_a_private_network_is_refused_by_name_and_not_by_address(names):
    names({"inside.example": [["10.0.0.1"]]})
    with pytest.raises(DeliveryRefused) as caught:
        await AddressGuard().resolve("inside.example", 80)
    assert "inside.example" in str(caught.value)
    assert "10.0.0.1" not in str(caught.value)
    assert caught.value.permanent


async def test_what_the_operator_names_may_be_anywhere(names):
    names({"modem.example": [["192.168.1.2"]]})
    assert await AddressGuard().resolve("modem.example", 80, trusted=True) == ("192.168.1.2",)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "::1", "[::1]", "localhost"]
)
async def test_no_way_of_writing_this_machine_gets_through(host):
    with pytest.raises((DeliveryRefused, Unreachable)):
        await AddressGuard().resolve(host, 80)


async def test_an_unknown_name_is_unreachable(names):
    names({})
    with pytest.raises(Unreachable, match=r"nowhere\.example has no address"):
        await AddressGuard().resolve("nowhere.example", 80)


def test_public_addresses_of_this_machine_are_not_reached(monkeypatch):
    # Addresses of this machine that everybody may reach, as on a server in a data centre.
    monkeypatch.setattr(guard_module, "is_public", lambda _: True)
    guard = AddressGuard(("127.0.0.2/32",))
    for own in ("127.0.0.1", "::ffff:127.0.0.1", "127.0.0.3"):
        assert is_own(ip_address(own))
        assert not guard.permits(ip_address(own))
    assert guard.permits(ip_address("127.0.0.2"))
    for other in ("8.8.8.8", "2606:4700::1"):
        assert guard.permits(ip_address(other))


def test_where_any_address_can_be_bound_to_none_is_taken_for_ones_own(monkeypatch):
    monkeypatch.setattr(guard_module, "_binds", lambda _: True)
    assert not is_own(ip_address("8.8.8.8"))
    assert AddressGuard().permits(ip_address("8.8.8.8"))


async def test_the_server_as_seen_from_outside_is_not_reached(names):
    names({"fleet.example": [["8.8.8.8"]] * 9, "hook.example": [["::ffff:8.8.8.8", "8.8.4.4"]] * 9})
    own = OwnServer(("fleet.example", "unknown.example"), frozenset({443}))
    guard = AddressGuard((), own)
    assert await guard.resolve("hook.example", 443) == ("8.8.4.4",)
    with pytest.raises(DeliveryRefused, match="is this server"):
        await guard.resolve("fleet.example", 443)
    # Another service at the same public address is none of ours.
    assert await guard.resolve("fleet.example", 8443) == ("8.8.8.8",)
    assert await guard.resolve("fleet.example", 443, trusted=True) == ("8.8.8.8",)
    allowed = AddressGuard(("8.8.8.8/32",), own)
    assert await allowed.resolve("fleet.example", 443) == ("8.8.8.8",)
