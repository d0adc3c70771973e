"""Requests that are read without h11 have the same reports and answers as those that it reads."""

from urllib.parse import parse_qs

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from motorpool.codecs.devices import http_codec
from motorpool.codecs.devices.http_codec import MAX_PARAMETERS, parse_parameters
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import PositionReport

TARGETS = [
    "/?id=1&lat=1&lon=2",
    "/",
    "/?id=1&lat=x",
    "/?id=2&secret=a%20b",
    "http://x/?id=1",
    "/?id=1 2",
    "*",
]
METHODS = ["GET", "GET", "GET", "POST", "POST", "HEAD", "get", "PUT"]
VERSIONS = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0"]
HEADERS = [
    "Host: x",
    "User-Agent: OsmAnd",
    "Accept-Encoding:gzip",
    "Connection: keep-alive",
    "Connection: close",
    "Content-Length: 0",
    "Content-Length: 4",
    "Content-Type: application/json",
    "Transfer-Encoding: chunked",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "X-A:",
    "X-A : b",
    "X-A: a\tb",
    "X-A:  b ",
    "X-Ä: ö",
    " continued",
    "no colon",
]
ENDS = ["", "", "", "abcd", "id=1", "0\r\n\r\n", "\r\n"]


@st.composite
def requests(draw):
    lines = [
        " ".join(
            (draw(st.sampled_from(METHODS)), draw(st.sampled_from(TARGETS)), draw(st.sampled_from(VERSIONS)))
        )
    ]
    lines += draw(st.sampled_from([["Host: x"], ["Host: x"], ["Host: x"], []]))
    lines += draw(st.lists(st.sampled_from(HEADERS[1:5] * 2 + HEADERS), max_size=3))
    end = draw(st.sampled_from(["\r\n", "\r\n", "\r\n", "\n"]))
    data = ("\r\n".join(lines) + end + "\r\n" + draw(st.sampled_from(ENDS))).encode("latin-1")
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def exchanged(sent, commands):
    """Return everything that a connection tells and answers."""
    codec, told = OsmAnd(), []
    for data, command in zip(sent, commands, strict=True):
        if command:
            codec.deliver(command)
        try:
            reports = codec.receive(data)
        except CodecError as error:
            return [*told, str(error)]
        told += [repr(reports), codec.buffered, codec.closing]
        receipts = [each.receipt for each in reports if isinstance(each, PositionReport) and each.receipt]
        told.append(
            codec.acknowledge(receipts)
            if command != "refuse"
            else codec.refuse(receipts[0] if receipts else None)
        )
    return [*told, codec.tick(0.0), codec.tick(1000.0), codec.give_up()]


@given(st.lists(st.tuples(requests(), st.sampled_from(["", "", "stop", "refuse"])), min_size=1, max_size=4))
def test_both_ways_tell_and_answer_the_same(pairs):
    sent, commands = zip(*pairs, strict=True)
    event(f"{sum(http_codec._read_plain(data) is not None for data in sent)} of {len(sent)} without h11")
    fast = exchanged(sent, commands)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_codec, "_read_plain", lambda data: None)
        assert fast == exchanged(sent, commands)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("headers", ["", "Connection: Keep-Alive\r\nAccept-Encoding:gzip\r\n"])
def test_what_trackers_send_needs_no_h11(method, headers):
    length = "Content-Length: 0\r\n" if method == "POST" else ""
    data = f"{method} /?id=1&lat=1&lon=2 HTTP/1.1\r\nHost: x:5055\r\n{headers}{length}\r\n".encode()
    assert http_codec._read_plain(data) is not None
    codec = OsmAnd()
    login, position = codec.receive(data)
    assert (login.unique_ids, position.latitude, position.longitude) == (("1",), 1, 2)
    assert codec.acknowledge([position.receipt]).startswith(b"HTTP/1.1 200 OK\r\n")


def test_requests_in_pieces_and_together_are_read_by_h11():
    data = b"GET /?id=1&lat=1&lon=2 HTTP/1.1\r\nHost: x\r\n\r\n"
    codec = OsmAnd()
    assert codec.receive(data[:20]) == []
    assert [type(each).__name__ for each in codec.receive(data[20:])] == ["Login", "PositionReport"]
    assert [type(each).__name__ for each in codec.receive(data + data)] == ["PositionReport"] * 2
    assert codec.acknowledge([1, 2, 3]).count(b"200 OK") == 3
    assert [type(each).__name__ for each in codec.receive(data)] == ["PositionReport"]


@given(
    st.lists(
        st.sampled_from(["a", "b=", "=c", "a=1", "a=2=3", "", "a%20b=%C3%A9", "x+y=1+2", "é=é", ";", "a=%zz"])
    )
)
def test_parameters_are_parsed_as_the_library_parses_them(parts):
    query = "&".join(parts)
    assert parse_parameters(query) == parse_qs(query, keep_blank_values=True)


@pytest.mark.parametrize("value", ["1", "%31"])
def test_too_many_parameters_are_refused(value):
    assert len(parse_parameters("&".join(f"a{n}={value}" for n in range(MAX_PARAMETERS)))) == MAX_PARAMETERS
    with pytest.raises(ValueError, match=r"."):
        parse_parameters("&".join(f"a{n}={value}" for n in range(MAX_PARAMETERS + 1)))
