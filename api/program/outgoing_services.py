"""Builds the outgoing services that the settings configure."""

from urllib.parse import urlsplit

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.http.address_guard import OwnServer
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.settings import Settings
from motorpool.api.version import program_version
from motorpool.runtime import Clock


def build_outgoing_services(
    live: LiveSettings, clock: Clock, shared: SharedAttempts | None = None
) -> OutgoingServices:
    """The one OutgoingServices of a server, which follows its settings; `shared` counts text messages for all
    servers of a cluster.
    """
    settings = live.settings
    outgoing = OutgoingServices(
        allow=settings.webhook.allow,
        own=_own_server(settings),
        version=program_version(),
        monotonic=clock.monotonic,
        shared=shared,
    )
    names = ("geocoder", *(each.name for each in NOTIFICATORS if each.settings is not None))

    def apply(live: LiveSettings) -> None:
        outgoing.configure({name: getattr(live.settings, name) for name in names}, live.unvouched)

    live.follow(apply)
    return outgoing


def _own_server(settings: Settings) -> OwnServer:
    public = urlsplit(settings.public_url)
    hosts = (public.hostname, settings.public.host, settings.device.host)
    ports = {80, 443, settings.address[1], public.port or 443}
    return OwnServer(tuple(host for host in hosts if host), frozenset(ports))
