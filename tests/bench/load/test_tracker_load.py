"""Trackers that report as soon as they were answered: what they send, and a server that answers datagrams."""

import socket
import threading

import pytest

from motorpool.bench.load import trackers
from motorpool.bench.load.plan import Mark, TerminalLoad, TerminalResult
from motorpool.bench.load.program import run_program
from motorpool.bench.load.trackers import TrackerMessages
from motorpool.bench.phases.trackers import tracker_ids
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import Login, PositionReport

ACKNOWLEDGED = sorted(name for name, tracker in TRACKERS.items() if tracker.is_acknowledged)


def load(protocol: str, port: int = 0, *, udp: bool = False) -> TerminalLoad:
    return TerminalLoad(
        host="127.0.0.1",
        port=port,
        phones=tracker_ids(protocol, 4, 3),
        mode="saturate",
        seconds=0.3,
        warm_seconds=0.05,
        first_epoch=1_770_000_000,
        protocol=protocol,
        udp=udp,
    )


@pytest.mark.parametrize("protocol", ACKNOWLEDGED)
@pytest.mark.parametrize("udp", [False, True])
def test_each_tracker_sends_messages_of_its_own(protocol: str, udp: bool) -> None:
    if udp and not CODECS[protocol].udp:
        return
    asked = load(protocol, udp=udp)
    messages = TrackerMessages(asked)
    for index, unique_id in enumerate(asked.phones):
        codec = CODECS[protocol]()
        stream = [messages.login(index), *(messages.message(index, number) for number in range(3))]
        receive = codec.receive_datagram if udp else codec.receive
        reports = [report for message in stream if message for report in receive(message)]
        (login,) = (report for report in reports if isinstance(report, Login))
        assert unique_id in login.unique_ids
        positions = [report for report in reports if isinstance(report, PositionReport)]
        times = [(report.fix_time or report.device_time).timestamp() for report in positions]
        assert times == [1_770_000_000, 1_770_000_001, 1_770_000_002]


def test_datagrams_are_answered_or_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first datagram of all is lost."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def answer() -> None:
            server.recv(1000)
            while True:
                _, address = server.recvfrom(1000)
                if address == end:
                    return
                server.sendto(b"answer", address)

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
            ending.bind(("127.0.0.1", 0))
            end = ending.getsockname()
            answering = threading.Thread(target=answer)
            answering.start()
            asked = load("teltonika", server.getsockname()[1], udp=True)
            monkeypatch.setattr(trackers, "RESEND_SECONDS", 0.05)
            running = trackers.Trackers(asked)
            running.connect()
            for index in range(3):
                running.send(index, 0.0)
            while min(running.answered) < 1:
                running.receive(0.1)
            ending.sendto(b"", server.getsockname())
            answering.join()
            running.close()
    assert running.late >= 1


def test_trackers_log_in_first() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve(peer: socket.socket) -> None:
            with peer:
                while peer.recv(1000):
                    peer.send(b"\1")

        def accept() -> None:
            for _ in range(3):
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        marks = []
        with run_program("trackers", load("teltonika", server.getsockname()[1])) as program:
            while not isinstance(message := program.next(30), TerminalResult):
                assert isinstance(message, Mark)
                marks.append(message.name)
        accepting.join()
    assert marks == ["ready", "begin", "end"]
    assert all(message.answered)
    assert message.message_bytes > 50
