"""Live video and playback: the playlists and their segments (docs/decisions/0024)."""

from collections.abc import Awaitable, Callable
from email.utils import format_datetime
from functools import partial, update_wrapper
from typing import Annotated, cast

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.conditions import MEMORY
from motorpool.actors.messages.live_stream import (
    STREAM,
    AwaitPlaylist,
    FormerLost,
    Held,
    LiveAnswer,
    LiveRead,
    ReadForOther,
    ReadPart,
    ReadPlaylist,
    ReadSegment,
    StreamedBy,
    WaitFailure,
)
from motorpool.actors.messages.playback import (
    PLAYBACK,
    FindSegment,
    ReadPlayback,
)
from motorpool.actors.video.segment_store import segment_path
from motorpool.actors.video.snapshot import SnapshotFailed, read_snapshot
from motorpool.api.access import confirm_device, require_device
from motorpool.api.cluster.forwarding import RETRY_SECONDS, answer_of_home, answer_of_stream
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.history import confirm_history, require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.node_gate import sender_of
from motorpool.api.http.responses import as_bytes
from motorpool.codecs.channel_map import CHANNELS
from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.muxer import CONTAINERS
from motorpool.runtime import Request

OPERATIONS = Operations("stream")

PLAYLIST = "application/vnd.apple.mpegurl"
JPEG = "image/jpeg"
SEGMENT_SECONDS = 86_400
"""Segments never change and their numbers never come back, so a browser may keep them."""
ASK_SECONDS = 75.0
"""Above three target durations of the longest segments, and the longest start; the stream ends a wait."""
FRESH = {"Cache-Control": "no-cache, no-store"}
FOR_EVER = {"Cache-Control": f"private, max-age={SEGMENT_SECONDS}, immutable"}


ServeFile = Callable[[Container, Call], Awaitable[Response]]


def _file_operation(path: str, *, errors: tuple[int, ...] = ()) -> Callable[[ServeFile], ServeFile]:
    """Declare the decorated function as an operation for each container, which `path` lacks the suffix of."""

    def declare(serve: ServeFile) -> ServeFile:
        for container in CONTAINERS:
            answers = {200: Content(media_type=container.media_type, text=container.name)}
            operation = OPERATIONS.operation(
                "GET", f"{path}.{container.suffix}", answers=answers, errors=errors, for_players=True
            )
            operation(update_wrapper(partial(serve, container), serve))
        return serve

    return declare


class Directives(msgspec.Struct, frozen=True):
    """What a player of Low-Latency HLS asks of a playlist (rfc8216bis, 6.2.5), and for how long it waits."""

    msn: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = msgspec.field(name="_HLS_msn", default=None)
    part: Annotated[int, msgspec.Meta(ge=0, le=10_000)] | None = msgspec.field(name="_HLS_part", default=None)
    wait: Annotated[float, msgspec.Meta(ge=0, le=60)] | None = None

    @property
    def as_query(self) -> str:
        """The query that asks for this."""
        asked = {"_HLS_msn": self.msn, "_HLS_part": self.part, "wait": self.wait}
        return "&".join(f"{name}={value}" for name, value in asked.items() if value is not None)


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/live.m3u8",
    query=Directives,
    answers={200: Content(media_type=PLAYLIST, text="The live playlist; empty where nothing streams")},
    for_players=True,
    changes=True,
)
async def get_live_playlist(call: Call) -> Response:
    """The live HLS playlist of a camera; its first reader may start the camera.

    The first reader waits for a segment, at most `video.start_seconds` or, where that is less, `wait`
    seconds; 0 starts the camera and answers at once.

    With parts switched on (`video.part_seconds`) it is Low-Latency HLS, and `_HLS_msn` with `_HLS_part` waits
    until the playlist holds that: at most three target durations, then 503. What is too far ahead is 400.
    """
    stream = await _stream_key(call)
    video = call.context.settings.video
    wanted = call.query(Directives)
    if wanted.part is not None and wanted.msn is None:
        raise BadRequest("_HLS_part: of which segment? _HLS_msn is missing")
    question: ReadPlaylist | AwaitPlaylist
    if video.part_seconds and wanted.msn is not None:
        question, patience = AwaitPlaylist(wanted.msn, wanted.part), ASK_SECONDS
    else:
        wait = None if wanted.wait is None else min(wanted.wait, video.start_seconds)
        question, patience = ReadPlaylist(wait_seconds=wait), video.start_seconds + 5
    found = await _read_live(call, stream, question, patience, wanted.as_query)
    if isinstance(found, Response):
        return found
    await confirm_device(call, stream[0])
    match found:
        case WaitFailure.TOO_FAR_AHEAD:
            raise BadRequest("_HLS_msn, _HLS_part: too far ahead")
        case WaitFailure.TIMED_OUT:
            raise Unavailable("the camera sends nothing now")
        case _:
            return as_bytes(str(found).encode(), PLAYLIST, FRESH)


@_file_operation("/stream/{deviceId}/{channel}/{index}.{part}")
async def get_live_part(container: Container, call: Call) -> Response:
    """A part of a segment of the live stream (Low-Latency HLS); the next one is awaited.

    404 once it has left the window, and where there are no parts.
    """
    stream = await _stream_key(call)
    content = await _read_live(call, stream, ReadPart(call.path["index"], call.path["part"]))
    if isinstance(content, Response):
        return content
    await confirm_device(call, stream[0])
    if not isinstance(content, bytes):
        raise ResourceNotFound("the part is not there")
    return as_bytes(content, container.media_type, FOR_EVER)


@_file_operation("/stream/{deviceId}/{channel}/{index}")
async def get_live_segment(container: Container, call: Call) -> Response:
    """A segment of the live stream; 404 once it has left the window."""
    stream = await _stream_key(call)
    content = await _read_live(call, stream, ReadSegment(call.path["index"]))
    if isinstance(content, Response):
        return content
    if not isinstance(content, bytes):
        raise ResourceNotFound("the segment is no longer there")
    return as_bytes(content, container.media_type, FOR_EVER)


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/snapshot.jpg",
    answers={
        200: Content(
            media_type=JPEG,
            text="The picture",
            headers={"Last-Modified": "When the picture arrived at the server"},
        )
    },
    changes=True,
)
async def get_snapshot(call: Call) -> Response:
    """The latest picture of a camera; its first reader may start the camera.

    The last key frame of the live stream, in its own size. 404 where nothing streams and nothing could be
    started in time; 503 where the key frame does not decode, which the next one may.
    """
    stream = await _stream_key(call)
    if (answer := await _answer_of_home(call)) is not None:
        return answer
    _require_memory(call, stream)
    patience = call.context.settings.video.start_seconds + 5
    picture = await read_snapshot(call.context.system, stream, patience)
    await confirm_device(call, stream[0])
    if isinstance(picture, SnapshotFailed):
        raise Unavailable("the last key frame of this camera does not decode")
    if picture is None:
        raise ResourceNotFound("there is no picture: this camera does not stream")
    taken_at = format_datetime(picture.taken_at, usegmt=True)
    return as_bytes(picture.jpeg, JPEG, {"Cache-Control": "no-cache", "Last-Modified": taken_at})


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/playback.m3u8",
    answers={200: Content(media_type=PLAYLIST, text="What has arrived; empty where nothing was asked for")},
    errors=(400,),
    for_players=True,
)
async def get_playback_playlist(call: Call) -> Response:
    """The HLS playlist of what the latest videoPlayback has brought; reading starts nothing."""
    playback = await _stream_key(call, require_history)
    if (answer := await _answer_of_home(call)) is not None:
        await confirm_history(call, playback[0])
        return answer
    patience = call.context.settings.video.start_seconds + 5
    playlist = await call.context.system.ref(PLAYBACK, playback).ask(ReadPlayback(), seconds=patience)
    await confirm_history(call, playback[0])
    return as_bytes(playlist.encode(), PLAYLIST, FRESH)


@_file_operation("/stream/{deviceId}/{channel}/playback/{index}", errors=(400,))
async def get_playback_segment(container: Container, call: Call) -> Response:
    """A segment of the playback; 404 once it is no longer kept."""
    playback = await _stream_key(call, require_history)
    if (answer := await _answer_of_home(call)) is not None:
        await confirm_history(call, playback[0])
        return answer
    index = call.path["index"]
    run = await call.context.system.ref(PLAYBACK, playback).ask(FindSegment(index))
    if run is None:
        raise ResourceNotFound("the segment is no longer there")
    try:
        content = await trio.to_thread.run_sync(
            segment_path(call.context.settings.data, run, index, container).read_bytes
        )
    except OSError as error:  # dropped meanwhile
        raise ResourceNotFound("the segment is no longer there") from error
    return as_bytes(content, container.media_type, FOR_EVER)


async def _stream_key(
    call: Call, require: Callable[[Call, int], Awaitable[None]] = require_device
) -> tuple[int, int]:
    device_id, channel = call.path["deviceId"], call.path["channel"]
    await require(call, device_id)
    if channel not in CHANNELS:
        raise ResourceNotFound("cameras have the numbers 1 to 31")
    return device_id, channel


def _require_memory(call: Call, stream: tuple[int, int]) -> None:
    """Refuse to begin a stream while memory is short; those that are there go on. Raises Unavailable."""
    system = call.context.system
    if system.conditions.find(MEMORY) is not None and stream not in system.keys(STREAM):
        call.require_memory()


async def _read_live(
    call: Call, stream: tuple[int, int], question: LiveRead, seconds: float = ASK_SECONDS, query: str = ""
) -> str | bytes | WaitFailure | Response | None:
    """Return what the stream answers, or the response of another server."""
    finder, system = call.context.home_finder, call.context.system
    ref = system.ref(STREAM, stream)
    is_forwarded = sender_of(call.request) is not None
    if finder and is_forwarded and stream in system.keys(STREAM) and await finder.find(stream[0]):
        # The device has gone on to another server, which takes the stream over once it has media.
        found = _note_hold(call, await ref.ask(ReadForOther(question), seconds=seconds))
        if not isinstance(found, StreamedBy):
            return found
    if (answer := await _answer_of_home(call, query)) is not None:
        return answer
    if isinstance(question, ReadPlaylist | AwaitPlaylist):
        _require_memory(call, stream)
    asked = cast("Request[LiveAnswer]", question)
    found = _note_hold(call, await ref.ask(asked, seconds=seconds))
    if not isinstance(found, StreamedBy):
        return found
    answer = await answer_of_stream(call, found.home, stream[0], query=query)
    if answer is None:
        await ref.tell(FormerLost(found.home.node))
    # It may have been taken over meanwhile, with all that the other server had.
    found = _note_hold(call, await ref.ask(asked, seconds=seconds))
    if not isinstance(found, StreamedBy):
        return found
    if answer is None:
        raise Unavailable("the stream moves to another server", RETRY_SECONDS)
    return answer


def _note_hold(call: Call, found: LiveAnswer) -> str | bytes | WaitFailure | StreamedBy | None:
    """Return an answer without the time for which it was held, which the call notes."""
    if isinstance(found, Held):
        call.held_seconds += found.seconds
        return found.answer
    return found


async def _answer_of_home(call: Call, query: str = "") -> Response | None:
    """Return the answer of the server that the device is connected to, if that is another one."""
    if call.context.home_finder is None:
        return None
    return await answer_of_home(call, call.path["deviceId"], query=query)
