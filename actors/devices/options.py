"""The settings that every device actor shares."""

from collections.abc import Callable, Mapping

import msgspec

from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.files.media_files import MediaFiles
from motorpool.codecs.reports import MediaAddress
from motorpool.storage.records import Position


class DeviceOptions(msgspec.Struct, frozen=True):
    """Settings of the device actors, built once for the tree."""

    media: MediaAddress
    """Where devices connect to send media and files."""
    files: MediaFiles
    """Writes what devices upload."""
    status_timeout_seconds: float
    """Silence after which an online device becomes unknown."""
    requests_alarm_files: bool = True
    """Whether devices are asked to upload the files of their alarms."""
    text_channel: Callable[[], bool] = lambda: False
    """Whether commands can be sent as text messages."""
    node: int = 0
    """The number of this server in the database."""
    latest: Mapping[int, Position | None] = {}
    """The directory's table of the latest positions of devices that were requested."""
    cluster_statuses: ClusterStatuses | None = None
    """The directory's table of the status of devices at other servers; None: there are no other servers."""

    linked: bool = False
    """Whether there is a link to other servers (docs/servers.md#nats)."""

    @property
    def clustered(self) -> bool:
        """Whether there may be other servers."""
        return self.cluster_statuses is not None
