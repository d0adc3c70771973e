"""Requests about the video of a device that another server serves are answered by that server."""

from urllib.parse import quote

from quart import Response

from motorpool.api.access import confirm_device
from motorpool.api.cluster.answer_cache import Answer
from motorpool.api.cluster.home_requests import ANSWER_SECONDS, HOME_REQUESTS, HomeRequest, NoAnswer
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import Unavailable
from motorpool.api.http.node_gate import Sender, sender_of
from motorpool.storage.cluster.homes import Home

RETRY_SECONDS = 1.0


async def answer_of_home(
    call: Call, device_id: int, *, query: str = "", as_caller: bool = False
) -> Response | None:
    """Return the answer of the server that the device is connected to; None if this server answers itself.

    The caller may see the device. The answer to a GET is shared by all who ask alike, with this `query`
    instead of the request's, unless the other server is to act `as_caller`.

    Raises:
        Unavailable: the other server does not answer, or the request was forwarded already.
    """
    finder = call.context.home_finder
    home = None if finder is None else await finder.find(device_id)
    if home is None:
        return None
    if sender_of(call.request) is not None:
        raise Unavailable("the device has moved to another server", RETRY_SECONDS)
    if not home.responds:
        raise Unavailable("the server of the device does not answer now", RETRY_SECONDS)
    if as_caller:
        answer = await _send_as_caller(call, home, device_id)
    else:
        request = HomeRequest(home, device_id, _payer(call), _path(call, query))
        answer = await call.context.system.ref(HOME_REQUESTS).ask(request, seconds=ANSWER_SECONDS)
        await confirm_device(call, device_id)
    if isinstance(answer, NoAnswer):
        raise Unavailable(answer.reason, RETRY_SECONDS)
    return _response(answer)


async def answer_of_stream(call: Call, server: Home, device_id: int, *, query: str) -> Response | None:
    """Return the answer of a server that had the stream of a device; None if it does not answer."""
    request = HomeRequest(server, device_id, _payer(call), _path(call, query))
    answer = await call.context.system.ref(HOME_REQUESTS).ask(request, seconds=ANSWER_SECONDS)
    await confirm_device(call, device_id)
    return None if isinstance(answer, NoAnswer) else _response(answer)


async def answer_of_server(call: Call, node: int) -> Response | None:
    """Return the answer of another server, which acts as the caller; None if this one is to answer.

    Raises:
        Unavailable: it does not answer, or cannot be reached.
    """
    finder = call.context.home_finder
    if finder is None or finder.node == node or sender_of(call.request) is not None:
        return None
    server = await finder.find_server(node)
    if server is None or not server.responds:
        raise Unavailable("the server that makes it does not answer now", RETRY_SECONDS)
    answer = await _send_as_caller(call, server, 0)
    if isinstance(answer, NoAnswer):
        raise Unavailable(answer.reason, RETRY_SECONDS)
    return _response(answer)


async def _send_as_caller(call: Call, server: Home, device_id: int) -> Answer | NoAnswer:
    caller = call.caller
    query = call.request.query_string.decode("latin-1")
    request = HomeRequest(
        server,
        device_id,
        _payer(call),
        _path(call, query),
        call.request.method,
        Sender(caller.id, caller.impersonator_id, caller.sharer_id),
        call.address,
    )
    return await call.context.system.ref(HOME_REQUESTS).ask(request, seconds=ANSWER_SECONDS)


def _payer(call: Call) -> int:
    """Return the user in whose limits a request counts: the sharer for a guest, since guests may be many."""
    caller = call.caller
    return caller.impersonator_id or caller.sharer_id or caller.id


def _path(call: Call, query: str) -> str:
    path = quote(call.request.path)
    return f"{path}?{query}" if query else path


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, headers=dict(answer.headers))
