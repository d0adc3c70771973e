import pytest

from motorpool.codecs.devices.http_codec import ANSWER_SECONDS, MAX_BODY_BYTES, MAX_HEAD_BYTES
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    PositionReport,
    Secret,
)

OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 0\r\n\r\n"


def get(query="id=1&lat=1&lon=2", *headers, method="GET", version="1.1"):
    lines = [f"{method} /?{query} HTTP/{version}", "Host: x", *headers, "", ""]
    return "\r\n".join(lines).encode()


def post(body, *headers, method="POST"):
    return (
        "\r\n".join(
            [f"{method} / HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
        ).encode()
        + body
    )


def status(answer):
    return int(answer.split(b" ")[1])


def kinds(reports):
    return [type(report) for report in reports]


@pytest.fixture
def codec():
    return OsmAnd()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("id=1", None),
        ("id=1&secret=a%20b%26c", "a b&c"),
        ("secret=&id=1", ""),
        ("id=1&secret=one&secret=two", "one"),
        ("id=1&mysecret=x", None),
    ],
)
@pytest.mark.parametrize("is_form", [False, True])
def test_the_secret_is_read_and_is_no_attribute(codec, query, expected, is_form):
    login, position = codec.receive(post(query.encode()) if is_form else get(query))
    assert login.secret == (None if expected is None else Secret(expected))
    assert "secret" not in position.attributes


def test_each_secret_is_a_login_of_its_own(codec):
    kinds_of = [
        kinds(codec.receive(get(f"id={unique_id}&secret={secret}")))
        for unique_id, secret in ("1a", "1a", "1b", "2b", "2b")
    ]
    assert [Login in each for each in kinds_of] == [True, False, True, True, False]


@pytest.mark.parametrize(
    "bytes_sent",
    [get("id=1&secret=hidden&lat=x&lon=1"), get("secret=hidden"), b"GET /?secret=hidden&id=1 HTTX\r\n\r\n"],
)
def test_a_request_that_is_refused_is_shown_without_its_secret(codec, bytes_sent):
    (rejected,) = (each for each in codec.receive(bytes_sent) if isinstance(each, FrameRejected))
    assert b"hidden" not in rejected.frame
    assert "hidden" not in str(rejected.error)


def test_a_position_is_answered_when_it_is_stored(codec):
    login, position = codec.receive(get())
    assert (login.unique_ids, login.receipt) == (("1",), None)
    assert codec.acknowledge([position.receipt]) == OK
    assert codec.acknowledge([position.receipt]) == b""
    assert not codec.closing


def test_the_connection_is_kept_and_the_login_reported_once(codec):
    for number in range(5):
        reports = codec.receive(get())
        assert kinds(reports) == [Login, PositionReport][number > 0 :]
        assert codec.acknowledge([reports[-1].receipt]) == OK


def test_another_id_is_another_login(codec):
    codec.receive(get("id=1"))
    assert kinds(codec.receive(get("id=2"))) == [Login, PositionReport]


def test_an_unknown_device_is_refused_and_identified_again(codec):
    login, position = codec.receive(get())
    assert codec.refuse(login.receipt) == b""
    assert status(codec.refuse(position.receipt)) == 400
    assert kinds(codec.receive(get())) == [Login, PositionReport]


def test_an_unknown_device_is_refused_with_404_in_json(codec):
    _, position = codec.receive(post(b'{"device_id":"1","location":{}}', "Content-Type: application/json"))
    assert status(codec.refuse(position.receipt)) == 404


def test_what_cannot_be_served_now_is_answered_with_503_and_when_to_come_again(codec):
    _, first, second = codec.receive(get() + get())
    answers = codec.give_up()
    assert answers.count(b"HTTP/1.1 503 Service Unavailable\r\n") == 2
    assert answers.count(b"retry-after: 5\r\n") == 2
    # What is stored after all was answered already.
    assert codec.acknowledge([first.receipt, second.receipt]) == b""
    assert codec.give_up() == b""


def test_a_request_that_waits_too_long_to_be_stored_is_answered_with_503(codec):
    _, position = codec.receive(get())
    assert codec.tick(100.0) == b""
    (later,) = codec.receive(get())
    assert codec.tick(100.0 + ANSWER_SECONDS - 0.1) == b""
    assert status(codec.tick(100.0 + ANSWER_SECONDS)) == 503
    assert codec.acknowledge([position.receipt]) == b""
    # The connection goes on.
    assert codec.acknowledge([later.receipt]) == OK


def test_a_batch_is_answered_once(codec):
    body = b'{"device_id":"1","location":[{},{},{}]}'
    *_, first, second, third = codec.receive(post(body, "Content-Type: application/json"))
    assert (first.receipt, second.receipt) == (None, None)
    assert codec.acknowledge([third.receipt]) == OK


def test_an_empty_batch_is_a_sign_of_life(codec):
    *_, report = codec.receive(post(b'{"device_id":"1","location":[]}', "Content-Type: application/json"))
    assert isinstance(report, Heartbeat)
    assert codec.acknowledge([report.receipt]) == OK


def test_delivered_commands_are_the_body_of_the_next_answer(codec):
    _, position = codec.receive(get())
    codec.deliver("stop now")
    codec.deliver("größer")
    answer = codec.acknowledge([position.receipt])
    assert answer.endswith("content-length: 17\r\n\r\nstop now\ngrößer".encode())
    (position,) = codec.receive(get())
    assert codec.acknowledge([position.receipt]) == OK


def test_a_command_that_is_no_unicode_text_is_sent_with_replacements(codec):
    assert codec.encode(DeviceCommand("custom", {"data": "a\ud800"})).data == b"a?"
    _, position = codec.receive(get())
    codec.deliver("a\ud800")
    assert codec.acknowledge([position.receipt]).endswith(b"a?")


def test_answers_keep_the_order_of_the_requests(codec):
    _, first, second = codec.receive(get() + get())
    assert codec.acknowledge([second.receipt]) == b""
    assert codec.receive(get("lat=1"))[0].error == "no id"  # its 400 waits as well
    answers = codec.acknowledge([first.receipt])
    assert answers.startswith(OK + OK + b"HTTP/1.1 400 ")


def test_more_requests_than_may_wait_end_the_connection(codec):
    codec.receive(get() * 16)
    with pytest.raises(CodecError, match="more than 16 requests"):
        codec.receive(get())


def test_no_id_is_answered_at_once_and_the_connection_is_kept(codec):
    rejected, reply = codec.receive(get("lat=1"))
    assert isinstance(rejected, FrameRejected)
    assert status(reply.data) == 400
    assert not codec.closing
    assert kinds(codec.receive(get())) == [Login, PositionReport]


@pytest.mark.parametrize("method", ["PUT", "HEAD", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(codec, method):
    rejected, reply = codec.receive(get(method=method))
    assert rejected.error == "GET or POST"
    assert status(reply.data) == 400
    assert reply.data.endswith(b"\r\n\r\n") == (method == "HEAD")


@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET /?id=1 HTTP/1.1\r\nHost: x\r\nA: " + b"b" * (MAX_HEAD_BYTES + 1), 400),
        (f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode(), 413),
        (
            b"POST /?id=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0\r\n\r\nGET /?id=2&lat=1&lon=2 HTTP/1.1\r\nHost: x\r\n\r\n",
            400,
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"4000\r\n" + bytes(0x4000) + b"\r\n") * 17,
            413,
        ),
    ],
)
def test_a_malformed_request_is_answered_and_ends_the_connection(codec, request_bytes, code):
    rejected, reply = codec.receive(request_bytes)
    assert isinstance(rejected, FrameRejected)
    assert isinstance(reply, ImmediateReply)
    assert status(reply.data) == code
    assert b"connection: close\r\n" in reply.data.lower()
    assert codec.closing
    assert codec.buffered == 0
    with pytest.raises(CodecError, match="after the last answer"):
        codec.receive(b"more")


def test_a_bad_request_behind_a_good_one_waits_for_its_turn(codec):
    _, position, rejected = codec.receive(get() + b"nonsense\r\n\r\n")
    assert isinstance(rejected, FrameRejected)
    assert not codec.closing
    assert codec.receive(b"more nonsense") == []
    assert codec.acknowledge([position.receipt]).startswith(OK + b"HTTP/1.1 400 ")
    assert codec.closing


@pytest.mark.parametrize("request_bytes", [get(version="1.0"), get("id=1", "Connection: close")])
def test_the_last_request_is_answered_and_ends_the_connection(codec, request_bytes):
    _, position = codec.receive(request_bytes + b"\r\n")
    assert not codec.closing
    assert b"connection: close\r\n" in codec.acknowledge([position.receipt]).lower()
    assert codec.closing


def test_line_ends_behind_a_body_are_ignored(codec):
    codec.receive(post(b"id=1") + b"\r\n")
    assert codec.receive(b"\r") == []
    assert kinds(codec.receive(b"\n" + get())) == [PositionReport]


def test_a_peer_that_waits_for_permission_gets_it(codec):
    body = b"id=1"
    request = post(body, "Expect: 100-continue")
    (reply,) = codec.receive(request[: -len(body)])
    assert reply.data.startswith(b"HTTP/1.1 100 ")
    _, position = codec.receive(body)
    assert codec.acknowledge([position.receipt]) == OK


def test_a_body_that_is_on_its_way_is_counted(codec):
    codec.receive(post(bytes(1000))[:-1])
    assert codec.buffered == 999


def test_a_custom_command_is_its_text():
    assert OsmAnd().encode(DeviceCommand("custom", {"data": "stop"})).data == b"stop"


@pytest.mark.parametrize("attributes", [{}, {"data": ""}, {"data": 5}])
def test_a_command_without_text_is_refused(attributes):
    with pytest.raises(UnsupportedCommand, match="data is required"):
        OsmAnd().encode(DeviceCommand("custom", attributes))
