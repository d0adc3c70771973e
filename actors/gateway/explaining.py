"""Explains messages of devices in processes of their own (docs/protocols/common.md#explained-messages)."""

import logging
import os
import subprocess
import sys

import msgspec
import trio

from motorpool.actors.gateway.explain_worker import MessageToExplain
from motorpool.actors.video.worker_process import INHERITED
from motorpool.codecs.devices.explanation import Part

PROCESS_SECONDS = 60.0
"""Limit of one process; it gives way to all else, so that on a busy machine its 5 s take longer."""
COMMAND = (sys.executable, "-m", "motorpool.actors.gateway.explain_worker")

_log = logging.getLogger(__name__)


class CannotExplain(Exception):
    """The process could not be started, failed, or took too long."""


async def explain_message(message: MessageToExplain) -> list[Part]:
    """Return the parts of a message. The caller bounds how many processes run. Raises CannotExplain."""
    try:
        with trio.fail_after(PROCESS_SECONDS):
            done = await trio.run_process(
                COMMAND,
                stdin=msgspec.json.encode(message),
                capture_stdout=True,
                check=False,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in INHERITED if name in os.environ},
                # Ctrl+C must reach only the server, which ends its processes itself.
                start_new_session=True,
            )
    except trio.TooSlowError:
        raise _failed(f"was stopped after {PROCESS_SECONDS:g} s") from None
    except OSError as error:
        raise _failed(f"cannot be started: {error}") from error
    if done.returncode:
        raise _failed(f"ended with status {done.returncode}")
    return msgspec.json.decode(done.stdout, type=list[Part])


def _failed(reason: str) -> CannotExplain:
    _log.warning("the process that explains a message %s", reason)
    return CannotExplain(f"the message cannot be explained: the process for it {reason}")
