"""Sends commands to devices as text messages, each at most once (docs/decisions/0002).

Commands do not go through the outbox, which repeats messages: a device would carry a command out twice. The
sender waits for the outcome.
"""

import secrets
from collections import deque
from typing import NamedTuple

import trio

from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.deliveries.notificators.sms import Sms
from motorpool.actors.http.errors import LimitExceeded, OutgoingError
from motorpool.actors.messages.text_channel import SendText
from motorpool.actors.messages.uplink import CommandOutcome, CommandRefused, CommandSent
from motorpool.runtime import Actor, Signal
from motorpool.storage.deliveries.outbox import OutgoingMessage

MAX_CONCURRENT = 8
"""Requests to the gateway at once."""
MAX_WAITING = 200
"""Maximum messages waiting for the gateway; further ones are refused."""
OUTCOME_SECONDS = 9.0
"""Time limit of an outcome; the sender waits for 10 s."""
START_SECONDS = 4.0
"""Maximum wait before a message is sent."""


class _Waiting(NamedTuple):
    message: SendText
    arrived: float
    """On the monotonic clock."""


class TextChannel(Actor[SendText]):
    """Queues messages; each of several tasks sends one at a time."""

    def __init__(self, sms: Sms) -> None:
        self._sms = sms
        self._waiting: deque[_Waiting] = deque()
        self._arrived = Signal()

    def handle(self, message: SendText) -> None:
        """Queue a message, or refuse it."""
        if len(self._waiting) >= MAX_WAITING:
            message.reply.answer(CommandRefused("too many text messages wait for the SMS gateway"))
            return
        try:
            self._sms.admit_here(message.user_id)
        except LimitExceeded as error:
            message.reply.answer(CommandRefused(str(error)))
            return
        self._waiting.append(_Waiting(message, self.context.clock.monotonic()))
        self._arrived.set()

    async def run(self) -> None:
        """Send messages until cancelled."""
        async with trio.open_nursery() as nursery:
            for _ in range(MAX_CONCURRENT):
                nursery.start_soon(self._send_all)

    async def _send_all(self) -> None:
        while True:
            while self._waiting:
                waiting = self._waiting.popleft()
                waiting.message.reply.answer(await self._send(waiting))
            await self._arrived.wait()

    async def _send(self, waiting: _Waiting) -> CommandOutcome:
        start_until = waiting.arrived + START_SECONDS
        if self.context.clock.monotonic() > start_until:
            return CommandRefused("the SMS gateway is too slow: the text message was not sent")
        with trio.move_on_at(start_until) as admission:
            try:
                await self._sms.admit_together(waiting.message.user_id)
            except LimitExceeded as error:
                return CommandRefused(str(error))
        if admission.cancelled_caught:
            return CommandRefused("the database is too slow: the text message was not sent")
        with trio.move_on_at(waiting.arrived + OUTCOME_SECONDS):
            return await self._attempt(waiting.message)
        return CommandRefused(
            "the SMS gateway did not answer in time: the text message may have been sent or not",
            uncertain=True,
        )

    async def _attempt(self, message: SendText) -> CommandOutcome:
        try:
            await self._sms.send(
                OutgoingMessage(channel="sms", to=message.phone, text=message.text),
                Envelope(message_id=secrets.token_hex(16)),
            )
        except OutgoingError as error:
            return CommandRefused(str(error))
        except Exception as error:
            # One message must not end the others.
            self.context.log.exception("a text message cannot be sent")
            return CommandRefused(f"the text message cannot be sent: {type(error).__name__}", uncertain=True)
        return CommandSent()
