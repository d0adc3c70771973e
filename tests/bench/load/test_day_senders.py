"""Days that are sent to a server that fits in a test: its own codecs behind real sockets."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
import trio

from motorpool.bench.load import day_senders
from motorpool.bench.load.day_senders import ReportsRefused, send_by_jt808, send_by_osmand
from motorpool.bench.roads import CALM, Report, make_day
from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.reports import Login, PositionReport

PHONE = "100000000001"
Send = Callable[[str, int, str, Sequence[Report]], Any]


class Listener:
    """Acknowledges what it receives; what it does besides is for the test to say."""

    def __init__(
        self,
        new_codec: Callable[[], DeviceCodec],
        *,
        refuses: bool = False,
        is_silent: bool = False,
        closes_after: int | None = None,
    ) -> None:
        self.positions: list[PositionReport] = []
        self.logins: list[Login] = []
        self.connections = 0
        self.most_at_once = 0
        self._new_codec = new_codec
        self._refuses = refuses
        self._is_silent = is_silent
        self._closes_after = closes_after

    async def serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        codec, received = self._new_codec(), 0
        with suppress(trio.BrokenResourceError):
            while content := await stream.receive_some(65_536):
                reports = codec.receive(content)
                positions = [report for report in reports if isinstance(report, PositionReport)]
                self.positions += positions
                received += len(positions)
                self.most_at_once = max(self.most_at_once, len(positions))
                self.logins += [report for report in reports if isinstance(report, Login)]
                for report in reports:
                    receipt = getattr(report, "receipt", None)
                    if receipt is not None and not (self._is_silent and positions):
                        refuses = self._refuses and positions
                        await stream.send_all(
                            codec.refuse(receipt) if refuses else codec.acknowledge([receipt])
                        )
                if self._closes_after is not None and received >= self._closes_after:
                    return


async def sent(listener: Listener, send: Send, reports: Sequence[Report]) -> None:
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, listener.serve, 0)
        port = listeners[0].socket.getsockname()[1]
        failure = None
        try:
            await send("127.0.0.1", port, PHONE, reports)
        except ReportsRefused as error:
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


def reports_of(**overrides: object) -> tuple[Report, ...]:
    """A day with an outage, sent newest first."""
    asked = {"outages": 2.0, "send_order": "newest", "interval_seconds": 60, "parked_seconds": 300}
    return make_day("van", 2, **CALM | asked | overrides).reports


@pytest.mark.parametrize(("codec", "send"), [(Jt808, send_by_jt808), (OsmAnd, send_by_osmand)])
async def test_a_day_arrives_in_the_order_in_which_it_was_sent(codec: type[DeviceCodec], send: Send) -> None:
    reports = reports_of()
    assert [report.fix_time for report in reports] != sorted(report.fix_time for report in reports)
    listener = Listener(codec)
    await sent(listener, send, reports)
    assert [position.device_time for position in listener.positions] == [
        report.fix_time for report in reports
    ]
    archived = [position.attributes.get("archive", False) for position in listener.positions]
    assert archived == [report.archived for report in reports]
    assert listener.connections == 1
    assert listener.logins[0].unique_ids[0] == PHONE


async def test_a_terminal_does_not_wait_for_each_answer_but_for_the_last() -> None:
    listener = Listener(Jt808)
    await sent(listener, send_by_jt808, reports_of(outages=0.0))
    assert 1 < listener.most_at_once <= day_senders.WINDOW


async def test_requests_go_on_on_another_connection_when_one_is_closed() -> None:
    listener, reports = Listener(OsmAnd, closes_after=20), reports_of(outages=0.0)
    await sent(listener, send_by_osmand, reports)
    assert [position.device_time for position in listener.positions] == [
        report.fix_time for report in reports
    ]
    assert listener.connections == -(-len(reports) // 20)


@pytest.mark.parametrize(("codec", "send"), [(Jt808, send_by_jt808), (OsmAnd, send_by_osmand)])
async def test_a_server_that_refuses_reports(codec: type[DeviceCodec], send: Send) -> None:
    with pytest.raises(ReportsRefused, match=r"a location is refused with 1|a report is answered with 4\d\d"):
        await sent(Listener(codec, refuses=True), send, reports_of())


@pytest.mark.parametrize(("codec", "send"), [(Jt808, send_by_jt808), (OsmAnd, send_by_osmand)])
async def test_a_server_that_does_not_answer(
    codec: type[DeviceCodec], send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_senders, "ANSWER_SECONDS", 0.2)
    with pytest.raises(ReportsRefused, match=r"127\.0\.0\.1:.*TooSlowError"):
        await sent(Listener(codec, is_silent=True), send, reports_of())


@pytest.mark.parametrize("send", [send_by_jt808, send_by_osmand])
async def test_a_server_that_closes_without_an_answer(send: Send) -> None:
    async def close(_: trio.SocketStream) -> None:
        pass

    listener = Listener(OsmAnd)
    listener.serve = close  # type: ignore[method-assign]
    with pytest.raises(ReportsRefused, match="the server closed the connection"):
        await sent(listener, send, reports_of())


@pytest.mark.parametrize("send", [send_by_jt808, send_by_osmand])
async def test_a_server_that_is_not_there(send: Send) -> None:
    with trio.socket.socket() as unused:
        await unused.bind(("127.0.0.1", 0))
        with pytest.raises(ReportsRefused, match=r"127\.0\.0\.1"):
            await send("127.0.0.1", unused.getsockname()[1], PHONE, reports_of())
