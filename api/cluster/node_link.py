"""The link to the other servers of the cluster, as the settings say (docs/servers.md#nats)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from motorpool.actors.devices import far_device
from motorpool.api.settings import Settings
from motorpool.runtime import Link, SharedTime


@asynccontextmanager
async def open_link(settings: Settings, node: int, time: SharedTime) -> AsyncIterator[Link | None]:
    """Keep the link of this server for the body; None without `[link] url`.

    Within the loop of the database (storage/database/driver.py). Raises OSError for unreadable files.
    """
    if settings.link.url is None or settings.cluster.name is None:
        yield None
        return
    # Not before it is needed: servers without a link do not pay for the client.
    from motorpool.runtime.nats_pipe import NatsAddress, open_nats  # noqa: PLC0415

    urls = tuple(each.strip() for each in settings.link.url.split(","))
    address = NatsAddress(urls, settings.link.credentials, settings.link.ca)
    async with open_nats(address) as pipe:
        yield Link(
            pipe,
            node,
            time,
            (far_device.CARRIED,),
            cluster=settings.cluster.name,
            errors=far_device.ERRORS,
        )
