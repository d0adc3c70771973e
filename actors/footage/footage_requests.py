"""Fetches what footage requests ask for, as captures: when the vehicle is online, one at a time a vehicle.

All of it stands in the table `footage_requests`. A server takes the requests of devices that are connected to
it, by comparison, and leases what it fetches; a request whose server is gone is tried again
(docs/decisions/0231).
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec
import trio

from motorpool.actors.messages.footage import FootageRequestsChanged
from motorpool.actors.video.capture_records import SERVER_ENDED
from motorpool.actors.video.capture_start import NotCaptured, capture_recording, end_capture
from motorpool.actors.video.leased_captures import LEASE, PAGE, RETRY, LeasedCaptures, audited, capturing_user
from motorpool.runtime import ActorError
from motorpool.storage.accounts import audit
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.video import captures, footage_requests
from motorpool.storage.video.footage_requests import FootageRequest, Status

MAX_ATTEMPTS = 3
"""Captures opened for a request, without any video, after which it has failed."""
STARTS = 8
"""Requests that are begun at the same time."""
NO_RIGHT = "the user may not capture video of the device"
NOT_IN_TIME = "the device was not connected in time, or its other playbacks did not end"


class FootageRequests(LeasedCaptures[FootageRequestsChanged, FootageRequest]):
    """Looks after the requests that one server fetches."""

    FAILURE = "footage requests are not followed"
    DELETED = "the request was deleted"

    def __init__(self, database: Database, holder: str) -> None:
        """`holder` tells this server from others."""
        super().__init__(database, footage_requests.ROWS, holder)

    async def is_any(self) -> bool:
        """Return whether any request waits or is being fetched."""
        return await footage_requests.is_any_open(self._database)

    async def settle_ended(self, held: Sequence[FootageRequest]) -> bool:
        """Store how the captures of requests have ended; return whether others run."""
        for request in held:
            await self._settle(request)
        return bool(self._running)

    async def take(self, held: Sequence[FootageRequest], now: datetime) -> None:
        """End requests that may not continue, and begin one request of each connected device."""
        for request in held:
            if request.id in self._running and not await self._may_fetch(request, now):
                end_capture(self.context.system, self._running[request.id], NO_RIGHT)
        for request in await self._rows.lapsed(self._database, now=now, limit=PAGE):
            if await self._rows.take_over(self._database, request, self._holder, until=now + LEASE):
                await self._settle(msgspec.structs.replace(request, holder=self._holder))
        for request in await self._rows.expired(self._database, now=now, limit=PAGE):
            await self._end(request, "EXPIRED", request.reason or NOT_IN_TIME)
        slots = trio.CapacityLimiter(STARTS)
        async with trio.open_nursery() as nursery:
            for request in await self.startable({request.device_id for request in held}, now):
                nursery.start_soon(self._begin_in_turn, request, slots)

    async def _may_fetch(self, request: FootageRequest, now: datetime) -> bool:
        return await capturing_user(self.context.system, self._database, request, now) is not None

    async def _begin_in_turn(self, request: FootageRequest, slots: trio.CapacityLimiter) -> None:
        async with slots:
            try:
                await self._begin(request)
            except (StorageError, ActorError) as error:
                # The lease ends, and it is tried again.
                self.context.log.warning("footage request %d: %s", request.id, error)

    async def _begin(self, waiting: FootageRequest) -> None:
        now = self.context.clock.now()
        device = await devices.TABLE.fetch(self._database, waiting.device_id)
        if device is None:
            return
        if not await self._may_fetch(waiting, now):
            await self._end(waiting, "FAILED", NO_RIGHT)
            return
        if not await self._rows.begin(self._database, waiting.id, self._holder, until=now + LEASE):
            return
        request = msgspec.structs.replace(waiting, status="FETCHING", holder=self._holder)
        record = await capture_recording(
            self.context.system,
            device_id=device.id,
            unique_id=device.unique_id,
            channel=request.channel,
            begins=request.start_time,
            ends=request.end_time,
            user_id=request.user_id,
        )
        if isinstance(record, NotCaptured):
            if record.may_pass:
                await footage_requests.put_back(
                    self._database, request, not_before=now + RETRY, reason=record.reason, counts=False
                )
            else:
                await self._end(request, "FAILED", record.reason)
            return
        self._running[request.id] = record.id
        # Where this fails, the capture is ended by the next look: the request does not name it.
        async with self._database.transaction() as transaction:
            if await footage_requests.name_capture(
                transaction, request.id, self._holder, capture_id=record.id, file_name=record.file_name
            ):
                entry = audited(request, record.file_name, now, footageRequestId=request.id)
                await audit.record(transaction, entry)

    async def _settle(self, request: FootageRequest) -> None:
        """Store how the capture of a request has ended, if it has."""
        record = None
        if request.capture_id:
            record = await captures.fetch(self._database, request.capture_id)
            if record is not None and record.status == "RECORDING":
                self._running[request.id] = request.capture_id
                return
        unnamed = self._running.pop(request.id, None)
        if unnamed is not None and unnamed != request.capture_id:
            end_capture(self.context.system, unnamed, "it could not be noted")
        now = self.context.clock.now()
        reason = SERVER_ENDED if record is None else record.reason or ""
        is_complete = record is not None and record.status == "COMPLETE"
        # What the end of its server has cut short is fetched again from the start.
        is_whole = is_complete and record is not None and not record.interrupted
        may_repeat = request.attempts < MAX_ATTEMPTS and now < request.until and NO_RIGHT not in reason
        if may_repeat and not is_whole:
            await footage_requests.put_back(self._database, request, not_before=now + RETRY, reason=reason)
        else:
            await self._end(request, "COMPLETE" if is_complete else "FAILED", reason)

    async def _end(self, request: FootageRequest, status: Status, reason: str) -> None:
        now = self.context.clock.now()
        if await footage_requests.end(self._database, request, status, reason, now=now):
            self.context.log.info("footage request %d: %s %s", request.id, status.lower(), reason)
