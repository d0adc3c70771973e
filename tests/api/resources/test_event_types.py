"""Every type of event, from the device's port to GET /events/{id} (docs/events.md)."""

from datetime import timedelta

import pytest
import trio
from tests.api.conftest import NOON

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS
from motorpool.storage.events import events

LOOPBACK = "127.0.0.1"
HOUR = timedelta(hours=1)


@pytest.fixture
def offset(free_port):
    """A port offset at which the ports of both protocols are free."""
    return free_port(CODECS["osmand"].port, CODECS["jt808"].port)


@pytest.fixture
def idle_upkeep():
    """Events that come at an instant do come."""


class Vehicle:
    """A device that reports by HTTP to its port."""

    def __init__(self, served, offset, number, device_id):
        self.served, self.number, self.id = served, number, device_id
        self._port = CODECS["osmand"].port + offset

    async def report(self, second, latitude, **attributes):
        """Report a position; return the events that it made, as GET /events/{id} answers."""
        moment = NOON + timedelta(seconds=second)
        query = {"id": self.number, "lat": latitude, "lon": 13.4, "timestamp": round(moment.timestamp())}
        query |= attributes
        text = "&".join(f"{name}={value}" for name, value in query.items())
        stream = await trio.open_tcp_stream(LOOPBACK, self._port)
        async with stream:
            request = f"POST /?{text} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            await stream.send_all(request.encode())
            assert b" 200 " in await stream.receive_some()
        return await self.new_events()

    async def new_events(self):
        """Return the events that were not returned yet."""
        served = self.served
        stored = await events.between(served.context.database, [self.id], NOON - 99 * HOUR, NOON + 99 * HOUR)
        found = []
        for number in sorted(event.id for event in stored):
            if number not in served.known:
                served.known.add(number)
                answer = await served.admin.get(f"/events/{number}")
                assert answer.status == 200
                found.append(answer.json())
        return found

    async def event(self):
        """Return the next event, once it is there."""
        with trio.fail_after(120):
            while not (found := await self.new_events()):  # noqa: ASYNC110 - the database notifies nobody
                await trio.sleep(0.01)
        (event,) = found
        return event


def types(found):
    return [event["type"] for event in found]


async def link(served, **ids):
    answer = await served.admin.post("/permissions", json=ids)
    assert answer.status == 204, answer.text


async def make(served, path, **fields):
    answer = await served.admin.post(path, json=fields)
    assert answer.status == 200, answer.text
    return answer.json()["id"]


async def test_every_type_of_event_reaches_the_api(starting, offset):
    places = {"device": DeviceSettings(host=LOOPBACK), "port": PortSettings(offset=offset)}
    async with starting(protocols=("osmand", "jt808"), **places) as served:
        served.known = set()
        rules = {
            "speedLimit": 50,
            "fuelDropThreshold": 10,
            "fuelIncreaseThreshold": 10,
            # Its reports are ahead of the clock of the server.
            "position.implausibleSpeed": 0,
            "sensorLimit.temp1.max": 8,
            "proximityEnterDistance": 100,
            "proximityExitDistance": 200,
            "unaccompaniedDistance": 50,
            "deviceInactivityStart": 3_600_000,
            "event.status.enable": True,
            "event.geofence.segmentCrossing": True,
            "event.behavior.accelerationThreshold": 0.1,
            "event.severity.geofenceEnter": "WARNING",
        }
        truck = Vehicle(served, offset, "1", await served.device(served.admin, "1", attributes=rules))
        trailer = Vehicle(served, offset, "2", await served.device(served.admin, "2"))
        yard = await make(served, "/geofences", name="yard", area="CIRCLE (52.5 13.4, 100)")
        gate = await make(served, "/geofences", name="gate", area="CIRCLE (52.51 13.4, 100)")
        service = await make(served, "/maintenance", name="oil", type="odometer", start=1000, period=9e6)
        for geofence_id in (yard, gate):
            await link(served, deviceId=truck.id, geofenceId=geofence_id)
        await link(served, deviceId=truck.id, maintenanceId=service)
        await link(served, deviceId=truck.id, linkedDeviceId=trailer.id)
        assert await trailer.report(0, 52.5) == []
        assert (await served.admin.get("/devices")).status == 200  # has the directory know the trailer

        found = await truck.report(0, 52.5, ignition="false", fuel=50, motion="false", odometer=900)
        assert types(found) == ["deviceOnline", "geofenceEnter"]
        assert (found[1]["geofenceId"], found[1]["eventTime"]) == (yard, "2026-05-01T12:00:00Z")
        assert found[1]["positionId"] > 0
        assert found[0]["positionId"] == 0
        assert [(each["severity"], (each["review"] or {}).get("state")) for each in found] == [
            ("INFO", None),
            ("WARNING", "OPEN"),
        ]
        standing = await truck.report(
            30, 52.5, ignition="false", fuel=50, motion="false", odometer=900, result="ok"
        )
        assert types(standing) == ["commandResult"]
        assert standing[0]["attributes"] == {"result": "ok"}

        found = await truck.report(
            90,
            52.52,
            speed=60,
            ignition="true",
            fuel=30,
            temp1=9.5,
            motion="true",
            odometer=5000,
            alarm="sos",
            driverUniqueId="ann",
            image="a.jpg",
        )
        known = {
            event["type"]: event for event in found if event["attributes"] != {"alarm": "hardAcceleration"}
        }
        assert types(found) == [
            "media",
            "deviceOverspeed",
            "alarm",
            "deviceFuelDrop",
            "sensorOutOfRange",
            "deviceMoving",
            "geofenceExit",
            "geofenceCrossed",
            "proximityExit",
            "unaccompaniedMotion",
            "alarm",
            "ignitionOn",
            "maintenance",
            "driverChanged",
        ]
        assert known["media"]["attributes"] == {"media": "image", "file": "a.jpg"}
        assert known["deviceOverspeed"]["attributes"] == {"speed": 60, "speedLimit": 50}
        assert known["deviceFuelDrop"]["attributes"] == {"before": 50, "after": 30}
        assert known["sensorOutOfRange"]["attributes"] == {"sensor": "temp1", "value": 9.5, "limit": 8}
        # A trip begins no sooner than minDuration after the first position.
        assert known["deviceMoving"]["eventTime"] == "2026-05-01T12:01:30Z"
        assert known["deviceMoving"]["positionId"] == known["ignitionOn"]["positionId"]
        assert known["geofenceExit"]["geofenceId"] == yard
        assert known["geofenceCrossed"]["geofenceId"] == gate
        assert known["proximityExit"]["attributes"] == {"linkedDeviceId": trailer.id}
        assert known["alarm"]["attributes"] == {"alarm": "sos"}
        assert known["ignitionOn"]["eventTime"] == "2026-05-01T12:01:30Z"
        assert known["maintenance"]["maintenanceId"] == service
        assert known["maintenance"]["attributes"] == {"odometer": 5000}
        assert known["driverChanged"]["attributes"] == {"driverUniqueId": "ann"}

        found = await truck.report(120, 52.52, speed=0, ignition="false", fuel=60, temp1=8)
        assert types(found) == ["deviceFuelIncrease", "sensorInRange", "ignitionOff"]
        assert found[1]["attributes"] == {"sensor": "temp1", "value": 8}
        assert types(await truck.report(400, 52.52)) == ["deviceStopped"]
        assert types(await truck.report(600, 52.5005)) == [
            "geofenceEnter",
            "geofenceCrossed",
            "proximityEnter",
        ]
        # After a silence the next position says whether that one was right.
        assert types(await truck.report(610, 52.5005)) == ["deviceMoving"]

        served.clock.move_wall(3600 + 610)
        event = await truck.event()
        assert event["type"] == "deviceInactive"
        assert set(event["attributes"]) == {"lastUpdate"}

        number = await served.device(served.admin, "13912345678", attributes={"event.status.enable": True})
        terminal = Vehicle(served, offset, "13912345678", number)
        stream = await trio.open_tcp_stream(LOOPBACK, CODECS["jt808"].port + offset)
        async with stream:
            calling = Terminal("13912345678")
            await stream.send_all(calling.location(encode_location(1, 2, NOON)))
            assert calling.receive(await stream.receive_some())
            assert (await terminal.event())["type"] == "deviceOnline"
        assert (await terminal.event())["type"] == "deviceOffline"


async def test_silence_and_queued_commands_are_events(starting, offset):
    phone = "13912345678"
    places = {
        "device": DeviceSettings(host=LOOPBACK, status_seconds=1),
        "port": PortSettings(offset=offset),
    }
    async with starting(protocols=("jt808",), **places) as served:
        served.known = set()
        number = await served.device(served.admin, phone, attributes={"event.status.enable": True})
        ann = await served.user("ann")
        await link(served, userId=ann.id, deviceId=number)
        for sender in (ann, served.admin):
            custom = {"deviceId": number, "type": "custom", "attributes": {"data": "8104"}}
            sent = await sender.post("/commands/send", json=custom)
            assert sent.status == 202, sent.text
        ended = await served.admin.delete("/permissions", json={"userId": ann.id, "deviceId": number})
        assert ended.status == 204
        silent = Vehicle(served, offset, phone, number)
        found = []
        stream = await trio.open_tcp_stream(LOOPBACK, CODECS["jt808"].port + offset)
        async with stream:
            await stream.send_all(Terminal(phone).location(encode_location(1, 2, NOON)))
            with trio.fail_after(120):
                while len({event["type"] for event in found}) < 4:
                    found += await silent.new_events()
                    await trio.sleep(0.01)
        known = {event["type"]: event["attributes"] for event in found}
        assert sorted(known) == ["deviceOnline", "deviceUnknown", "queuedCommandFailed", "queuedCommandSent"]
        assert set(known["queuedCommandSent"]) == {"id"}
        failed = known["queuedCommandFailed"]
        assert (failed["command"], failed["id"]) == ("custom", known["queuedCommandSent"]["id"] - 1)
        assert "may no longer send" in failed["reason"]
