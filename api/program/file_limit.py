"""The limit of open files, which bounds how many connections the server can hold."""

import logging
import resource
from contextlib import suppress

from motorpool.actors.gateway.port_guard import DEVICE_SHARE, HTTP_SHARE, MEDIA_SHARE, descriptor_share
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.actors.video.settings import VideoSettings
from motorpool.api.settings import HttpSettings, Settings

FEW_CONNECTIONS = 500
"""A limit that allows fewer is worth a warning even where nothing was configured."""

_log = logging.getLogger(__name__)


def raise_file_limit(settings: Settings) -> None:
    """Raise the limit as far as allowed, and log what it does not allow of what was configured.

    The defaults are for large servers: that a small limit does not allow them is no warning, unless it allows
    hardly any device.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name, chosen, default, share in (
        ("device.connections", settings.device.connections, DeviceSettings.connections, DEVICE_SHARE),
        ("video.connections", settings.video.connections, VideoSettings.connections, MEDIA_SHARE),
        ("http.connections", settings.http.connections, HttpSettings.connections, HTTP_SHARE),
    ):
        allowed = descriptor_share(share)
        if allowed < chosen:
            level = logging.DEBUG if chosen == default and allowed >= FEW_CONNECTIONS else logging.WARNING
            _log.log(
                level, "%s is %d, but the limit of open files (%d) allows %d", name, chosen, hard, allowed
            )
