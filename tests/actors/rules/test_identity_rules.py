"""Who may report as a device, as attributes say it."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.identity_rules import (
    DEFAULTS,
    IdentityRules,
    digest,
    is_same,
    parse_networks,
    read_identity_rules,
)
from motorpool.codecs.reports import Secret

ADDRESSES = st.ip_addresses().map(str)


def test_layers_without_a_key_give_those_of_all():
    assert read_identity_rules([]) is DEFAULTS
    assert (
        read_identity_rules([{"speedLimit": 3, "device.secret": ""}, {"device.networks": None}]) is DEFAULTS
    )
    assert read_identity_rules([], "none") == IdentityRules("none")


def test_each_key_is_taken_from_the_first_layer_that_has_it():
    device = {"device.protocols": "jt808, OsmAnd ,", "device.binding": "Registration", "device.secret": 7}
    group = {"device.protocols": "gt06", "device.networks": "10.0.0.0/8,2001:db8::/32"}
    server = {"device.secret": " long enough ", "device.binding": "none"}
    found = read_identity_rules([device, group, server], "none")
    assert found.binding == "registration"
    assert found.protocols == {"jt808", "osmand"}
    assert found.networks == parse_networks("2001:db8::/32, 10.0.0.0/8")[::-1]
    assert found.secret == Secret("long enough")


def test_what_cannot_be_read_lets_nobody_in():
    found = read_identity_rules([{"device.networks": "10.0.0.0/33", "device.binding": "by name"}])
    assert found.binding == "protocol"
    assert not found.permits_host("10.0.0.1")


@given(
    address=ADDRESSES, networks=st.lists(st.ip_addresses(), min_size=1, max_size=5), bits=st.integers(0, 32)
)
def test_addresses_lie_in_networks_as_python_says(address, networks, bits):
    text = ", ".join(f"{each}/{bits}" for each in networks)
    found = read_identity_rules([{"device.networks": text}])
    plain = ipaddress.ip_address(address)
    if isinstance(plain, ipaddress.IPv6Address) and plain.ipv4_mapped is not None:
        plain = plain.ipv4_mapped
    expected = any(plain in ipaddress.ip_network(f"{each}/{bits}", strict=False) for each in networks)
    assert found.permits_host(address) == expected


@pytest.mark.parametrize(
    ("host", "is_in"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("fe80::1%eth0", True),
        ("11.1.2.3", False),
        ("", False),
        ("a name", False),
    ],
)
def test_addresses_are_those_of_sockets(host, is_in):
    assert read_identity_rules([{"device.networks": "10.0.0.0/8, fe80::/10"}]).permits_host(host) is is_in


def test_a_secret_is_compared_whole_and_never_shown():
    secret = Secret("päss word")
    assert is_same(Secret("päss word"), secret)
    assert not is_same(Secret("päss"), secret)
    assert not is_same(None, secret)
    assert digest(secret) != digest(Secret("päss"))
    assert "päss" not in f"{secret!r} {secret} {[IdentityRules(secret=secret)]}"
