"""Restarting the process after POST /server/reboot (docs/decisions/0016)."""

import os
import sys
from collections.abc import Mapping

from motorpool.actors.gateway.inherited_sockets import InheritedSockets

RESTART_CODE = 75
"""Exit code that requests a restart by the service manager (see deploy/motorpool.service)."""


def is_supervised(environ: Mapping[str, str], pid: int, parent: int) -> bool:
    """Return whether a service manager started this very process and will restart it.

    The variables alone are no evidence: a desktop shell and the processes started from it inherit them.
    """
    if environ.get("SYSTEMD_EXEC_PID") == str(pid):
        return True
    return parent == 1 and ("INVOCATION_ID" in environ or "NOTIFY_SOCKET" in environ)


def restart_process(inherited: InheritedSockets | None = None) -> int:
    """Return the exit code that makes a service manager restart us; else execute the same command anew.

    It gets the sockets that this process has `inherited`. In a container the command is executed too, since
    it cannot be known whether the container is restarted.
    """
    if not is_supervised(os.environ, os.getpid(), os.getppid()):
        sys.stdout.flush()
        sys.stderr.flush()
        if inherited is not None:
            inherited.hand_on(os.environ)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own command line
    return RESTART_CODE
