"""What viewers have of a device's recordings: the latest playback of each of its cameras."""

from datetime import datetime
from typing import Literal

import msgspec
from quart import Response

from motorpool.actors.messages.playback import PLAYBACK, GetPlaybackState
from motorpool.api.cluster.forwarding import answer_of_home
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.history import require_history
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.codecs.channel_map import CHANNELS
from motorpool.storage.accounts import users

OPERATIONS = Operations("stream")


class Playback(msgspec.Struct, frozen=True, rename="camel"):
    """A playback that runs, or whose segments are kept."""

    device_id: int
    """The device whose recording it is."""
    channel: int
    start_time: datetime | None
    """The asked start; null where it is unknown."""
    end_time: datetime | None
    """The asked end; null where none was asked for."""
    arrived_to: datetime | None
    """Time in the recording up to which it has arrived, after the last seek."""
    seconds: float
    """Length of what has arrived and is kept."""
    user_id: int
    """Who began it; 0 if nobody did, or a scheduled command."""
    user_name: str | None
    """Their name; null for temporary users."""
    status: Literal["WAITING", "RUNNING", "PAUSED", "ENDED"]
    """WAITING (nothing has arrived), RUNNING, PAUSED or ENDED."""
    reason: str | None
    """Why it has ended."""


class PlaybacksQuery(msgspec.Struct, rename="camel"):
    """Which device's playbacks to list."""

    device_id: int


@OPERATIONS.operation("GET", "/playbacks", query=PlaybacksQuery, answer=list[Playback], errors=(400, 404))
async def list_playbacks(call: Call) -> Response:
    """The latest playback of each camera of a device, while it is kept, for all who may read its history."""
    device_id = call.query(PlaybacksQuery).device_id
    await require_history(call, device_id)
    if (answer := await answer_of_home(call, device_id, as_caller=True)) is not None:
        return answer
    found = {}
    for channel in CHANNELS:
        playback = call.context.system.ref(PLAYBACK, (device_id, channel))
        # Nothing is started to be asked.
        state = await playback.ask(GetPlaybackState()) if playback.alive else None
        if state is not None:
            found[channel] = state
    names: dict[int, str] = {}
    if found and not call.caller.user.temporary:
        wanted = {state.requested.user_id for state in found.values()}
        names = await users.names(call.context.database, sorted(wanted))
    listed = [
        extended(
            Playback,
            state,
            device_id=device_id,
            channel=channel,
            start_time=state.requested.start_time,
            end_time=state.requested.end_time,
            user_id=state.requested.user_id,
            user_name=names.get(state.requested.user_id),
        )
        for channel, state in found.items()
    ]
    return as_json(listed)
