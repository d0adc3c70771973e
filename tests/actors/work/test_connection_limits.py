import pytest

from motorpool.actors.work.connection_limits import ConnectionLimits, MemoryBudget, client_network


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_an_ipv6_client_is_its_network(address, network):
    assert client_network(address) == network


def test_a_client_gets_so_many_connections_and_a_closed_one_makes_room():
    limits = ConnectionLimits(total=10, per_client=2)
    assert limits.admit("2001:db8::1") == limits.admit("2001:db8::2") == ""
    assert limits.admit("2001:db8::3") == "2001:db8::/64 has 2 open"
    assert limits.admit("2001:db8:0:1::3") == ""
    limits.release("2001:db8::1")
    assert limits.admit("2001:db8::3") == ""
    assert (limits.open, limits.count("2001:db8::9")) == (3, 2)


def test_the_last_places_are_for_clients_that_have_hardly_any():
    limits = ConnectionLimits(total=10, per_client=9, reserve=3)
    refused = [limits.admit("10.0.0.1") for _ in range(9)]
    assert refused[:7] == [""] * 7
    assert refused[7:] == ["7 are open in all"] * 2
    assert [limits.admit("10.0.0.2") for _ in range(3)] == ["", "", "9 are open in all"]
    assert [limits.admit("10.0.0.3") for _ in range(2)] == ["", "10 are open in all"]


def test_connections_of_a_proxy_count_in_all_only():
    limits = ConnectionLimits(total=5, per_client=1, reserve=2)
    assert [limits.admit("10.0.0.1", is_shared=True) for _ in range(6)] == [""] * 5 + ["5 are open in all"]
    for _ in range(5):
        limits.release("10.0.0.1")
    assert (limits.open, limits.count("10.0.0.1")) == (0, 0)


def test_memory_is_bounded_for_a_client_and_in_all():
    budget = MemoryBudget(total=100, per_client=60)
    assert budget.take("10.0.0.1", 60)
    assert not budget.take("10.0.0.1", 1)
    assert not budget.take("10.0.0.2", 41)
    assert budget.take("10.0.0.2", 40)
    assert budget.held == 100
    assert not budget.take("10.0.0.3", 1)
    assert budget.take("10.0.0.1", -60)
    assert budget.take("10.0.0.2", -40)
    assert budget.held == 0
    assert not budget._held
