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
