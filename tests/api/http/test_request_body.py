import pytest
import trio
import trio.testing

from motorpool.api.http.errors import BadRequest, BodyTooLarge, Unavailable
from motorpool.api.http.request_body import AHEAD_BYTES, DRAIN_SECONDS, RequestBody, parse_form


def unlimited(size: int) -> bool:
    return True


async def test_it_is_fed_no_faster_than_it_is_read(nursery):
    body = RequestBody(None, None)
    fed = []

    async def feed():
        for number in range(10):
            await body.feed(bytes(AHEAD_BYTES // 2), is_last=number == 9)
            fed.append(number)

    nursery.start_soon(feed)
    await trio.testing.wait_all_tasks_blocked()
    assert fed == [0, 1]
    assert len(await anext(body)) == AHEAD_BYTES * 3 // 2
    await trio.testing.wait_all_tasks_blocked()
    assert fed == [0, 1, 2, 3, 4]
    assert sum([len(piece) async for piece in body]) == AHEAD_BYTES * 7 // 2


async def test_once_drained_it_takes_everything_and_holds_nothing(nursery):
    body = RequestBody(None, None)
    nursery.start_soon(lambda: body.feed(bytes(AHEAD_BYTES * 2), is_last=False))
    await trio.testing.wait_all_tasks_blocked()
    assert not await body.drain()
    with trio.fail_after(30):
        for _ in range(100):
            await body.feed(bytes(AHEAD_BYTES), is_last=False)
        assert [piece async for piece in body] == []


async def test_the_end_of_a_short_body_is_waited_for_when_it_is_drained(nursery, autojump_clock):
    for more, then, is_complete in ((b"half", "feed", True), (b"", "cut", False), (b"", "", False)):
        body = RequestBody(8, None)
        await body.feed(b"half", is_last=False)

        async def come(body=body, more=more, then=then):
            await trio.sleep(DRAIN_SECONDS / 2)
            if then == "feed":
                await body.feed(more, is_last=True)
            elif then == "cut":
                body.cut()

        began = trio.current_time()
        nursery.start_soon(come)
        assert await body.drain() == is_complete
        assert trio.current_time() - began == DRAIN_SECONDS * (0.5 if then else 1)


async def test_a_body_that_does_not_arrive_in_time_is_refused():
    body = RequestBody(None, None)
    await body.feed(b"half", is_last=False)
    with pytest.raises(BadRequest, match="in time") as caught:
        await body.read(max_bytes=100, seconds=0, take=unlimited)
    assert caught.value.headers == {"Connection": "close"}


async def test_a_body_past_its_limit_is_refused_by_its_length_and_without_one():
    announced = RequestBody(201, None)
    with pytest.raises(BodyTooLarge):
        await announced.read(max_bytes=100, seconds=9, take=unlimited)
    body = RequestBody(None, None)
    await body.feed(bytes(201), is_last=False)
    with pytest.raises(BodyTooLarge):
        await body.read(max_bytes=100, seconds=9, take=unlimited)
    upload = RequestBody(201, 100)
    with pytest.raises(BodyTooLarge):
        await anext(upload)


@pytest.mark.parametrize("announced", [101, 200, None])
async def test_a_body_that_is_little_too_large_is_refused_when_it_has_come(nursery, announced):
    """Proxies answered 502 when it was refused while they sent it."""
    body = RequestBody(announced, None)
    await body.feed(bytes(50), is_last=False)
    refused = trio.Event()

    async def read():
        with pytest.raises(BodyTooLarge):
            await body.read(max_bytes=100, seconds=9, take=unlimited)
        refused.set()

    nursery.start_soon(read)
    await trio.testing.wait_all_tasks_blocked()
    for is_last in (False, True):
        assert not refused.is_set()
        await body.feed(bytes(((announced or 200) - 50) // 2), is_last=is_last)
        await trio.testing.wait_all_tasks_blocked()
    assert refused.is_set()


async def test_one_that_is_little_too_large_and_never_comes_is_refused_in_time():
    with pytest.raises(BadRequest, match="in time"):
        await RequestBody(101, None).read(max_bytes=100, seconds=0, take=unlimited)


async def test_where_too_much_is_held_already_it_is_refused():
    body = RequestBody(None, None)
    await body.feed(b"x", is_last=True)
    with pytest.raises(Unavailable):
        await body.read(max_bytes=100, seconds=9, take=lambda size: False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", {}),
        (b"a=1&b=&a=2", {"a": ["1", "2"], "b": [""]}),
        ("a=%C3%A4+b&ä=1".encode(), {"a": ["ä b"], "ä": ["1"]}),
    ],
)
def test_a_form_is_parsed(body, expected):
    assert parse_form(body, "application/x-www-form-urlencoded", {}) == expected
    assert parse_form(body, "text/plain", {}) == {}


def test_a_form_that_is_no_text_is_refused():
    with pytest.raises(BadRequest, match="UTF-8"):
        parse_form(b"a=\xff", "application/x-www-form-urlencoded", {})
