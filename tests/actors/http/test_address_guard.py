"""What a name may lead to, and an address."""

from ipaddress import ip_address

import pytest

from motorpool.actors.http import address_guard as guard_module
from motorpool.actors.http.address_guard import AddressGuard, OwnServer, is_own
from motorpool.actors.http.errors import DeliveryRefused, Unreachable


@pytest.mark.parametrize("text", ["127.0.0.1", "192.0.0.192", "168.63.129.16", "2001:db8::1", "fd00::1"])
def test_what_is_not_public_is_not_permitted(text):
    assert not AddressGuard().permits(ip_address(text))


@pytest.mark.parametrize("text", ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700::1"])
def test_addresses_of_the_internet_are_permitted(text):
    assert AddressGuard().permits(ip_address(text))


def test_an_allowed_network_may_be_reached_in_either_form():
    guard = AddressGuard(("10.1.0.0/16", "fd00:1::/32"))
    assert guard.permits(ip_address("10.1.2.3"))
    assert guard.permits(ip_address("::ffff:10.1.2.3"))
    assert guard.permits(ip_address("fd00:1::5"))
    assert guard.permits(ip_address("64:ff9b::10.1.2.3"))
    assert not guard.permits(ip_address("10.2.0.1"))
    assert not guard.permits(ip_address("fd00:2::5"))
    # Tunnels to an allowed address lead through a network that is not.
    assert not guard.permits(ip_address("2002:a01:203::1"))
    assert not guard.permits(ip_address("2606:4700::5efe:10.1.2.3"))


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


WAYS_TO_WRITE_THIS_MACHINE = """
    127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 0 0.0.0.0
    :: ::1 [::1] ::1%lo ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1
    localhost LOCALHOST localhost. localhost\0
    127\u30020\u30020\u30021 \u2460\u2461\u2466.0.0.1 lo\u00adcalhost
"""


@pytest.mark.parametrize("host", WAYS_TO_WRITE_THIS_MACHINE.split())
async def test_no_way_of_writing_this_machine_gets_through(host):
    with pytest.raises((DeliveryRefused, Unreachable)):
        await AddressGuard().resolve(host, 80)


@pytest.mark.parametrize("address", ["fe80::1%2", "::1%1", "fd00::1%2"])
async def test_a_zone_makes_no_address_another_one(names, address):
    names({"zoned.example": [[address]]})
    with pytest.raises(DeliveryRefused):
        await AddressGuard().resolve("zoned.example", 80)
    with pytest.raises(DeliveryRefused):
        AddressGuard().check_host(address)


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
