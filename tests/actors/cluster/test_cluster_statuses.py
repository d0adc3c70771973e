"""The status of a device at several servers."""

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.cluster.cluster_statuses import ClusterStatuses

HERE, OTHERS = 1, (2, 3)
STATUSES = st.sampled_from(["online", "unknown", "offline"])


def test_a_device_that_moves_is_online_all_the_time():
    table = ClusterStatuses()
    assert table.set_here(7, "online") == "online"
    assert table.set_remote(7, 2, "online") == "online"
    assert table.is_online(7)
    assert table.set_here(7, "offline") == "online"
    # Of the server that has lost it nothing is shown, in whatever order it arrives.
    assert table.set_remote(7, 3, "offline") is None
    assert table.set_remote(7, 2, "offline") == "offline"
    assert not table.is_online(7)


def test_what_a_dead_server_said_is_forgotten():
    table = ClusterStatuses()
    table.set_here(7, "unknown")
    for device_id in (7, 8):
        table.set_remote(device_id, 2, "online")
    table.set_remote(9, 3, "online")
    assert table.keep(frozenset({1, 2, 3})) == {}
    assert table.keep(frozenset({1, 3})) == {7: "unknown", 8: "offline"}
    assert table.is_online(9)
    # A server that joined while those that live were read, and one that died before it was seen.
    table.set_remote(8, 4, "online")
    assert table.keep(frozenset({1, 3})) == {}
    assert table.keep(frozenset({1, 3, 4})) == {}
    table.set_remote(8, 5, "online")
    assert table.keep(frozenset({1, 3, 4})) == {}
    assert table.keep(frozenset({1, 3, 4})) == {8: "offline"}


@given(st.lists(st.tuples(st.sampled_from([HERE, *OTHERS]), STATUSES), max_size=30))
def test_what_is_shown_is_online_if_this_server_or_the_last_one_that_had_it_says_so(said):
    table = ClusterStatuses()
    shown, here, owner, remote = "offline", "offline", None, "offline"
    for server, status in said:
        if server == HERE:
            here = status
            shown = table.set_here(7, status)
        else:
            # The last one that had it online keeps it until it says otherwise.
            is_ignored = remote == "online" and status != "online" and server != owner
            if not is_ignored:
                owner, remote = server, status
            answer = table.set_remote(7, server, status)
            assert (answer is None) == is_ignored
            shown = shown if answer is None else answer
        assert (shown == "online") == ("online" in (here, remote))
        assert table.is_online(7) == (remote == "online")
    if said:
        assert table.keep(frozenset({HERE})) in ({}, {7: here})
