"""Streams over HTTP: playlists, segments and pictures, and who may see them."""

import gzip
import io
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fractions import Fraction

import av
import m3u8
import msgspec
import pytest
from PIL import Image

from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.messages.live_stream import (
    STREAM,
    HoldStream,
)
from motorpool.actors.messages.playback import PLAYBACK, PlaybackCommandCompleted, PlaybackRequested
from motorpool.actors.messages.publishing import Publish, UnitsPublished
from motorpool.actors.video.settings import VideoSettings
from motorpool.api.settings import HttpSettings
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit


async def test_the_playlist_of_an_offline_device_is_empty_and_never_cached(served):
    number = await served.device(served.admin, "1")
    answer = await served.admin.get(f"/stream/{number}/1/live.m3u8")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/vnd.apple.mpegurl"
    assert "no-cache" in answer.headers["Cache-Control"]
    assert answer.text.startswith("#EXTM3U")
    assert "#EXTINF" not in answer.text


async def test_what_is_not_there_or_not_ones_own_is_404(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    for path in ["1/live.m3u8", "1/0.ts", "0/live.m3u8", "32/live.m3u8", "1/x.ts"]:
        assert (await ann.get(f"/stream/{number}/{path}")).status == 404
        assert (await served.admin.get(f"/stream/999/{path}")).status == 404
        if path != "1/live.m3u8":
            assert (await served.admin.get(f"/stream/{number}/{path}")).status == 404


async def test_streams_need_a_login(served):
    assert (await served.client().get("/stream/1/1/live.m3u8")).status == 401


async def test_reading_a_playback_that_nobody_asked_for_is_an_empty_playlist(served):
    number = await served.device(served.admin, "1")
    answer = await served.admin.get(f"/stream/{number}/1/playback.m3u8")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/vnd.apple.mpegurl"
    assert "no-cache" in answer.headers["Cache-Control"]
    assert answer.text.startswith("#EXTM3U")
    assert "#EXTINF" not in answer.text
    assert "#EXT-X-ENDLIST" not in answer.text


async def test_a_playback_that_is_not_there_or_not_ones_own_is_404(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    for path in [
        "1/playback.m3u8",
        "1/playback/0.ts",
        "0/playback.m3u8",
        "32/playback.m3u8",
        "1/playback/x.ts",
    ]:
        assert (await ann.get(f"/stream/{number}/{path}")).status == 404
        assert (await served.admin.get(f"/stream/999/{path}")).status == 404
        if path != "1/playback.m3u8":
            assert (await served.admin.get(f"/stream/{number}/{path}")).status == 404
    assert (await served.client().get(f"/stream/{number}/1/playback.m3u8")).status == 401


async def test_an_answer_says_for_how_long_it_was_held_and_that_does_not_count_as_slow(served):
    number = await served.device(served.admin, "1")
    path = f"/stream/{number}/1/live.m3u8"
    await served.context.system.ref(STREAM, (number, 1)).tell(HoldStream())
    at_once = await served.admin.get(f"{path}?wait=0")
    assert "Server-Timing" not in at_once.headers
    held = await served.admin.get(f"{path}?wait=0.15")
    name, _, milliseconds = held.headers["Server-Timing"].partition(";dur=")
    assert name == "hold"
    assert int(milliseconds) >= 150
    metrics = {}
    for line in (await served.client().call("GET", "/metrics")).text.splitlines():
        series, _, value = line.rpartition(" ")
        metrics[series] = value
    of_playlist = '{operation="get_live_playlist"}'
    assert float(metrics[f"motorpool_http_request_seconds_count{of_playlist}"]) == 2
    held_seconds = float(metrics["motorpool_http_held_seconds_total"])
    assert held_seconds == pytest.approx(int(milliseconds) / 1000, abs=0.001)


async def test_a_snapshot_is_the_last_key_frame_and_says_when_it_came(served):
    number = await served.device(served.admin, "1")
    unit = coded_picture()
    stream = served.context.system.ref(STREAM, (number, 2))
    connection = served.context.system.ref(CONNECTION, 1)
    await stream.tell(HoldStream())
    assert await stream.ask(Publish(connection))
    await stream.tell(UnitsPublished(connection, [unit]))
    arrived = served.clock.now().replace(microsecond=0)
    answer = await served.admin.get(f"/stream/{number}/2/snapshot.jpg")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "image/jpeg"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert parsedate_to_datetime(answer.headers["Last-Modified"]) == arrived
    with Image.open(io.BytesIO(answer.body)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (64, 48))
    assert (await served.admin.get(f"/stream/{number}/1/snapshot.jpg")).status == 404


async def test_a_snapshot_whose_key_frame_does_not_decode_is_503_in_one_line(served):
    number = await served.device(served.admin, "1")
    whole = coded_picture()
    start = whole.payload.rindex(b"\0\0\1\x65") + 4
    stream = served.context.system.ref(STREAM, (number, 1))
    connection = served.context.system.ref(CONNECTION, 1)
    await stream.tell(HoldStream())
    assert await stream.ask(Publish(connection))
    spoilt = msgspec.structs.replace(whole, payload=whole.payload[:start] + bytes(9))
    await stream.tell(UnitsPublished(connection, [spoilt]))
    answer = await served.admin.get(f"/stream/{number}/1/snapshot.jpg")
    assert (answer.status, answer.text) == (503, "the last key frame of this camera does not decode")
    assert answer.headers["Retry-After"]
    await stream.tell(UnitsPublished(connection, [msgspec.structs.replace(whole, timestamp=40)]))
    assert (await served.admin.get(f"/stream/{number}/1/snapshot.jpg")).status == 200


async def test_where_nothing_streams_there_is_no_snapshot_and_others_see_none_at_all(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    answer = await served.admin.get(f"/stream/{number}/1/snapshot.jpg")
    assert (answer.status, answer.text) == (404, "there is no picture: this camera does not stream")
    assert (await served.client().get(f"/stream/{number}/1/snapshot.jpg")).status == 401
    for path in ["1/snapshot.jpg", "0/snapshot.jpg", "32/snapshot.jpg", "x/snapshot.jpg"]:
        assert (await ann.get(f"/stream/{number}/{path}")).status == 404
        assert (await served.admin.get(f"/stream/999/{path}")).status == 404
        assert (await served.admin.get(f"/stream/{number}/{path}")).status == 404


async def shown(served, number, seconds):
    """A stream of channel 1 with two key frames a second, and its connection."""
    stream = served.context.system.ref(STREAM, (number, 1))
    connection = served.context.system.ref(CONNECTION, 1)
    await stream.tell(HoldStream())
    assert await stream.ask(Publish(connection))
    picture = coded_picture()
    units = [msgspec.structs.replace(picture, timestamp=500 * count) for count in range(2 * seconds + 1)]
    # One key frame in the first two seconds, so that the first segment is as long as the others.
    units[1:4] = [AccessUnit(2, H264, False, each.timestamp, b"\0\0\0\1\x41picture") for each in units[1:4]]
    await stream.tell(UnitsPublished(connection, units))


async def test_with_parts_a_player_waits_for_what_comes_next_and_fetches_it_by_its_name(starting):
    async with starting(video=VideoSettings(part_seconds=0.5)) as served:
        number = await served.device(served.admin, "1")
        await shown(served, number, 5)
        live = f"/stream/{number}/1/live.m3u8"
        playlist = m3u8.loads((await served.admin.get(live)).text)
        assert [entry.uri for entry in playlist.segments] == ["1.ts", "2.ts", None]
        assert playlist.preload_hint.uri == "3.2.ts"
        again = await served.admin.get(f"{live}?_HLS_msn=3&_HLS_part=1")
        assert m3u8.loads(again.text).preload_hint.uri == "3.2.ts"
        part = await served.admin.get(f"/stream/{number}/1/1.0.ts")
        assert (part.status, part.headers["Content-Type"]) == (200, "video/mp2t")
        assert "immutable" in part.headers["Cache-Control"]
        for wrong in ("_HLS_part=0", "_HLS_msn=-1", "_HLS_msn=x", "_HLS_msn=6", "_HLS_msn=3&_HLS_part=99"):
            assert (await served.admin.get(f"{live}?{wrong}")).status == 400, wrong
        for missing in ("0.0.ts", "1.9.ts", "9.0.ts", "3.3.ts"):
            assert (await served.admin.get(f"/stream/{number}/1/{missing}")).status == 404, missing


async def test_a_reload_that_waits_too_long_is_503(starting, monkeypatch):
    monkeypatch.setattr("motorpool.actors.video.live_reads.RELOAD_TARGETS", 0.1)
    async with starting(video=VideoSettings(part_seconds=0.5)) as served:
        number = await served.device(served.admin, "1")
        await shown(served, number, 5)
        live = f"/stream/{number}/1/live.m3u8"
        answer = await served.admin.get(f"{live}?_HLS_msn=3&_HLS_part=2")
        assert (answer.status, answer.text) == (503, "the camera sends nothing now")
        assert answer.headers["Retry-After"]


async def test_without_parts_the_playlist_has_none_and_does_not_wait(served):
    number = await served.device(served.admin, "1")
    await shown(served, number, 5)
    plain = await served.admin.get(f"/stream/{number}/1/live.m3u8")
    assert (
        await served.admin.get(f"/stream/{number}/1/live.m3u8?_HLS_msn=99&_HLS_part=3")
    ).text == plain.text
    assert (await served.admin.get(f"/stream/{number}/1/live.m3u8?wait=0")).text == plain.text
    for wrong in ("-1", "61", "x"):
        assert (await served.admin.get(f"/stream/{number}/1/live.m3u8?wait={wrong}")).status == 400
    assert "PART" not in plain.text
    assert "SERVER-CONTROL" not in plain.text
    assert (await served.admin.get(f"/stream/{number}/1/0.0.ts")).status == 404


async def test_a_playlist_is_zipped_for_who_accepts_it_and_a_segment_never_is(served):
    number = await served.device(served.admin, "1")
    await shown(served, number, 13)
    zipped = {"Accept-Encoding": "gzip"}
    plain = await served.admin.get(f"/stream/{number}/1/live.m3u8")
    packed = await served.admin.get(f"/stream/{number}/1/live.m3u8", headers=zipped)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(m3u8.loads(plain.text).segments) == 6
    segment = await served.admin.get(f"/stream/{number}/1/0.ts", headers=zipped)
    assert segment.status == 200
    assert "Content-Encoding" not in segment.headers
    assert segment.body[0] == 0x47
    headed = await served.admin.call("HEAD", f"/api/stream/{number}/1/0.ts", headers=zipped)
    assert headed.status == 200
    assert "immutable" in headed.headers["Cache-Control"]


async def test_a_page_of_an_allowed_origin_may_play_and_one_of_another_may_not(starting):
    async with starting(http=HttpSettings(cors_origin="https://app.example")) as served:
        number = await served.device(served.admin, "1")
        await shown(served, number, 5)
        token = (await served.admin.post("/session/token")).text
        player = served.client({"Authorization": f"Bearer {token}"})
        for name in ("live.m3u8", "0.ts", "playback.m3u8"):
            path = f"/stream/{number}/1/{name}"
            asked = {
                "Origin": "https://app.example",
                "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "authorization",
            }
            before = await served.client().call("OPTIONS", f"/api{path}", headers=asked)
            assert before.status == 200
            assert "authorization" in before.headers["Access-Control-Allow-Headers"]
            assert "GET" in before.headers["Access-Control-Allow-Methods"]
            assert int(before.headers["Access-Control-Max-Age"]) > 60
            answer = await player.get(path, headers={"Origin": "https://app.example"})
            assert answer.status == 200
            for each in (before, answer):
                assert each.headers["Access-Control-Allow-Origin"] == "https://app.example"
            other = await player.get(path, headers={"Origin": "https://other.example"})
            assert "Access-Control-Allow-Origin" not in other.headers
            # What a browser keeps of a page of ours does not serve a page of another origin.
            for each in (answer, other, await player.get(path)):
                assert "Origin" in each.headers.getlist("Vary")


def coded_picture():
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 48, "yuv420p"
    encoder.framerate, encoder.time_base = Fraction(25), Fraction(1, 25)
    encoder.options = {"preset": "ultrafast", "tune": "zerolatency"}
    frame = av.VideoFrame(64, 48, "yuv420p")
    for plane in frame.planes:
        plane.update(bytes([128]) * plane.buffer_size)
    (packet,) = encoder.encode(frame)
    return AccessUnit(2, H264, True, 0, bytes(packet))


async def test_the_playbacks_of_a_device_say_what_is_asked_for_by_whom_and_start_nothing(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "van 1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert (await ann.get(f"/playbacks?deviceId={number}")).json() == []
    playback = served.context.system.ref(PLAYBACK, (number, 3))
    assert not playback.alive
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    ann_id = ann.id
    await playback.tell(PlaybackRequested(noon, noon.replace(hour=13), ann_id))
    await playback.tell(PlaybackCommandCompleted(sent=True))
    wanted = {
        "deviceId": number,
        "channel": 3,
        "startTime": "2026-05-01T12:00:00Z",
        "endTime": "2026-05-01T13:00:00Z",
        "arrivedTo": None,
        "seconds": 0.0,
        "userId": ann_id,
        "userName": "ann",
        "status": "WAITING",
        "reason": None,
    }
    assert (await ann.get(f"/playbacks?deviceId={number}")).json() == [wanted]
    assert (await served.admin.get(f"/playbacks?deviceId={number}")).json() == [wanted]
    bob = await served.user("bob")
    assert (await bob.get(f"/playbacks?deviceId={number}")).status == 404
    assert (await ann.get("/playbacks")).status == 400
