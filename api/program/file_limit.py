"""The limit of open files, which bounds how many connections the server can hold."""

import logging
import resource
from contextlib import suppress

from motorpool.actors.gateway.port_guard import DEVICE_SHARE, HTTP_SHARE, MEDIA_SHARE, descriptor_share
from motorpool.api.program.settings import Settings

__all__ = ["raise_file_limit"]

_log = logging.getLogger(__name__)


def raise_file_limit(settings: Settings) -> None:
    """Raise the limit as far as allowed, and log which settings it does not allow all the same."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name, chosen, share in (
        ("device.connections", settings.device.connections, DEVICE_SHARE),
        ("video.connections", settings.video.connections, MEDIA_SHARE),
        ("http.connections", settings.http.connections, HTTP_SHARE),
    ):
        allowed = descriptor_share(share)
        if allowed < chosen:
            _log.warning("%s is %d, but the limit of open files allows %d", name, chosen, allowed)
