"""A server of a machine as a process, as the supervisor sees it."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence

import trio

from motorpool.api.nodes.control import Channel, Failed, Joined, Message, Plan, Ready

LAST_WORDS_SECONDS = 1.0
SEND_SECONDS = 1.0
"""For a message, which a process that is frozen may not take."""
STOP_SECONDS = 9.8
"""A server that has not ended so long after it was asked to is killed; it ends itself by force before."""


class NodeProcess:
    """One life of a server: from its start to the end of its process."""

    def __init__(self, process: trio.Process, channel: Channel) -> None:
        self._process = process
        self._channel = channel
        self.joined: Joined | None = None
        """Its row in the database, once it has one."""
        self.is_ready = False
        self.fault = ""
        """Why it ended, where it has said so."""

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """How the process has ended, in words."""
        code = self._process.returncode
        if code is not None and code < 0:
            told = f"was ended by {signal.Signals(-code).name}"
        else:
            told = f"ended with code {code}"
        return f"{told}: {self.fault}" if self.fault else told

    async def run(self, on_message: Callable[[Message], None]) -> None:
        """Follow the process until it has ended and all that it has said is known; cancelled, end it.

        `on_message` is called with what it says, once it is noted here.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, on_message)
                await self._process.wait()
                # What it has said at last; a process of its own that lives on may keep the channel open.
                nursery.cancel_scope.deadline = trio.current_time() + LAST_WORDS_SECONDS
        finally:
            with trio.CancelScope(shield=True):
                self.terminate()
                with trio.move_on_after(STOP_SECONDS):
                    await self._process.wait()
                self.kill()
                await self._process.wait()
                await self._channel.aclose()

    async def _listen(self, on_message: Callable[[Message], None]) -> None:
        try:
            await self._follow(on_message)
        except ValueError as error:
            # It may do anything: another one takes its place.
            self.fault = str(error)
            self.kill()

    async def _follow(self, on_message: Callable[[Message], None]) -> None:
        async for message in self._channel.messages():
            match message:
                case Joined():
                    self.joined = message
                case Ready():
                    self.is_ready = True
                case Failed():
                    self.fault = message.line
                case _:
                    pass
            on_message(message)

    async def send(self, message: Message) -> None:
        """Tell the process something, unless it has ended or takes nothing."""
        with trio.move_on_after(SEND_SECONDS):
            await self._channel.send(message)

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        if self._process.returncode is None:
            self._process.kill()

    def terminate(self) -> None:
        """Ask the process to end, as SIGTERM does: at once if it was asked before."""
        if self._process.returncode is None:
            self._process.terminate()


async def start_node(
    command: Sequence[str], environ: Mapping[str, str], plan: Plan, kept: Sequence[int]
) -> NodeProcess:
    """Start a server with this command and the option `--control`.

    It inherits the sockets of the plan and the descriptors `kept`.

    Raises:
        OSError: there is no room for a process.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = await trio.lowlevel.open_process(
                [*command, "--control", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env=dict(environ),
                pass_fds=(theirs.fileno(), plan.load, *plan.http, *plan.devices.values(), *kept),
                # The terminal's Ctrl+C is for the supervisor, which ends its servers in order.
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
    channel = Channel(ours)
    await channel.send(plan)
    return NodeProcess(process, channel)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
