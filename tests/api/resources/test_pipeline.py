"""What is configured through HTTP holds from the next position of a device on (docs/positions.md)."""

import base64
from datetime import timedelta

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.codecs.devices import CODECS

LOOPBACK = "127.0.0.1"
MORNINGS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTART:20260501T060000
DTEND:20260501T110000
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""


class Fleet:
    """The server, and a device that reports to its port by HTTP."""

    def __init__(self, served, port, device_id):
        self.served, self.port, self.id = served, port, device_id

    async def report(self, seconds=0, latitude=52.5, **attributes):
        """Report a position; return the latest as GET /positions answers it."""
        moment = NOON + timedelta(seconds=seconds)
        query = {
            "id": "1",
            "lat": latitude,
            "lon": 13.4,
            "timestamp": round(moment.timestamp()),
            **attributes,
        }
        text = "&".join(f"{name}={value}" for name, value in query.items())
        async with await trio.open_tcp_stream(LOOPBACK, self.port) as stream:
            request = f"POST /?{text} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            await stream.send_all(request.encode())
            # A dropped position is acknowledged too.
            assert b" 200 " in await stream.receive_some()
        (found,) = (await self.served.admin.get("/positions")).json()
        return found

    async def make(self, path, **fields):
        answer = await self.served.admin.post(path, json=fields)
        assert answer.status == 200, answer.text
        return answer.json()

    async def link(self, **ids):
        answer = await self.served.admin.post("/permissions", json=ids)
        assert answer.status == 204, answer.text

    async def configure(self, path, row, **fields):
        answer = await self.served.admin.put(f"{path}/{row['id']}", json={**row, **fields})
        assert answer.status == 200, answer.text
        return answer.json()


@pytest.fixture
async def fleet(starting, free_port):
    """A server with the port of one protocol, and one device."""
    offset = free_port(CODECS["osmand"].port)
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    async with starting(protocols=("osmand",), **places) as served:
        device_id = await served.device(served.admin, "1")
        yield Fleet(served, CODECS["osmand"].port + offset, device_id)


async def test_what_is_configured_holds_from_the_next_position_on(fleet):
    first = await fleet.report(0)
    assert first["geofenceIds"] is None
    device = (await fleet.served.admin.get(f"/devices/{fleet.id}")).json()
    outer = await fleet.make("/groups", name="outer")
    group = await fleet.make("/groups", name="inner", groupId=outer["id"])
    device = await fleet.configure("/devices", device, groupId=group["id"])

    fence = await fleet.make("/geofences", name="yard", area="CIRCLE (52.5 13.4, 100)")
    await fleet.link(groupId=outer["id"], geofenceId=fence["id"])
    assert (await fleet.report(10))["geofenceIds"] == [fence["id"]]
    await fleet.configure("/geofences", fence, area="CIRCLE (10 10, 100)")
    assert (await fleet.report(20))["geofenceIds"] is None

    attribute = await fleet.make(
        "/attributes/computed", description="x", attribute="warm", expression="temp1 > 20", type="boolean"
    )
    await fleet.link(deviceId=fleet.id, attributeId=attribute["id"])
    assert (await fleet.report(30, temp1=25))["attributes"]["warm"] is True
    await fleet.configure("/attributes/computed", attribute, expression="temp1 > 30")
    assert (await fleet.report(40, temp1=25))["attributes"]["warm"] is False

    outer = await fleet.configure("/groups", outer, attributes={"processing.useLinkedDriver": "true"})
    driver = await fleet.make("/drivers", name="Ann", uniqueId="ann")
    await fleet.link(groupId=group["id"], driverId=driver["id"])
    assert (await fleet.report(50))["attributes"]["driverUniqueId"] == "ann"

    await fleet.report(60, ignition="true")
    assert (await fleet.report(90, ignition="true"))["attributes"]["hours"] == 30_000

    outer = await fleet.configure("/groups", outer, attributes={"filter.distance": 50})
    kept = await fleet.report(100, latitude=52.502)
    assert (await fleet.report(110, latitude=52.502))["id"] == kept["id"]
    device = await fleet.configure("/devices", device, attributes={"filter.distance": 0})
    assert (await fleet.report(120, latitude=52.502))["id"] != kept["id"]

    data = base64.b64encode(MORNINGS.encode()).decode()
    calendar = await fleet.make("/calendars", name="mornings", data=data)
    kept = await fleet.report(130)
    await fleet.configure("/devices", device, calendarId=calendar["id"])
    assert (await fleet.report(140))["id"] == kept["id"]
    opened = base64.b64encode(MORNINGS.replace("T110000", "T180000").encode()).decode()
    await fleet.configure("/calendars", calendar, data=opened)
    assert (await fleet.report(150))["id"] != kept["id"]

    server = (await fleet.served.admin.get("/server")).json()
    assert (await fleet.report(160, speed=20))["attributes"]["motion"] is True
    server["attributes"] = {"event.motion.speedThreshold": 30}
    assert (await fleet.served.admin.put("/server", json=server)).status == 200
    assert (await fleet.report(170, speed=20))["attributes"]["motion"] is False
