"""Talk: a WebSocket with sound both ways between a user and the driver of a vehicle (docs/video.md#talk).

A client that reads nothing at all is disconnected by api/http/listening_sockets.py.
"""

import array
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

import trio
from quart import Request, Response, Websocket, websocket
from quart_trio import QuartTrio

from motorpool.actors.messages.changes import CHANGES
from motorpool.actors.messages.counters import TALK_SAMPLES_DROPPED
from motorpool.actors.video.talk import BEGIN_SECONDS, NO_ANSWER, TALK, BeginTalk, EndTalk, TalkRefused
from motorpool.actors.video.talk_line import SampleBudget, TalkLine
from motorpool.api.access import require_device
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import TALK_TO_DRIVERS
from motorpool.api.cluster.home_socket import HomeClosed, HomeRefused, HomeSocket, open_home_socket
from motorpool.api.engine.audit import record_action, record_refusal
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Content, Operations
from motorpool.api.http.errors import (
    AlreadyInUse,
    BadRequest,
    Forbidden,
    HttpError,
    ResourceNotFound,
    Unauthorized,
    Unavailable,
)
from motorpool.api.http.node_gate import Sender, sender_of
from motorpool.api.logins.authentication import identify_socket_caller
from motorpool.api.server_context import ServerContext
from motorpool.codecs.channel_map import CHANNELS
from motorpool.codecs.media.telephone_sound import FRAME_BYTES
from motorpool.runtime import ActorError, Lagged
from motorpool.storage.cluster.homes import Home
from motorpool.storage.errors import StorageError, StorageUnavailable

OPERATIONS = Operations("stream")

NORMAL, GOING_AWAY, UNSUPPORTED_DATA, POLICY_VIOLATION = 1000, 1001, 1003, 1008
"""Close codes (RFC 6455, section 7.4.1)."""
REFUSED = 4000
"""Close code of a refusal for pages: this and the status of the answer that it stands for."""
REASON_BYTES = 123
"""Longest reason of a close frame (RFC 6455, section 5.5)."""
CHECK_SECONDS = 15.0
"""Between two looks whether the user may still talk, where no change announces that they may not."""
AUDIT_SECONDS = 5.0
SILENT = 328
"""Samples below it, 1 % of full scale, are silence."""
HOME_SILENT = "the server of the device does not answer now"
CHANGES_QUEUE = 100
"""Commits that wait while rights are checked; beyond them they are checked once more."""


@OPERATIONS.operation(
    "GET",
    "/stream/{deviceId}/{channel}/talk",
    answers={101: Content(media_type=NO_CONTENT.media_type, text="A WebSocket")},
    errors=(400, 409),
)
async def get_talk(call: Call) -> Response:
    """Talk to the driver: a WebSocket with sound in both directions.

    Binary messages of 16 bit samples, little-endian, 8,000 a second, mono, of at most 4 KiB. One user at a
    time talks to a device: another gets 409. With `errors=close` an upgrade is not refused: the socket is
    opened and closed with 4000 and the status as its code, and the text as its reason.
    """
    await require_device(call, call.path["deviceId"])
    TALK_TO_DRIVERS.require(call.caller)
    raise BadRequest("this is a WebSocket")


(OPERATION,) = OPERATIONS


def add_talk_socket(app: QuartTrio, context: ServerContext) -> None:
    """Serve the sockets of talk."""

    @app.websocket(OPERATION.rule)
    async def talk(deviceId: int, channel: int) -> None:
        request = cast("Request", cast("Websocket", websocket._get_current_object()))  # type: ignore[attr-defined]
        call = Call(context, request, {"deviceId": deviceId, "channel": channel})
        try:
            await _Talk(call).serve()
        except HttpError as error:
            await record_refusal(call, OPERATION, error)
            if websocket.args.get("errors") != "close":
                raise
            await websocket.accept()
            await websocket.close(REFUSED + int(error.status), _reason(error.text))


class _Talk:
    """One socket."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._context = call.context
        self._token = websocket.args.get("token")
        self._device_id: int = call.path["deviceId"]
        self._channel: int = call.path["channel"]
        self._budget = SampleBudget()
        self._close_code = NORMAL

    async def serve(self) -> None:
        """Begin, pass sound on until either side ends it, and end. Raises HttpError where it cannot begin."""
        call = self._call
        try:
            await self._identify()
            if self._channel not in CHANNELS:
                raise ResourceNotFound("cameras have the numbers 1 to 31")
            await self._require_rights()
            home = await self._find_home()
        except StorageUnavailable as error:
            raise Unavailable(error.text) from error
        with self._context.limits.open_sockets.hold(call.caller.id, call.address):
            line = TalkLine(self._channel, call.caller.user.name, self._context.clock.monotonic)
            refusal: HttpError | None = None
            async with trio.open_nursery() as nursery:
                await nursery.start(self._follow_rights, line)
                nursery.start_soon(self._follow_closing, line)
                try:
                    await (self._talk(line) if home is None else self._forward(home, line))
                except HttpError as error:
                    refusal = error  # raised here it would be wrapped in a group
                nursery.cancel_scope.cancel()
        if refusal is not None:
            raise refusal
        await websocket.close(self._close_code, _reason(line.reason))

    async def _talk(self, line: TalkLine) -> None:
        """Talk to a device of this server."""
        try:
            await self._begin(line)
            await self._pass_on(line)
        finally:
            line.end("the user has ended the talk")
            self._context.system.ref(TALK, self._device_id).offer(EndTalk(line))

    async def _forward(self, home: Home, line: TalkLine) -> None:
        """Talk to a device of another server: that one talks, and its socket is joined to the user's."""
        call, caller = self._call, self._call.caller
        sender = Sender(caller.id, caller.impersonator_id, caller.sharer_id)
        seconds = BEGIN_SECONDS + self._context.settings.video.start_seconds + CHECK_SECONDS
        try:
            async with open_home_socket(
                home, call.request.path, sender, call.address, seconds=seconds
            ) as socket:
                await websocket.accept()
                await _first(
                    line.ended.wait, lambda: self._send_home(socket), lambda: self._receive_home(socket, line)
                )
        except HomeRefused as refused:
            raise _refused_by_home(refused) from refused
        except HomeClosed as closed:
            raise Unavailable(HOME_SILENT) from closed

    async def _send_home(self, socket: HomeSocket) -> None:
        try:
            while True:
                await socket.send(await websocket.receive() or b"")
        except HomeClosed:
            # What it has said at its end is still to be read.
            await trio.sleep_forever()

    async def _receive_home(self, socket: HomeSocket, line: TalkLine) -> None:
        try:
            async for pcm in socket.messages():
                await websocket.send(pcm)
        except HomeClosed as closed:
            if not line.ended.is_set():
                self._close_code = GOING_AWAY if closed.code is None else closed.code
                line.end(HOME_SILENT if closed.code is None else closed.reason)

    async def _begin(self, line: TalkLine) -> None:
        """Return when the terminal has connected."""
        talk = self._context.system.ref(TALK, self._device_id)
        try:
            refused = await talk.ask(BeginTalk(line), seconds=BEGIN_SECONDS)
        except ActorError as error:
            raise Unavailable(NO_ANSWER) from error
        if isinstance(refused, TalkRefused):
            raise self._refusal(refused)
        with trio.move_on_after(self._context.settings.video.start_seconds):
            await _first(line.joined.wait, line.ended.wait)
        if line.ended.is_set():
            raise Unavailable(line.reason)
        if not line.joined.is_set():
            raise Unavailable(NO_ANSWER)

    def _refusal(self, refused: TalkRefused) -> HttpError:
        if refused.talker is not None:
            return AlreadyInUse(f"{refused.talker or 'somebody'} talks to the driver already")
        return Unavailable(refused.reason) if refused.is_passing else BadRequest(refused.reason)

    async def _pass_on(self, line: TalkLine) -> None:
        await websocket.accept()
        began = self._context.clock.monotonic()
        await self._record("talkStart")
        try:
            await _first(line.ended.wait, lambda: self._listen(line), lambda: self._speak(line))
        finally:
            with trio.move_on_after(AUDIT_SECONDS, shield=True):
                seconds = round(self._context.clock.monotonic() - began)
                await self._record("talkEnd", seconds=seconds, reason=line.reason or "the user has left")

    async def _listen(self, line: TalkLine) -> None:
        """Take what the user says."""
        monotonic = self._context.clock.monotonic
        while True:
            pcm = await websocket.receive() or b""  # Quart: None for an empty binary message
            if isinstance(pcm, str) or len(pcm) % 2:
                self._close_code = UNSUPPORTED_DATA
                line.end("messages hold 16 bit samples, and nothing else")
                return
            samples = array.array("h", pcm)
            if not samples:
                continue
            if not self._budget.take(len(samples), monotonic()):
                TALK_SAMPLES_DROPPED.inc(len(samples))
                continue
            is_silent = max(samples) < SILENT and min(samples) > -SILENT
            if dropped := line.speak(pcm, is_silent=is_silent):
                TALK_SAMPLES_DROPPED.inc(dropped)

    async def _speak(self, line: TalkLine) -> None:
        """Send what the vehicle hears."""
        while True:
            await line.heard.arrived.wait()
            while pcm := line.heard.take(FRAME_BYTES):
                await websocket.send(pcm)

    # Rights

    async def _identify(self) -> Caller:
        caller = await identify_socket_caller(self._context, self._token)
        before = self._call.optional_caller
        if caller is None or (before is not None and before.id != caller.id):
            raise Unauthorized("log in first")
        self._call.optional_caller = caller
        return caller

    async def _require_rights(self) -> None:
        await require_device(self._call, self._device_id)
        TALK_TO_DRIVERS.require(self._call.caller)

    async def _find_home(self) -> Home | None:
        """Return the other server of the cluster that the device is connected to; None: it is this one."""
        finder = self._context.home_finder
        home = None if finder is None else await finder.find(self._device_id)
        if home is not None and sender_of(self._call.request) is not None:
            raise Unavailable("the device has moved to another server")
        if home is not None and not home.responds:
            raise Unavailable(HOME_SILENT)
        return home

    async def _follow_rights(
        self, line: TalkLine, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """End the talk as soon as the user may not talk to the driver any more."""
        clock = self._context.clock
        async with self._context.system.topic(CHANGES).subscribe(CHANGES_QUEUE) as subscription:
            task_status.started()
            while True:
                expires = self._call.caller.expires
                left = CHECK_SECONDS if expires is None else (expires - clock.now()).total_seconds()
                with trio.move_on_after(max(0.0, min(left, CHECK_SECONDS))), suppress(Lagged):
                    await subscription.receive_batch()
                try:
                    await self._identify()
                    await self._require_rights()
                except HttpError as error:
                    return self._forbid(line, error.text)
                except (StorageError, ActorError):
                    # What cannot be checked when it is due is not valid; until then rights stay as they were.
                    if expires is not None and expires <= clock.now():
                        return self._forbid(line, "log in first")
                await trio.lowlevel.checkpoint()

    def _forbid(self, line: TalkLine, reason: str) -> None:
        if not line.ended.is_set():
            self._close_code = POLICY_VIOLATION
            line.end(reason)

    async def _follow_closing(self, line: TalkLine) -> None:
        await self._context.lifetime.closing.wait()
        self._close_code = GOING_AWAY
        line.end("the server stops")

    async def _record(self, action: str, **attributes: object) -> None:
        call = self._call
        attributes = {"channel": self._channel, **attributes}
        with suppress(StorageError):
            await record_action(
                call, call.context.database, action, "device", self._device_id, attributes=attributes
            )


async def _first(*waits: Callable[[], Awaitable[object]]) -> None:
    """Wait for the first of these to return; the others are cancelled."""

    async def wait(function: Callable[[], Awaitable[object]]) -> None:
        await function()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for each in waits:
            nursery.start_soon(wait, each)


def _refused_by_home(refused: HomeRefused) -> HttpError:
    for error in (BadRequest, Unauthorized, Forbidden, ResourceNotFound, AlreadyInUse):
        if error.status == refused.status:
            return error(refused.text)
    return Unavailable(refused.text or HOME_SILENT)


def _reason(text: str) -> str:
    return text.encode()[:REASON_BYTES].decode(errors="ignore")
