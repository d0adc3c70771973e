import re


async def test_what_is_in_memory_is_told_in_plain_text(served):
    number = await served.device(served.admin, "1")
    await served.report(served.position(number))
    await served.admin.get("/positions")
    answer = await served.admin.get("/server/cache")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert re.search(r"^motorpool \S+, running since 2026-05-01T12:00:00", answer.text)
    assert "\nlatest positions: 1\n" in answer.text
    assert "\ndevices online: 0\n" in answer.text
    assert re.search(r"\nmemory: [1-9]\d* MB\n", answer.text)
    assert re.search(r"\nposition_writer +1 +0 +1 +0 +0\n", answer.text)
    assert re.search(r"\npositions +\d+ +1 +0 +0\n", answer.text)


async def test_a_reboot_is_answered_noted_and_asked_for(served):
    answer = await served.admin.post("/server/reboot")
    assert (answer.status, answer.text) == (200, "the server starts again")
    assert await served.context.lifetime.restart_requested.wait(0)
    audit = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    assert (audit[-1]["actionType"], audit[-1]["objectType"]) == ("reboot", "server")
    assert audit[-1]["userId"] == served.admin_id


async def test_both_are_for_administrators(served):
    ann = await served.user("ann")
    manager = await served.user("manager", userLimit=-1)
    for caller in (ann, manager):
        assert (await caller.get("/server/cache")).status == 400
        assert (await caller.post("/server/reboot")).status == 400
    assert (await served.client().get("/server/cache")).status == 401
    assert (await served.client().post("/server/reboot")).status == 401
    assert not await served.context.lifetime.restart_requested.wait(0)
