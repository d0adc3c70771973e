"""Forwarding by a whole server: what another server is sent is what the API shows."""

import json

from motorpool.actors.forwarding.settings import ForwardSettings


async def test_another_server_is_sent_what_the_api_shows(starting, web_server):
    other = web_server()
    async with starting(forward=ForwardSettings(url=other.url + "/in")) as served:
        device_id = await served.device(served.admin, "1", attributes={"forward.url": "http://127.0.0.1:1"})
        (stored,) = await served.report(served.position(device_id, latitude=52.5, attributes={"fuel": 12.5}))
        (position,) = (await served.admin.get(f"/positions?id={stored.id}")).json()
        (device,) = (await served.admin.get(f"/devices?id={device_id}")).json()
    # The stop of the server has sent what was queued.
    (asked,) = [each for each in other.asked if "event" not in json.loads(each.body)]
    assert (asked.method, asked.path) == ("POST", "/in")
    sent = json.loads(asked.body)
    assert sent["position"] == position
    assert sent["device"]["positionId"] == stored.id
    assert sent == {"position": position, "device": device}
