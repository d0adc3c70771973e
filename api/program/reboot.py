"""Starting again after POST /server/reboot (docs/decisions/0016)."""

import os
import sys
from collections.abc import Mapping

__all__ = ["RESTART_CODE", "is_supervised", "restart_process"]

RESTART_CODE = 75
"""Exit code that asks a service manager for a new start (deploy/motorpool.service knows it)."""


def is_supervised(environ: Mapping[str, str], pid: int, parent: int) -> bool:
    """Whether a service manager started this very process and will start it again.

    The variables alone say nothing: a shell on a desktop, and all that is started from it, inherits them.
    """
    if environ.get("SYSTEMD_EXEC_PID") == str(pid):
        return True
    return parent == 1 and ("INVOCATION_ID" in environ or "NOTIFY_SOCKET" in environ)


def restart_process() -> int:
    """End with the code that restarts a service; else become a new run of the same command, as ever.

    In a container too: whether anybody starts that again is not known from inside.
    """
    if not is_supervised(os.environ, os.getpid(), os.getppid()):
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own command line
    return RESTART_CODE
