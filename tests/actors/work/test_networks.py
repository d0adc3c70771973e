import pytest

from motorpool.actors.work.networks import Networks

NETWORKS = Networks(("10.0.0.0/8", "2001:db8::/32", "fe80::/10", "::1"))


@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "fe80::1%eth0", "::1"])
def test_networks_hold_addresses_of_either_version_as_sockets_have_them(address):
    assert address in NETWORKS


@pytest.mark.parametrize("text", ["11.0.0.1", "::ffff:11.0.0.1", "2001:db9::1", "unix:", "unknown", ""])
def test_other_addresses_and_what_is_no_address_are_outside(text):
    assert text not in NETWORKS


def test_without_networks_every_address_is_outside():
    assert NETWORKS
    assert not Networks()
    assert "127.0.0.1" not in Networks()
    assert "unix:" not in Networks(("0.0.0.0/0",))


def test_what_is_no_network_is_refused():
    with pytest.raises(ValueError, match=r"10\.0\.0\.0/40"):
        Networks(("10.0.0.0/40",))
