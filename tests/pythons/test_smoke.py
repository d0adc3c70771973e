"""What `make test-pythons` tries with other Pythons works with this one."""

from tests.pythons.smoke import try_server


def test_a_server_is_tried_in_short(forks):
    log = try_server(start=forks.start)
    assert log.splitlines()[-1].endswith(": stopped")
