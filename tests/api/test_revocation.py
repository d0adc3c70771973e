"""What revokes a right ends every access by it before the request that revoked it is answered.

A server with its actors; devices are connections that record. Each revocation is tried against all kinds of
access: those that it names have ended then, all others go on.
"""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

import trio
from tests.runtime.actor_testing import Probe
from trio_websocket import ConnectionClosed, open_websocket_url

from motorpool.actors.messages.downlink import CONNECTION, StopServing, Transmit, Transmitted
from motorpool.actors.messages.scheduling import DISPATCHER, RunNow
from motorpool.actors.messages.uplink import DEVICE, AttachConnection, Connected, GetCommandTypes

EVENINGS = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//a//b//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260501T000000Z\r\n"
    b"DTSTART:20260501T180000Z\r\nDTEND:20260501T200000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)

UNTIL = "2026-05-03T00:00:00Z"
SPACE = 1000
"""Numbers of connections of the test begin here."""


@dataclass
class World:
    """Ann sees a van; boss manages her, and acts as her."""

    served: Any
    data: Any
    number: int
    """Of this world; the names in it end with it."""
    ids: dict[str, int] = field(default_factory=dict)
    clients: dict[str, Any] = field(default_factory=dict)
    connections: dict[str, Probe[Any]] = field(default_factory=dict)
    socket: Any = None
    token: str = ""
    numbers: int = 0
    via: str = ""

    async def build(self, via: str) -> None:
        self.via = via
        served, admin = self.served, self.served.admin
        ann = await served.user(self.name("ann"), administrator=via == "role")
        boss = await served.user(self.name("boss"), userLimit=-1)
        self.ids |= {"ann": ann.id, "boss": boss.id}
        if via != "role":  # an administrator has no manager
            await self.post(admin, "/permissions", userId=boss.id, managedUserId=ann.id)
        group = (await self.post(admin, "/groups", name="depot"))["id"]
        for name in ("van", "other", "marker"):
            inside = group if via == "group" and name != "marker" else 0
            both = {"device.protocols": "jt808, osmand"}
            self.ids[name] = await served.device(admin, self.name(name), groupId=inside, attributes=both)
            if via == "device" or name == "marker":
                await self.post(admin, "/permissions", userId=ann.id, deviceId=self.ids[name])
        if via == "group":
            await self.post(admin, "/permissions", userId=ann.id, groupId=group)
        self.ids["group"] = group
        await self._log_in(ann, boss, via)
        await self._schedule(ann)
        await self._connect()
        folder = self.data / "media" / self.name("van")
        folder.mkdir(parents=True)
        (folder / "capture-1.mp4").write_bytes(b"film")

    async def _log_in(self, ann: Any, boss: Any, via: str) -> None:
        served = self.served
        ann_s = self.name("ann")
        word = base64.b64encode(f"{ann_s}@example.org:{ann_s}".encode()).decode()
        self.token = (await ann.post("/session/token")).text
        share = await ann.post("/share/device", form={"deviceId": self.ids["van"], "expiration": UNTIL})
        assert share.status == 200, share.text
        self.clients |= {
            "cookie": ann,
            "bearer": served.client({"Authorization": f"Bearer {self.token}"}),
            "basic": served.client({"Authorization": f"Basic {word}"}),
            "token session": served.client(),
            "share": served.client({"Authorization": f"Bearer {share.text}"}),
            "share session": served.client(),
            "acting": boss,
        }
        for name, token in (("token session", self.token), ("share session", share.text)):
            assert (await self.clients[name].get(f"/session?token={token}")).status == 200
        if via == "role":
            del self.clients["acting"]
        else:
            assert (await boss.get(f"/session/{ann.id}")).status == 200

    async def _schedule(self, ann: Any) -> None:
        command = await self.post(ann, "/commands", description="c", type="custom", attributes={"data": "00"})
        calendar = await self.post(ann, "/calendars", name="c", data=base64.b64encode(EVENINGS).decode())
        steps = [{"commandId": command["id"]}]
        body = {"name": "s", "calendarId": calendar["id"], "onStart": steps}
        self.ids["schedule"] = (await self.post(ann, "/scheduledcommands", **body))["id"]
        await self.post(
            ann, "/permissions", deviceId=self.ids["other"], scheduledCommandId=self.ids["schedule"]
        )
        sent = {"deviceId": self.ids["other"], "type": "custom", "attributes": {"data": "00"}}
        assert (await ann.post("/commands/send", json=sent)).status == 202

    async def _connect(self) -> None:
        device = self.served.context.system.ref(DEVICE, self.ids["van"])
        for name, protocol in (("terminal", "jt808"), ("phone", "osmand")):
            ref = await self.connection(name)
            login = Connected(ref, protocol, "192.0.2.7", "192.0.2.1", (self.name("van"),))
            assert await device.ask(login, seconds=10) is None
        assert await device.ask(AttachConnection(await self.connection("media"), (self.name("van"),)))

    async def connection(self, name: str) -> Any:
        self.numbers += 1
        self.connections[name] = Probe({Transmit: Transmitted(None)})
        return await self.served.context.system.start(
            CONNECTION, SPACE * (self.number + 1) + self.numbers, lambda: self.connections[name]
        )

    def name(self, name: str) -> str:
        return f"{name}{self.number}"

    async def post(self, client: Any, path: str, **body: Any) -> Any:
        answer = await client.post(path, json=body)
        assert answer.status in {200, 204}, answer.text
        return answer.json() if answer.body else None

    # Kinds of access: whether each is granted

    async def shows(self, name: str) -> bool:
        """Whether a client sees the van."""
        return (await self.clients[name].get(f"/devices/{self.ids['van']}")).status == 200

    async def plays(self, file: str) -> bool:
        answer = await self.clients["cookie"].get(f"/stream/{self.ids['van']}/1/{file}")
        # Without a camera there is no picture.
        return answer.status == 200 or "does not stream" in answer.text

    async def sends_files(self) -> bool:
        return (await self.clients["cookie"].get(f"/media/{self.name('van')}/capture-1.mp4")).status == 200

    async def pushes(self) -> bool:
        """Whether the socket tells of the van before it tells of what Ann sees whatever happens."""
        when = self.served.clock.now()
        positions = [self.served.position(self.ids[name], when) for name in ("van", "marker")]
        await self.served.report(positions[0])
        await self.served.report(positions[1])
        seen: set[int] = set()
        try:
            while self.ids["marker"] not in seen:
                with trio.fail_after(120):
                    message = json.loads(await self.socket.get_message())
                seen |= {position["deviceId"] for position in message.get("positions", ())}
        except ConnectionClosed:
            return False
        return self.ids["van"] in seen

    async def serves(self, name: str) -> bool:
        """Whether a connection of the van is still served."""
        return not any(isinstance(each, StopServing) for each in self.connections[name].messages)

    async def runs(self) -> bool:
        """Whether the step of Ann's scheduled command is sent, or would be to a connected device."""
        request = RunNow(self.ids["schedule"])
        (made,) = await self.served.context.system.ref(DISPATCHER).ask(request, seconds=10)
        return made.reason != "no_permission"

    async def delivers(self) -> bool:
        """Whether the command that Ann has queued is sent when its device connects."""
        ref = await self.connection("other")
        device = self.served.context.system.ref(DEVICE, self.ids["other"])
        login = Connected(ref, "jt808", "192.0.2.7", "192.0.2.1", (self.name("other"),))
        await device.ask(login, seconds=10)
        await device.ask(GetCommandTypes(), seconds=10)  # handled when the queue has been delivered
        return any(isinstance(each, Transmit) for each in self.connections["other"].messages)

    async def denied(self) -> set[str]:
        """The kinds of access that are denied."""
        found = {name: await self.shows(name) for name in self.clients}
        found |= {name: await self.plays(name) for name in ("live.m3u8", "playback.m3u8", "snapshot.jpg")}
        found |= {name: await self.serves(name) for name in ("terminal", "phone", "media")}
        found |= {"file": await self.sends_files(), "step": await self.runs()}
        if self.via != "role":  # the socket shows administrators what they are linked to
            found["socket"] = await self.pushes()
        return {name for name, is_granted in found.items() if not is_granted}


COOKIE = {"cookie", "live.m3u8", "playback.m3u8", "snapshot.jpg", "file", "socket"}
TOKEN = {"bearer", "token session"}
SHARE = {"share", "share session"}
EVERY_LOGIN = COOKIE | TOKEN | {"basic", "acting"}
ANN = EVERY_LOGIN | SHARE | {"step", "queued"}
CONNECTIONS = {"terminal", "phone", "media"}

REVOCATIONS: dict[str, tuple[str, set[str]]] = {
    "user disabled": ("device", ANN),
    "user expired": ("device", ANN),
    "user deleted": ("device", ANN),
    "user demoted": ("role", ANN - {"acting", "socket"}),
    "reports taken away": ("device", {"playback.m3u8", "file"}),
    "password changed": ("device", EVERY_LOGIN),
    "codes set up": ("device", EVERY_LOGIN),
    "token revoked": ("device", TOKEN),
    "session deleted": ("device", COOKIE),
    "logged out": ("device", COOKIE),
    "link removed": ("device", ANN),
    "group link removed": ("group", ANN),
    "moved out of the group": ("group", ANN - {"step", "queued"}),
    "manager disabled": ("device", {"acting"}),
    "manager demoted": ("device", {"acting"}),
    "manager's link removed": ("device", {"acting"}),
    "share revoked": ("device", SHARE),
    "device disabled": ("device", CONNECTIONS),
    "device expired": ("device", CONNECTIONS),
    "device renamed": ("device", CONNECTIONS | {"file"}),
    "device deleted": ("device", EVERY_LOGIN | SHARE | CONNECTIONS),
}
"""How Ann came to see the van, and the kinds of access that are denied afterwards."""
PAST = "2026-05-01T11:00:00Z"


async def revoke(world: World, name: str) -> Any:
    """Do what revokes a right; the answer."""
    admin, ids = world.served.admin, world.ids

    async def edit(kind: str, who: str, **fields: Any) -> Any:
        path = f"/{kind}/{ids[who]}"
        return await admin.put(path, json={**(await admin.get(path)).json(), **fields})

    async def unlink(owner: str, **owned: int) -> Any:
        return await admin.delete("/permissions", json={"userId": ids[owner], **owned})

    match name.split():
        case ["user", "disabled"]:
            return await edit("users", "ann", disabled=True)
        case ["user", "expired"]:
            return await edit("users", "ann", expirationTime=PAST)
        case ["user", "deleted"]:
            return await admin.delete(f"/users/{ids['ann']}")
        case ["user", "demoted"]:
            return await edit("users", "ann", administrator=False)
        case ["reports", *_]:
            return await edit("users", "ann", disableReports=True)
        case ["password", "changed"]:
            return await edit("users", "ann", password="something else")
        case ["codes", *_]:
            return await edit("users", "ann", totpKey="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        case ["token", "revoked"]:
            return await admin.post("/session/token/revoke", form={"token": world.token})
        case ["session", "deleted"]:
            sessions = (await world.clients["cookie"].get("/sessions")).json()
            (own,) = [session["id"] for session in sessions if session["current"]]
            return await admin.delete(f"/sessions/{own}")
        case ["logged", "out"]:
            return await world.clients["cookie"].delete("/session")
        case ["link", "removed"]:
            await unlink("ann", deviceId=ids["other"])
            return await unlink("ann", deviceId=ids["van"])
        case ["group", "link", "removed"]:
            return await unlink("ann", groupId=ids["group"])
        case ["moved", *_]:
            return await edit("devices", "van", groupId=0)
        case ["manager", "disabled"]:
            return await edit("users", "boss", disabled=True)
        case ["manager", "demoted"]:
            return await edit("users", "boss", userLimit=0)
        case ["manager's", *_]:
            return await unlink("boss", managedUserId=ids["ann"])
        case ["share", "revoked"]:
            (share,) = (await world.clients["cookie"].get("/shares")).json()
            return await world.clients["cookie"].delete(f"/shares/{share['id']}")
        case ["device", "disabled"]:
            return await edit("devices", "van", disabled=True)
        case ["device", "expired"]:
            return await edit("devices", "van", expirationTime=PAST)
        case ["device", "renamed"]:
            return await edit("devices", "van", uniqueId=world.name("lorry"))
        case _:
            return await admin.delete(f"/devices/{ids['van']}")


async def test_a_revocation_ends_the_access_that_it_names_and_no_other(starting, tmp_path):
    async with starting(listen=True) as served:
        for number, (name, (via, expected)) in enumerate(REVOCATIONS.items()):
            world = World(served, tmp_path, number)
            await world.build(via)
            url = f"ws://127.0.0.1:{served.port}/api/socket"
            cookie = [("Cookie", f"JSESSIONID={served.cookie(world.clients['cookie'])}")]
            async with open_websocket_url(url, extra_headers=cookie) as world.socket:
                await world.socket.get_message()
                assert await world.denied() == set(), name
                answer = await revoke(world, name)
                assert answer.status in {200, 204}, (name, answer.text)
                denied = await world.denied()
                if not await world.delivers():
                    denied.add("queued")
                assert denied == expected, name
                # trio-websocket leaves the stream open that the server has closed.
                await world.socket._stream.aclose()
