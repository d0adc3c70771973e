from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quart import Quart
from werkzeug.datastructures import Headers

from motorpool.actors.work.networks import Networks
from motorpool.api.engine.call import Call
from motorpool.api.http.addresses import client_address
from motorpool.api.http.errors import BadRequest

app = Quart(__name__)
ADDRESSES = st.ip_addresses().map(str)


class Query(msgspec.Struct, rename="camel"):
    number: int = 5
    wanted: bool = False
    many_ids: tuple[int, ...] = ()
    text: str | None = None
    one: int | None = None


async def read(query: str) -> Query:
    async with app.test_request_context("/?" + query) as context:
        server: Any = SimpleNamespace(rights_changes=0)
        return Call(server, context.request, {}).query(Query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Query()),
        ("number=7&number=8", Query(number=7)),
        ("wanted=true", Query(wanted=True)),
        ("wanted=FALSE", Query()),
        ("manyIds=1&manyIds=2", Query(many_ids=(1, 2))),
        ("number=", Query()),
        ("unknown=1", Query()),
        ("text=a%2Bb+c", Query(text="a+b c")),
        ("text=null", Query(text="null")),
    ],
)
async def test_declared_parameters_are_read_and_others_ignored(query, expected):
    assert await read(query) == expected


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("number=x", "number"),
        ("number=1.5", "number"),
        ("wanted=maybe", "wanted"),
        ("manyIds=1&manyIds=b", "manyIds"),
        ("number=null", "number"),
        ("one=null", "one"),
        ("one=NULL&one=5", "one"),
        ("manyIds=null", "manyIds"),
    ],
)
async def test_a_wrong_parameter_is_named(query, named):
    with pytest.raises(BadRequest, match=named):
        await read(query)


async def seen(peer: str, forwarded: list[str], trusted: tuple[str, ...]) -> str:
    headers = {"X-Forwarded-For": ", ".join(forwarded)}
    async with app.test_request_context("/", headers=headers, scope_base={"client": (peer, 1)}) as context:
        return client_address(context.request, Networks(trusted))


@given(peer=ADDRESSES, forwarded=st.lists(ADDRESSES, max_size=4))
async def test_without_trusted_proxies_the_peer_is_the_client_whatever_it_says(peer, forwarded):
    assert await seen(peer, forwarded, ()) == peer


@given(
    client=ADDRESSES.filter(lambda address: not address.startswith("10.")),
    lies=st.lists(ADDRESSES, max_size=3),
)
async def test_the_last_address_that_is_no_proxy_is_the_client_whatever_stands_before(client, lies):
    assert await seen("10.0.0.1", [*lies, client, "10.0.0.2"], ("10.0.0.0/8",)) == client


@pytest.mark.parametrize(
    "lines",
    [
        ["6.6.6.6", "203.0.113.7"],  # a proxy that adds a line of its own
        ["6.6.6.6, 203.0.113.7", "10.0.0.2"],
        ["6.6.6.6", "203.0.113.7, 10.0.0.2", "10.0.0.3"],
        ["6.6.6.6", "", " 203.0.113.7 ,"],
    ],
)
async def test_all_lines_of_the_header_are_one_list(lines):
    headers = Headers([("X-Forwarded-For", line) for line in lines])
    base = {"client": ("10.0.0.1", 1)}
    async with app.test_request_context("/", headers=headers, scope_base=base) as context:
        assert client_address(context.request, Networks(("10.0.0.0/8",))) == "203.0.113.7"
