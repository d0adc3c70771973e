"""What devices have recorded: the answers to `videoPlaybackList`."""

from quart import Response

from motorpool.api.access import require_device
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.responses import as_json
from motorpool.codecs.reports import Recording
from motorpool.storage import recordings

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("media")


@OPERATIONS.operation("GET", "/recordings/{deviceId}", answer=list[Recording])
async def list_recordings(call: Call) -> Response:
    """The recordings of a device, from its latest answer; empty until there is one."""
    device_id = call.path["deviceId"]
    await require_device(call, device_id)
    return as_json(await recordings.load(call.context.database, device_id, Recording))
