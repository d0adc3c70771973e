"""The outgoing services of a server, built from its settings."""

from collections.abc import Callable
from typing import cast

import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries.notificator import Network, Notificator
from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.deliveries.notificators.sms import Sms
from motorpool.actors.deliveries.webhook import Webhooks
from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.address_guard import OwnServer
from motorpool.actors.http.http import OutgoingHttp

MAX_WEBHOOKS = 64
"""Maximum concurrent requests to webhooks."""


class OutgoingServices:
    """The notificators, the geocoder and outgoing HTTP; nothing of it must be closed.

    Args:
        allow: private networks that URLs of users may lead to, in CIDR notation.
        own: the addresses of this server, which URLs of users may not lead to.
        geocoder: the geocoder; without one, or without its type, `geocoder` is None.
        version: version of the program, sent to webhooks.
        monotonic: the clock of the rate limits.
        shared: counts text messages of all servers of a cluster; None without a cluster.
        sections: the settings of notificators by name; defaults for those left out.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = (),
        own: OwnServer | None = None,
        geocoder: GeocoderSettings | None = None,
        version: str = "",
        monotonic: Callable[[], float] = trio.current_time,
        shared: SharedAttempts | None = None,
        **sections: object,
    ) -> None:
        self.http = OutgoingHttp(allow, own=own)
        # With slots of their own, since many receivers may be slow.
        network = Network(
            http=self.http,
            webhooks=self._webhooks(allow, own, version),
            monotonic=monotonic,
            shared=shared,
        )
        self.ticket_webhooks = self._webhooks(allow, own, version)
        self.geocoder = None
        if geocoder is not None and geocoder.type is not None:
            self.geocoder = Geocoder(self.http, geocoder, monotonic)
        self.notificators: dict[str, Notificator] = {
            each.name: each(sections.get(each.name, each.settings and each.settings()), network)
            for each in NOTIFICATORS
        }
        """By name, in the order in which they are listed."""
        self.mail = cast("Mail", self.notificators[Mail.name])
        self.sms = cast("Sms", self.notificators[Sms.name])

    @staticmethod
    def _webhooks(allow: tuple[str, ...], own: OwnServer | None, version: str) -> Webhooks:
        http = OutgoingHttp(allow, own=own, max_concurrent=MAX_WEBHOOKS)
        return Webhooks(http, f"motorpool/{version}" if version else "motorpool")
