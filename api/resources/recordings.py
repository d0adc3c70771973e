"""What devices have recorded: the answers to `videoPlaybackList`."""

from email.utils import format_datetime

from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.history import require_history
from motorpool.api.http.responses import as_json
from motorpool.codecs.reports import Recording
from motorpool.storage.video import recordings

OPERATIONS = Operations("media")


@OPERATIONS.operation(
    "GET",
    "/recordings/{deviceId}",
    answers={
        200: Content(shape=list[Recording], text="The list; `Last-Modified` says when the device sent it")
    },
    errors=(400,),
)
async def list_recordings(call: Call) -> Response:
    """The recordings of a device, from its latest answer; empty until there is one.

    `Last-Modified`, which is absent until then, tells whether that answer is newer than a
    `videoPlaybackList`: compare it with the `Date` of the answer to that command.
    """
    device_id = call.path["deviceId"]
    await require_history(call, device_id)
    listed, received_at = await recordings.load(call.context.database, device_id, Recording)
    answer = as_json(listed)
    if received_at is not None:
        answer.headers["Last-Modified"] = format_datetime(received_at, usegmt=True)
    return answer
