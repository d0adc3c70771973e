"""Bad input on each device port costs its own connection and nothing else."""

import random
import socket
import time
from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location

PORTS = {"jt808": 5015, "osmand": 5055, "live": 5263, "playback": 5363}
NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def strict_server(start_server):
    """A server with little patience."""
    with start_server(
        {
            "MOTORPOOL_DEVICE_LOGIN_SECONDS": "2",
            "MOTORPOOL_DEVICE_IDLE_SECONDS": "5",
            "MOTORPOOL_DEVICE_CONNECTIONS_PER_ADDRESS": "20",
        }
    ) as running:
        yield running


def connect(server, name):
    return socket.create_connection((server.host, PORTS[name] + server.offset), timeout=40)


def is_closed_within(peer, seconds):
    """Whether the server ends the connection, whatever it says before."""
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            peer.settimeout(max(0.05, deadline - time.monotonic()))
            if not peer.recv(65536):
                return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return False


def serves(server, connected, phone):
    """A well-behaved terminal is served as ever."""
    with connected(server, phone) as peer:
        serial = peer.terminal.serial
        peer.send(peer.terminal.location(encode_location(1, 2, NOON)))
        answer = peer.messages(
            lambda message: isinstance(message, GeneralResponse) and message.answered_serial == serial
        )
        return answer[-1].result == 0


@pytest.mark.parametrize("name", PORTS)
def test_random_bytes_end_at_most_their_own_connection(strict_server, connected, name):
    noise = random.Random(name)
    for _ in range(5):
        with connect(strict_server, name) as peer:
            try:
                for _ in range(20):
                    peer.sendall(noise.randbytes(20_000))
            except ConnectionError:
                continue
    assert serves(strict_server, connected, "13911110001")


def test_a_peer_that_never_says_who_it_is_is_closed(strict_server):
    peers = {name: connect(strict_server, name) for name in PORTS}
    still_open = [name for name, peer in peers.items() if not is_closed_within(peer, 40)]
    for peer in peers.values():
        peer.close()
    assert still_open == []


def test_a_slow_loris_is_closed_although_it_keeps_sending(strict_server):
    beginnings = {
        "jt808": b"~\x02\x00\x00\x28",
        "osmand": b"GET /?id=1 HTTP/1.1\r\nX-Slow: ",
        "live": b"01cd\x81\xe2",
        "playback": b"01cd\x81\xe2",
    }
    peers = {name: connect(strict_server, name) for name in PORTS}
    for name, peer in peers.items():
        peer.sendall(beginnings[name])
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and peers:
        for name, peer in list(peers.items()):
            try:
                peer.sendall(b"a")
            except ConnectionError:
                peers.pop(name).close()
                continue
            if is_closed_within(peer, 0.1):
                peers.pop(name).close()
    assert not peers


def test_half_frames_wrong_checksums_and_wrong_lengths_are_dropped_and_the_connection_goes_on(
    strict_server, connected
):
    with connected(strict_server, "13911110002") as peer:
        good = peer.terminal.location(encode_location(1, 2, NOON))
        wrong_check = good[:-2] + bytes((good[-2] ^ 0x01,)) + good[-1:]
        wrong_length = good[:3] + bytes((good[3] ^ 0x03,)) + good[4:]
        peer.send(good[: len(good) // 2] + b"~" + wrong_check + wrong_length + b"\x7e\x7e\x7d\x7e")
        serial = peer.terminal.serial
        peer.send(peer.terminal.location(encode_location(1, 3, NOON)))
        seen = peer.messages(
            lambda message: isinstance(message, GeneralResponse) and message.answered_serial == serial
        )
        assert seen[-1].result == 0


def test_an_identified_terminal_that_babbles_without_a_whole_message_is_closed(strict_server, connected):
    with connected(strict_server, "13911110003") as peer:
        closed = False
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and not closed:
            try:
                peer.send(b"~" + b"\x02\x00" * 40)
            except ConnectionError:
                closed = True
            closed = closed or is_closed_within(peer.socket, 1.0)
        assert closed


def test_one_address_gets_no_more_connections_than_the_setting_says(strict_server, connected, eventually):
    peers = [connect(strict_server, "jt808") for _ in range(20)]
    try:
        with connect(strict_server, "jt808") as one_more:
            assert is_closed_within(one_more, 40)
    finally:
        for peer in peers:
            peer.close()
    eventually(lambda: accepts(strict_server, connected))


def accepts(server, connected):
    try:
        return serves(server, connected, "13911110004")
    except (AssertionError, OSError):
        return False


def test_media_of_an_unknown_sim_is_closed(strict_server):
    with connect(strict_server, "live") as peer:
        # Section 6's worked example: a real packet, of nobody we know.
        head = bytes.fromhex("3031636481e20076000008664960775821640110" + "0000000001c71cd5074a00210067")
        peer.sendall((head + b"\0\0\0\1\x21" + bytes(98)) * 3)
        assert is_closed_within(peer, 40)


def test_a_terminal_that_stops_reading_does_not_hold_memory(strict_server, connected):
    """Its answers pile up only to the limit, then it is closed; others are served meanwhile."""
    terminal = Terminal("13911110005")
    with connect(strict_server, "jt808") as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        frame = terminal.heartbeat()
        peer.sendall(terminal.register())
        peer.settimeout(1.0)
        try:
            for _ in range(400):
                peer.sendall(frame * 500)
        except (TimeoutError, ConnectionError):
            pass
        assert serves(strict_server, connected, "13911110006")
