"""Where the servers of a drill run."""

from motorpool.bench.cluster.cluster import places_of


def test_of_more_than_two_servers_the_last_two_are_processes_of_one_machine() -> None:
    assert [places_of(count) for count in (2, 3, 4, 6)] == [(1, 1), (1, 2), (1, 1, 2), (1, 1, 1, 1, 2)]
