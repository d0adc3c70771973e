import logging

import pytest

from motorpool.actors.gateway.peer_log import LINES_IN_ALL, LINES_OF_CLIENT, MAX_CLIENTS, PeerLog

LOG = logging.getLogger("motorpool.test")


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


def test_of_each_address_the_first_lines_are_written_and_then_a_count(lines, caplog):
    log = PeerLog()
    for number in range(1000):
        log.write(LOG, logging.INFO, number / 100, "203.0.113.7", "frame %d", number)
    assert lines() == [f"frame {number}" for number in range(LINES_OF_CLIENT)]
    log.write(LOG, logging.WARNING, 30.0, "203.0.113.8", "another")
    assert lines()[-1] == "another"
    log.write(LOG, logging.INFO, 61.0, "203.0.113.9", "later")
    assert lines()[-2:] == ["left out 990 more log lines about 203.0.113.7", "later"]
    assert caplog.records[-2].levelno == logging.INFO
    log.write(LOG, logging.INFO, 62.0, "203.0.113.7", "again")
    assert lines()[-1] == "again"


def test_a_count_is_as_severe_as_what_was_left_out(lines, caplog):
    log = PeerLog()
    for number in range(LINES_OF_CLIENT + 2):
        level = logging.WARNING if number == LINES_OF_CLIENT else logging.INFO
        log.write(LOG, level, 0.0, "203.0.113.7", "frame %d", number)
    log.write(LOG, logging.INFO, 61.0, "203.0.113.8", "later")
    assert lines()[-2] == "left out 2 more log lines about 203.0.113.7"
    assert caplog.records[-2].levelno == logging.WARNING


def test_addresses_of_one_ipv6_network_share_their_lines(lines):
    log = PeerLog()
    for number in range(1000):
        log.write(LOG, logging.INFO, 0.0, f"2001:db8::{number:x}", "frame")
    assert len(lines()) == LINES_OF_CLIENT


def test_all_together_are_bounded_however_many_they_are(lines):
    log = PeerLog()
    for number in range(10_000):
        log.write(LOG, logging.INFO, 0.0, f"10.0.{number >> 8}.{number & 255}", "frame")
    assert len(lines()) == LINES_IN_ALL
    assert len(log._windows) <= MAX_CLIENTS + 1
