"""Requests about the video of a device that another server serves are answered by that server."""

from quart import Response

from motorpool.api.access import confirm_device
from motorpool.api.cluster.home_requests import ANSWER_SECONDS, HOME_REQUESTS, HomeRequest, NoAnswer
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import Unavailable
from motorpool.api.http.node_gate import Sender, sender_of
from motorpool.storage.homes import Home

__all__ = ["answer_of_home"]

RETRY_SECONDS = 1.0


async def answer_of_home(
    call: Call, device_id: int, *, query: str = "", as_caller: bool = False
) -> Response | None:
    """Return the answer of the server that the device is connected to; None if this server answers itself.

    The caller may see the device. The answer to a GET is shared by all who ask alike, unless the other server
    is to act `as_caller`. `query` begins with a question mark.

    Raises:
        Unavailable: the other server does not answer, or the request was forwarded already.
    """
    home = await _find_home(call, device_id)
    if home is None:
        return None
    request = HomeRequest(home, device_id, call.request.path + query)
    if as_caller:
        caller = call.caller
        request = HomeRequest(
            home,
            device_id,
            call.request.path + query,
            call.request.method,
            Sender(caller.id, caller.impersonator_id, caller.sharer_id),
            call.address,
        )
    answer = await call.context.system.ref(HOME_REQUESTS).ask(request, seconds=ANSWER_SECONDS)
    await confirm_device(call, device_id)
    if isinstance(answer, NoAnswer):
        raise Unavailable(answer.reason, RETRY_SECONDS)
    return Response(answer.body, answer.status, headers=dict(answer.headers))


async def _find_home(call: Call, device_id: int) -> Home | None:
    finder = call.context.home_finder
    home = None if finder is None else await finder.find(device_id)
    if home is None:
        return None
    if sender_of(call.request) is not None:
        raise Unavailable("the device has moved to another server", RETRY_SECONDS)
    if not home.responds:
        raise Unavailable("the server of the device does not answer now", RETRY_SECONDS)
    return home
