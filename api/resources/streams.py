"""Live video and playback: the playlists and their segments (decisions 24)."""

import trio
from quart import Response

from motorpool.actors.playback import PLAYBACK, FindSegment, ReadPlayback
from motorpool.actors.segment_files import segment_path
from motorpool.actors.stream import STREAM, ReadPlaylist, ReadSegment
from motorpool.api.access import require_device
from motorpool.api.answers import as_bytes
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.errors import NoSuch

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("stream")

CHANNELS = range(1, 32)
PLAYLIST = "application/vnd.apple.mpegurl"
SEGMENT = "video/mp2t"
SEGMENT_SECONDS = 86_400
"""Segments never change and their numbers never come back, so a browser may keep them."""
FRESH = {"Cache-Control": "no-cache, no-store"}
FOR_EVER = {"Cache-Control": f"private, max-age={SEGMENT_SECONDS}, immutable"}


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/live.m3u8",
    answers={200: Content(media_type=PLAYLIST, text="The live playlist; empty where nothing streams")},
)
async def get_live_playlist(call: Call) -> Response:
    """The live HLS playlist of a camera; its first reader may start the camera."""
    stream = await _stream_key(call)
    patience = call.house.settings.video.start_seconds + 5
    playlist = await call.house.system.ref(STREAM, stream).ask(ReadPlaylist(), seconds=patience)
    return as_bytes(playlist.encode(), PLAYLIST, FRESH)


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/{index}.ts",
    answers={200: Content(media_type=SEGMENT, text="MPEG-TS")},
)
async def get_live_segment(call: Call) -> Response:
    """A segment of the live stream; 404 once it has left the window."""
    stream = await _stream_key(call)
    content = await call.house.system.ref(STREAM, stream).ask(ReadSegment(call.path["index"]))
    if content is None:
        raise NoSuch("the segment is no longer there")
    return as_bytes(content, SEGMENT, FOR_EVER)


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/playback.m3u8",
    answers={200: Content(media_type=PLAYLIST, text="What has arrived; empty where nothing was asked for")},
)
async def get_playback_playlist(call: Call) -> Response:
    """The HLS playlist of what the latest videoPlayback has brought; reading starts nothing."""
    playback = await _stream_key(call)
    patience = call.house.settings.video.start_seconds + 5
    playlist = await call.house.system.ref(PLAYBACK, playback).ask(ReadPlayback(), seconds=patience)
    return as_bytes(playlist.encode(), PLAYLIST, FRESH)


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/playback/{index}.ts",
    answers={200: Content(media_type=SEGMENT, text="MPEG-TS")},
)
async def get_playback_segment(call: Call) -> Response:
    """A segment of the playback; 404 once it is no longer kept."""
    playback = await _stream_key(call)
    index = call.path["index"]
    run = await call.house.system.ref(PLAYBACK, playback).ask(FindSegment(index))
    if run is None:
        raise NoSuch("the segment is no longer there")
    try:
        content = await trio.to_thread.run_sync(segment_path(call.house.settings.data, run, index).read_bytes)
    except OSError as error:  # dropped meanwhile
        raise NoSuch("the segment is no longer there") from error
    return as_bytes(content, SEGMENT, FOR_EVER)


async def _stream_key(call: Call) -> tuple[int, int]:
    device_id, channel = call.path["deviceId"], call.path["channel"]
    await require_device(call, device_id)
    if channel not in CHANNELS:
        raise NoSuch("cameras have the numbers 1 to 31")
    return device_id, channel
